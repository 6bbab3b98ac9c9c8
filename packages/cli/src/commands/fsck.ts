/** `qim fsck`: verifies a whole store, and mends it (docs/fsck.md). */
import { FSCK_RATE_MAX, isQimError, LEGACY_TENANT_ID, parseConversationId, parseUserId, type TenantId } from '@qim/proto';
import { type OpenMaintenance, openMaintenance, readSettings, STORE_SETTINGS, StartError, type StorePlace } from '@qim/server';
import { beginNewEpochs, type VerifyOptions, verifyStore } from '@qim/store/verify';
import {
  type Arguments,
  type CliIo,
  type Command,
  EXIT_DONE,
  EXIT_FAILED,
  EXIT_USAGE,
  numberOf,
  optional,
  UsageError,
} from '../command.js';
import { listQuarantine } from './fsck-quarantine.js';
import { FsckReport } from './fsck-report.js';
import { tenantOf } from './token.js';

/** It could not run, or did not come to its end: nothing is said of the store. */
const EXIT_NOT_RUN = EXIT_USAGE;

export const fsck: Command = {
  name: 'fsck',
  summary: 'verify a store, beside a running server or without one, and mend it',
  settings: STORE_SETTINGS,
  options: [
    { name: 'repair', value: undefined, doc: 'mend what is found; the embedded store must not be served meanwhile' },
    { name: 'dry-run', value: undefined, doc: 'with --repair: say what would be done, and write nothing' },
    { name: 'newer-is-damage', value: undefined, doc: 'with --repair: put aside what only a newer qim could read' },
    { name: 'conversation', value: 'ID', doc: 'only this conversation' },
    { name: 'user', value: 'ID', doc: 'only what this user sees' },
    { name: 'tenant', value: 'N', doc: 'only this tenant (default: all; with --conversation or --user 0, the legacy tenant)' },
    { name: 'rate', value: 'N', doc: 'at most so many records a second (default: as fast as it goes)' },
    { name: 'json', value: undefined, doc: 'one JSON object a line in place of sentences' },
    {
      name: 'new-epoch',
      value: undefined,
      doc: 'after a restore: devices begin anew; verifies nothing, and the embedded store must not be served meanwhile',
    },
    { name: 'quarantine', value: undefined, doc: 'list what earlier repairs put aside, and verify nothing' },
  ],

  async run(args, io) {
    const place = readSettings(STORE_SETTINGS, { flags: args.settings, environment: io.environment });
    const asked = askedFor(args);
    if (args.options.quarantine === true && asked.repair !== 'no') throw new UsageError('--quarantine does not go with --repair');
    if (args.options['new-epoch'] === true) checkAlone(args);
    try {
      return await onStore(place, asked, args, io);
    } catch (error) {
      if (!(error instanceof StartError) && !isQimError(error)) throw error;
      io.err(`qim: ${error.message}`);
      return EXIT_NOT_RUN;
    }
  },
};

type Asked = Pick<VerifyOptions, 'tenantId' | 'conversationId' | 'userId' | 'repair' | 'newerIsDamage' | 'rate'>;

/** @throws UsageError | InvalidArgument */
function askedFor(args: Arguments): Asked {
  const given = (name: string): boolean => args.options[name] === true;
  for (const name of ['dry-run', 'newer-is-damage']) {
    if (given(name) && !given('repair')) throw new UsageError(`--${name} goes with --repair`);
  }
  const conversation = optional(args, 'conversation');
  const user = optional(args, 'user');
  const one = conversation !== undefined || user !== undefined;
  return {
    tenantId: tenantAsked(args, one),
    conversationId: conversation === undefined ? undefined : parseConversationId(conversation, 'conversation'),
    userId: user === undefined ? undefined : parseUserId(user, 'user'),
    repair: given('repair') ? (given('dry-run') ? 'dry' : 'yes') : 'no',
    newerIsDamage: given('newer-is-damage'),
    rate: numberOf(args, 'rate', FSCK_RATE_MAX),
  };
}

function tenantAsked(args: Arguments, one: boolean): TenantId | undefined {
  if (optional(args, 'tenant') !== undefined) return tenantOf(args);
  return one ? LEGACY_TENANT_ID : undefined;
}

async function onStore(place: StorePlace, asked: Asked, args: Arguments, io: CliIo): Promise<number> {
  const renews = args.options['new-epoch'] === true;
  const maintenance = await openMaintenance(place, io.openStore, renews || asked.repair === 'yes');
  try {
    const json = args.options.json === true;
    if (renews) return await renewed(maintenance, io);
    return args.options.quarantine === true
      ? await listQuarantine(maintenance.scanner, asked, json, io.out)
      : await verified(maintenance, asked, json, io);
  } finally {
    await maintenance.close();
  }
}

/** @throws UsageError: it is for the whole store, and does nothing else */
function checkAlone({ options }: Arguments): void {
  const [other] = Object.keys(options).filter((name) => name !== 'new-epoch' && options[name] !== undefined);
  if (other !== undefined) throw new UsageError(`--new-epoch does not go with --${other}`);
}

async function renewed({ scanner, mender }: OpenMaintenance, io: CliIo): Promise<number> {
  const { of, begun, left } = await beginNewEpochs(scanner, mender, io.now);
  const when = of === 'conversations' ? '' : '; each of their conversations does so with its next write';
  io.out(`${begun} ${of} begin a new epoch${when}`);
  if (left > 0) io.out(`${left} conversations were left: their facts cannot be read (qim fsck --repair)`);
  return left === 0 ? EXIT_DONE : EXIT_FAILED;
}

async function verified(maintenance: OpenMaintenance, asked: Asked, json: boolean, io: CliIo): Promise<number> {
  const stop = new AbortController();
  const end = io.onStopSignal(() => stop.abort());
  const report = new FsckReport({ json, repair: asked.repair, io });
  report.begin(maintenance.description);
  try {
    const clock = { now: io.now, monotonicNow: io.monotonicNow, sleep: io.sleep };
    const { counts, finished } = await verifyStore(maintenance, { ...asked, signal: stop.signal, clock, report });
    report.end(counts, finished);
    if (!finished) return EXIT_NOT_RUN;
    return counts.left === 0 ? EXIT_DONE : EXIT_FAILED;
  } finally {
    report.close();
    end();
  }
}
