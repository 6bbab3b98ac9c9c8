/** `qim webhooks`: what the webhook is still to be told, and what was given up on (docs/webhooks.md). */
import { OUTBOX_POISON_READ_MAX } from '@qim/proto';
import { readSettings, STORE_SETTINGS } from '@qim/server';
import type { PoisonEntry } from '@qim/store';
import { type Arguments, type Command, EXIT_DONE, numberOf, UsageError } from '../command.js';

const LIMIT_DEFAULT = 100;

export const webhooks: Command = {
  name: 'webhooks',
  summary: 'say what waits for the webhook, and list its dead letters',
  settings: STORE_SETTINGS,
  options: [
    { name: 'dead', value: undefined, doc: 'list the dead letters: the newest of each partition first, ids alone' },
    { name: 'limit', value: 'N', doc: `with --dead: at most so many, 1..${OUTBOX_POISON_READ_MAX} (default: ${LIMIT_DEFAULT})` },
    { name: 'json', value: undefined, doc: 'one JSON object a line in place of sentences' },
  ],

  async run(args, io) {
    const limit = limitOf(args);
    const json = args.options.json === true;
    const place = readSettings(STORE_SETTINGS, { flags: args.settings, environment: io.environment });
    const store = await io.openStore(place, { as: 'beside', now: io.now });
    try {
      const backlog = await store.hooks.backlog();
      io.out(json ? JSON.stringify({ backlog }) : summaryOf(backlog));
      const letters = args.options.dead === true ? await store.hooks.dead(limit) : [];
      for (const letter of letters) io.out(json ? JSON.stringify({ dead: letter }) : lineOf(letter));
      return EXIT_DONE;
    } finally {
      await store.close();
    }
  },
};

/** @throws UsageError */
function limitOf(args: Arguments): number {
  const limit = numberOf(args, 'limit', OUTBOX_POISON_READ_MAX);
  if (limit !== undefined && args.options.dead !== true) throw new UsageError('--limit goes with --dead');
  return limit ?? LIMIT_DEFAULT;
}

function summaryOf({ waiting, oldestMs, dead }: { readonly waiting: number; readonly oldestMs: number; readonly dead: number }): string {
  const oldest = waiting === 0 ? 'nothing waits' : `${waiting} wait, the oldest for ${Math.round(oldestMs / 1_000)} s`;
  return `${oldest}; ${dead === 0 ? 'no dead letters' : `${dead} dead ${dead === 1 ? 'letter' : 'letters'}`}`;
}

function lineOf({ reason, setAsideAtMs, about, partition, entryId }: PoisonEntry): string {
  const when = setAsideAtMs === 0 ? 'at an unknown time' : new Date(setAsideAtMs).toISOString();
  const what =
    about === undefined
      ? `entry ${entryId} of partition ${partition}`
      : `tenant ${about.tenantId}, conversation ${about.conversationId}, sequence ${about.conversationSeq} (${about.kind})`;
  return `${when}  ${reason}  ${what}`;
}
