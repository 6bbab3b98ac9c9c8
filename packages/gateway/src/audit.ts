/**
 * The audit log: a line for each thing that admins and moderators do, of a kind of its own (`kind: 'audit'`), beside the lines
 * about calls on behalf of a user and about reports. It has who, what, to whom and how it ended, and never content, titles
 * or tokens.
 */
import type { Message } from '@bufbuild/protobuf';
import { AUDITED, CONVERSATION_ID_CHARS_MAX, type ErrorCode, type MethodName } from '@qim/proto';
import type { CallContext, GatewayLog } from './contract.js';
import { qimErrorOf } from './error-map.js';

/** Told apart from all other lines by this. */
export const AUDIT = { kind: 'audit' } as const;

/** Names of whom or what a request is about. */
const ABOUT: readonly string[] = [
  ...['userId', 'deviceId', 'ownerUserId', 'memberIds', 'conversationId', 'conversationSeq', 'messageId'],
  ...['role', 'suspended', 'ttlSeconds'],
];
/** Members named in one line; past it their number tells. */
const MEMBERS_SHOWN = 20;

/** Runs the action; when the method is one of those, a line says how it ended. Rejects as the action does. */
export async function audited<Result>(
  log: GatewayLog,
  name: MethodName,
  { caller, requestId, actingAdmin }: CallContext,
  request: Message,
  action: () => Promise<Result>,
): Promise<Result> {
  if (!AUDITED.has(name)) return action();
  const note = (outcome: 'ok' | ErrorCode) => {
    const { tenantId: tenant, userId: by } = caller;
    const admin = actingAdmin === undefined ? {} : { admin: actingAdmin };
    log.info({ ...AUDIT, requestId, method: name, outcome, tenant, by, ...admin, about: aboutOf(request) }, 'an audited call');
  };
  try {
    const result = await action();
    note('ok');
    return result;
  } catch (error) {
    note(qimErrorOf(error).code);
    throw error;
  }
}

function aboutOf(request: Message): object {
  const fields = new Map<string, unknown>(Object.entries(request));
  return Object.fromEntries(
    ABOUT.flatMap((name) => {
      const value = shown(fields.get(name));
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** A request that is refused may hold texts of any length where ids belong. */
function shown(value: unknown): unknown {
  if (typeof value === 'string') return value === '' ? undefined : value.slice(0, CONVERSATION_ID_CHARS_MAX);
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (!Array.isArray(value)) return undefined;
  return value.length > MEMBERS_SHOWN ? value.length : value.map(shown);
}
