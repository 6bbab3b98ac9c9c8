/**
 * The transcript in README.md: a fenced block after `<!-- transcript -->`, commands after `$ `, what they print below.
 * `npx tsx tools/readme/transcript.ts URL` runs it against a server that has no data yet, and prints it anew.
 */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const BLOCK = /<!-- transcript -->\n```console\n([\s\S]*?)```/;
/** The one line that may be run otherwise than it is printed. */
const PLACE = /^QIM=http:\/\/127\.0\.0\.1:7700$/;

/** @throws when the document has none */
export function transcriptOf(markdown: string): string {
  const [, block] = BLOCK.exec(markdown) ?? [];
  if (block === undefined) throw new Error('there is no transcript');
  return block;
}

export function commandsOf(transcript: string): string[] {
  return transcript
    .split('\n')
    .filter((line) => line.startsWith('$ '))
    .map((line) => line.slice(2));
}

/** Runs the commands in one shell and returns the transcript as this run prints it. */
export async function asPrinted(commands: readonly string[], url: string): Promise<string> {
  // A quoted here-document prints the command as it is, whatever it holds.
  const script = commands.map((line) => `cat <<'_END_'\n$ ${line}\n_END_\n${PLACE.test(line) ? `QIM=${url}` : line}\n`).join('');
  const shell = spawn('bash', ['-s'], { stdio: ['pipe', 'pipe', 'inherit'] });
  shell.stdin.end(script);
  return text(shell.stdout);
}

/** Without what differs from run to run: UUIDs, and times in milliseconds. */
export function normalised(transcript: string): string {
  return transcript.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>').replace(/"1\d{12}"/g, '"<time>"');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  process.stdout.write(await asPrinted(commandsOf(transcriptOf(readme)), process.argv[2] ?? ''));
}
