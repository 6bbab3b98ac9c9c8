/** Profiles, typing, blocking and reporting. Made again after a failure that may pass, but for a report, which would come twice. */
import { profileFrom } from '../from-wire.js';
import type { ProfileInput, ReportInput } from '../inputs.js';
import type { BlockedPage, Profile } from '../types.js';
import { type ServiceCalls, serviceOver } from '../wire/service.js';
import { again, type CallContext, calling, wireRef } from './wire-calls.js';

export class PeopleApi {
  readonly #context: CallContext;
  readonly #profiles: ServiceCalls<'ProfileService'>;
  readonly #events: ServiceCalls<'EventService'>;
  readonly #moderation: ServiceCalls<'ModerationService'>;

  constructor(context: CallContext) {
    this.#context = context;
    this.#profiles = serviceOver('ProfileService', context.caller);
    this.#events = serviceOver('EventService', context.caller);
    this.#moderation = serviceOver('ModerationService', context.caller);
  }

  setProfile(input: ProfileInput): Promise<Profile> {
    return again(this.#context, async (timeoutMs) => {
      const answer = await this.#profiles.setProfile({ displayName: input.displayName, avatarUrl: input.avatarUrl ?? '' }, { timeoutMs });
      return profileFrom(answer.profile);
    });
  }

  getProfiles(userIds: readonly string[]): Promise<readonly Profile[]> {
    return again(this.#context, async (timeoutMs) => {
      const answer = await this.#profiles.getProfiles({ userIds: [...userIds] }, { timeoutMs });
      return answer.profiles.map(profileFrom);
    });
  }

  /** One try: a moment later it is of no more use. */
  async setTyping(conversationId: string, on: boolean): Promise<void> {
    await calling(() => this.#events.setTyping({ conversationId, on }));
  }

  async blockUser(userId: string): Promise<void> {
    await again(this.#context, (timeoutMs) => this.#moderation.blockUser({ userId }, { timeoutMs }));
  }

  async unblockUser(userId: string): Promise<void> {
    await again(this.#context, (timeoutMs) => this.#moderation.unblockUser({ userId }, { timeoutMs }));
  }

  listBlocked(pageToken: string): Promise<BlockedPage> {
    return again(this.#context, async (timeoutMs) => {
      const { userIds, nextPageToken } = await this.#moderation.listBlocked({ pageToken }, { timeoutMs });
      return { userIds, nextPageToken };
    });
  }

  async reportMessage({ comment, ...ref }: ReportInput): Promise<void> {
    await calling(() => this.#moderation.reportMessage({ ...wireRef(ref), comment: comment ?? '' }));
  }
}
