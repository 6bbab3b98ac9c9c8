/** `qim doctor`: whether the store is well, beside running servers or without one; nothing is written. */
import { DOCTOR_POISON_SHOWN, DOCTOR_WINDOW_MS, DOCTOR_WINDOW_MS_MAX, isQimError } from '@qim/proto';
import { duration, durationText, openHealth, readSettings, STORE_SETTINGS, StartError, type StorePlace } from '@qim/server';
import type { PoisonEntry } from '@qim/store';
import { type Arguments, type CliIo, type Command, EXIT_DONE, EXIT_FAILED, optional, UsageError } from '../command.js';
import { diagnose, type Finding, type Level, type Looks, unreachable } from '../doctor/diagnosis.js';

const MARK: Readonly<Record<Level, string>> = { ok: 'ok', unknown: '?', warning: 'warning', wrong: 'WRONG' };
const MARK_WIDTH = 8;
const CHECK_WIDTH = 18;

export const doctor: Command = {
  name: 'doctor',
  summary: 'say how the store is, and what to do about it; 0: nothing to do',
  settings: STORE_SETTINGS,
  options: [
    {
      name: 'over',
      value: 'TIME',
      doc: `time between two looks, for the growth (default: ${durationText(DOCTOR_WINDOW_MS)}; 0s: one look)`,
    },
    { name: 'json', value: undefined, doc: 'one JSON object a line in place of sentences' },
  ],

  async run(args, io) {
    const place = readSettings(STORE_SETTINGS, { flags: args.settings, environment: io.environment });
    const overMs = overOf(args);
    const { findings, poison } = await examined(place, overMs, io);
    const json = args.options.json === true;
    for (const finding of findings) io.out(json ? JSON.stringify(finding) : sentence(finding));
    for (const entry of poison) io.out(json ? JSON.stringify({ setAside: entry }) : poisonSentence(entry));
    return findings.some(({ level }) => level === 'warning' || level === 'wrong') ? EXIT_FAILED : EXIT_DONE;
  },
};

/** @throws UsageError */
function overOf(args: Arguments): number {
  const text = optional(args, 'over');
  if (text === undefined) return DOCTOR_WINDOW_MS;
  const { parse, allowed } = duration(0, DOCTOR_WINDOW_MS_MAX);
  const value = parse(text);
  if (value === undefined) throw new UsageError(`--over must be ${allowed}`);
  return value;
}

interface Examined {
  readonly findings: readonly Finding[];
  readonly poison: readonly PoisonEntry[];
}

async function examined(place: StorePlace, overMs: number, io: CliIo): Promise<Examined> {
  try {
    const looks = await twoLooks(place, overMs, io);
    return { findings: diagnose(looks), poison: await setAside(place, looks, io) };
  } catch (error) {
    // What the flags or files say is wrong is told as by any other command.
    if (error instanceof StartError && error.code !== 'StoreUnusable') throw error;
    if (!(error instanceof StartError) && !(isQimError(error) && error.code === 'StoreUnavailable')) throw error;
    return { findings: [unreachable(error.message)], poison: [] };
  }
}

async function twoLooks(place: StorePlace, overMs: number, io: CliIo): Promise<Looks> {
  const reader = await openHealth(place, io.now);
  try {
    const startedAt = io.monotonicNow();
    const first = await reader.look();
    if (overMs === 0) return { first, second: first, overMs };
    await io.sleep(overMs, new AbortController().signal);
    const second = await reader.look();
    return { first, second, overMs: io.monotonicNow() - startedAt };
  } finally {
    await reader.close();
  }
}

/** What lies aside, and why. A store that cannot be opened has been judged already. */
async function setAside(place: StorePlace, { second }: Looks, io: CliIo): Promise<readonly PoisonEntry[]> {
  if ((second.deployment?.outbox.poison ?? 0) === 0) return [];
  try {
    const store = await io.openStore(place, { as: 'beside', now: io.now });
    try {
      return await store.outbox.poison(DOCTOR_POISON_SHOWN);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof StartError || isQimError(error)) return [];
    throw error;
  }
}

function sentence({ check, node, level, found, todo }: Finding): string {
  const line = `${MARK[level].padEnd(MARK_WIDTH)}${check.padEnd(CHECK_WIDTH)}${node === '' ? '' : `${node}: `}${found}`;
  return todo === '' ? line : `${line}\n${' '.repeat(MARK_WIDTH + CHECK_WIDTH)}-> ${todo}`;
}

function poisonSentence({ partition, entryId, reason, about }: PoisonEntry): string {
  const what = about === undefined ? 'of what cannot be understood' : `${about.conversationId} at ${about.conversationSeq}`;
  return `${' '.repeat(MARK_WIDTH)}set aside: ${what} (partition ${partition}, entry ${entryId}): ${reason}`;
}
