/** From the command line to one command's `run`, and from whatever it throws to one line and an exit code. */
import { createRequire } from 'node:module';
import { isQimError } from '@qim/proto';
import { flagOf, SETTINGS, type SettingName, StartError, variableOf } from '@qim/server';
import { ArchiveError } from '@qim/store/archive';
import { CommanderError, Command as Parser } from 'commander';
import { type CliIo, type Command, EXIT_DONE, EXIT_FAILED, EXIT_USAGE, UsageError } from './command.js';
import { backup } from './commands/backup.js';
import { doctor } from './commands/doctor.js';
import { explain } from './commands/explain.js';
import { exportCommand } from './commands/export.js';
import { fsck } from './commands/fsck.js';
import { importCommand } from './commands/import.js';
import { serve } from './commands/serve.js';
import { token } from './commands/token.js';
import { webhooks } from './commands/webhooks.js';

export const COMMANDS: readonly Command[] = [serve, token, doctor, explain, fsck, backup, exportCommand, importCommand, webhooks];

/** `argv` without the interpreter and the script. Never throws. */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  let code = EXIT_DONE;
  const parser = new Parser('qim')
    .description('qim: an instant-messaging backend with one canonical history per conversation')
    .version(version(), '--version', 'print the version')
    .helpOption('--help', 'print this help')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.out(text.trimEnd()), writeErr: (text) => io.err(text.trimEnd()) });
  for (const command of COMMANDS) {
    addCommand(parser, command, async (given) => {
      code = await command.run(split(command, given), io);
    });
  }
  try {
    await parser.parseAsync([...argv], { from: 'user' });
    return code;
  } catch (error) {
    return tell(error, io);
  }
}

function addCommand(parser: Parser, command: Command, run: (given: Record<string, string | true>) => Promise<void>): void {
  const sub = parser.command(command.name).description(command.summary);
  for (const name of command.settings) sub.option(...settingOption(name));
  for (const { name, value, doc } of command.options) sub.option(value === undefined ? `--${name}` : `--${name} <${value}>`, doc);
  sub.action(run);
}

function settingOption(name: SettingName): [flags: string, doc: string] {
  const { value, doc, fallback } = SETTINGS[name];
  const flags = value === undefined ? flagOf(name) : `${flagOf(name)} <${value}>`;
  return [flags, `${doc} [${variableOf(name)}${fallback === undefined ? '' : `, default: ${fallback}`}]`];
}

function split(command: Command, given: Readonly<Record<string, string | true>>) {
  const settings: Partial<Record<SettingName, string>> = {};
  for (const name of command.settings) {
    const value = given[name];
    if (value !== undefined) settings[name] = String(value);
  }
  const options: Record<string, string | true | undefined> = {};
  for (const { name } of command.options) options[name] = given[parsedName(name)];
  return { settings, options };
}

/** commander's name for `dry-run` is `dryRun`. */
function parsedName(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function tell(error: unknown, io: CliIo): number {
  // commander has written its own line already; its exit code is 0 after --help and --version.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_DONE : EXIT_USAGE;
  if (error instanceof UsageError) return usage(error.message, io);
  if (error instanceof StartError) {
    if (error.code === 'BadConfiguration') return usage(error.message, io);
    io.err(`qim: ${error.message}`);
    return EXIT_FAILED;
  }
  if (error instanceof ArchiveError) {
    io.err(`qim: ${error.message}`);
    return EXIT_FAILED;
  }
  if (isQimError(error)) {
    // Ids and sequences of the command line are parsed by proto's own functions.
    if (error.code === 'InvalidArgument') return usage(`--${error.message}`, io);
    io.err(`qim: ${error.message}`);
    return EXIT_FAILED;
  }
  io.err(`qim: unexpected: ${error instanceof Error ? error.stack : String(error)}`);
  return EXIT_FAILED;
}

function usage(message: string, io: CliIo): number {
  io.err(`qim: ${message}`);
  return EXIT_USAGE;
}

function version(): string {
  const manifest = createRequire(import.meta.url)('../package.json') as { version: string };
  return manifest.version;
}
