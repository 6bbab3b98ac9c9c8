/** Names and pictures of users, for everybody of their tenant. Who set none has an empty one. */
import {
  AVATAR_URL_BYTES_MAX,
  type Caller,
  DISPLAY_NAME_BYTES_MAX,
  invalidArgument,
  isLine,
  PROFILES_PER_CALL_MAX,
  payloadTooLarge,
  type UserId,
  utf8Bytes,
} from '@qim/proto';
import type { SessionContext } from './context.js';
import type { Profile, ProfileInput } from './contract.js';

/** Replaces both fields; empty: none. Cost: 1. @throws InvalidArgument | PayloadTooLarge (displayName, avatarUrl) */
export async function setProfile(context: SessionContext, { tenantId, userId }: Caller, input: ProfileInput): Promise<Profile> {
  const { displayName, avatarUrl } = input;
  admitLine('displayName', displayName, DISPLAY_NAME_BYTES_MAX);
  admitLine('avatarUrl', avatarUrl, AVATAR_URL_BYTES_MAX);
  if (avatarUrl !== '' && !isWebAddress(avatarUrl)) throw invalidArgument('avatarUrl', 'an http or https URL, or empty');
  await context.users.setProfile(tenantId, userId, { displayName, avatarUrl });
  return { userId, displayName, avatarUrl };
}

/** One for each id, in their order. Cost: 1. @throws InvalidArgument (userIds) */
export async function getProfiles(context: SessionContext, { tenantId }: Caller, userIds: readonly UserId[]): Promise<readonly Profile[]> {
  if (userIds.length > PROFILES_PER_CALL_MAX) throw invalidArgument('userIds', `at most ${PROFILES_PER_CALL_MAX} ids`);
  const profiles = await context.users.profiles(tenantId, userIds);
  return userIds.map((userId, i) => ({ userId, displayName: '', avatarUrl: '', ...profiles[i] }));
}

function admitLine(field: string, text: string, bytesMax: number): void {
  // No character takes less than a byte.
  if (text.length > bytesMax || utf8Bytes(text) > bytesMax) throw payloadTooLarge(field, bytesMax);
  if (!isLine(text)) throw invalidArgument(field, `at most ${bytesMax} bytes of UTF-8 without control characters`);
}

/** Pages show it as an image: nothing but the web, and nothing that ends an attribute of HTML. */
function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^\s"'<>`\\]+$/i.test(text) && URL.canParse(text);
}
