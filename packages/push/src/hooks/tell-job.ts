/**
 * Tells the webhook of one entry: the message as it is now, then who is to be notified of it. What was taken of it is
 * kept in `progress`, so that a second try goes on where the first one ended.
 */
import { type Message, OFFLINE_PUSH_RECIPIENTS_MAX, type UserId } from '@qim/proto';
import type { HookJob } from '@qim/store';
import type { PushDeps } from '../ports.js';
import type { HookAnswer, HookEvent, HookObserver, Hooks } from './ports.js';
import { type RecipientDeps, whoIsAway, withBadges } from './recipients.js';
import type { Pushing } from './web-pushes.js';

export interface TellDeps extends RecipientDeps, Pick<PushDeps, 'tracing'> {
  readonly hooks: Hooks;
  readonly observer?: HookObserver | undefined;
}

export interface Progress {
  told: boolean;
  readonly notified: Set<UserId>;
  /** All that the webhook is to be told was taken. */
  taken: boolean;
  /** Undefined: not begun. */
  pushing: Pushing | undefined;
  /** Tries that were refused, or met damage. */
  refusals: number;
}

const TAKEN = { outcome: 'taken' } as const;

/** Taken also when there is nothing to tell: retention removed the record. @throws StoreUnavailable | CorruptRecord | UnsupportedVersion */
export async function tellJob(deps: TellDeps, job: HookJob, progress: Progress, signal: AbortSignal): Promise<HookAnswer> {
  const { hooks } = deps;
  // The queue is for Web Push alone.
  if (hooks.kinds.size === 0) return TAKEN;
  const [message] = await deps.messages.readMessages(job.tenantId, job.conversationId, [job.conversationSeq]);
  if (message === undefined) return TAKEN;
  if (hooks.kinds.has('afterSend') && !progress.told) {
    const amended = job.kind === 'amended';
    const answer = await tell(deps, { kind: 'afterSend', id: stateId(amended, message), amended, message }, signal);
    if (answer.outcome !== 'taken') return answer;
    progress.told = true;
  }
  return hooks.kinds.has('offlinePush') && job.kind !== 'amended' ? notify(deps, message, progress, signal) : TAKEN;
}

async function notify(deps: TellDeps, message: Message, progress: Progress, signal: AbortSignal): Promise<HookAnswer> {
  const away = await whoIsAway(deps, message, progress.notified, signal);
  for (let from = 0; from < away.length; from += OFFLINE_PUSH_RECIPIENTS_MAX) {
    const some = away.slice(from, from + OFFLINE_PUSH_RECIPIENTS_MAX);
    const recipients = await withBadges(deps, message, some);
    if (recipients.length > 0) {
      const id = `offlinePush:${message.record.messageId}:${recipients[0]?.userId ?? ''}`;
      const answer = await tell(deps, { kind: 'offlinePush', id, message, recipients }, signal);
      if (answer.outcome !== 'taken') return answer;
    }
    for (const userId of some) progress.notified.add(userId);
  }
  return TAKEN;
}

async function tell({ hooks, observer, tracing }: TellDeps, event: HookEvent, signal: AbortSignal): Promise<HookAnswer> {
  const call = () => hooks.tell(event, signal);
  const answer = await (tracing?.following([event.message.record], 'push.tell', { 'qim.event': event.kind }, call) ?? call());
  observer?.hookTold?.(event.kind, answer.outcome);
  return answer;
}

/** Of the message as it stands: two entries that find it in one state tell one thing. */
function stateId(amended: boolean, { record, reactions }: Message): string {
  return `${amended ? 'amended' : 'sent'}:${record.activityId}:${reactions?.revision ?? 0}`;
}
