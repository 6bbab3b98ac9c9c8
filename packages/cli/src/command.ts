/**
 * A command is a value: arguments in, lines out through `io`, an exit code back. So a test needs no process.
 *
 * Exit codes: 0 done; 1 it could not be done; 2 it was called wrongly.
 */
import { type Environment, integer, type ServerIo, type SettingName } from '@qim/server';

/** A flag of one command alone. Flags of settings come from the server's table. */
export interface Option {
  /** Without the dashes, in lower case. */
  readonly name: string;
  /** What it takes, as shown in help; undefined: a switch. */
  readonly value: string | undefined;
  readonly doc: string;
}

export interface Arguments {
  readonly settings: Readonly<Partial<Record<SettingName, string>>>;
  /** By name; a switch that was given is `true`. */
  readonly options: Readonly<Record<string, string | true | undefined>>;
}

export interface CliIo extends ServerIo {
  readonly environment: Environment;
  /** Draws one line over the one before, '' to take it away; undefined: standard error is no terminal. */
  readonly draw: ((line: string) => void) | undefined;
  /** Calls back at each SIGTERM and SIGINT until the returned function is called. */
  onStopSignal(listener: () => void): () => void;
}

export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly settings: readonly SettingName[];
  readonly options: readonly Option[];
  /** @throws UsageError, StartError, QimError: told in one line by `runCli` */
  run(args: Arguments, io: CliIo): Promise<number>;
}

export const EXIT_DONE = 0;
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

/** The command was called wrongly; the message says how to call it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** @throws UsageError when the flag is absent */
export function required(args: Arguments, name: string): string {
  const value = optional(args, name);
  if (value === undefined) throw new UsageError(`--${name} is required`);
  return value;
}

export function optional(args: Arguments, name: string): string | undefined {
  const value = args.options[name];
  return value === true ? undefined : value;
}

/** 1..max; undefined: the flag is absent. @throws UsageError */
export function numberOf(args: Arguments, name: string, max: number): number | undefined {
  const text = optional(args, name);
  if (text === undefined) return undefined;
  const { parse, allowed } = integer(1, max);
  const value = parse(text);
  if (value === undefined) throw new UsageError(`--${name} must be ${allowed}`);
  return value;
}

const BAR_WIDTH = 24;

/** What `draw` shows of 0..1. */
export function bar(done: number): string {
  const full = Math.round(Math.min(1, done) * BAR_WIDTH);
  return `[${'#'.repeat(full)}${'.'.repeat(BAR_WIDTH - full)}]`;
}
