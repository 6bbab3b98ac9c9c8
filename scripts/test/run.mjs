/** Runs a command, shows what it says as it says it, and keeps a copy. */
import { spawn } from 'node:child_process';

/**
 * Standard input is closed: nothing in a test run may wait for a person.
 * @param {string} program @param {readonly string[]} args @param {{ cwd: string, env?: Record<string, string> }} options
 * @returns {Promise<{ code: number, output: string }>} code 127 when it could not be started
 */
export function run(program, args, { cwd, env = {} }) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    /** @type {Buffer[]} */
    const chunks = [];
    /** @param {import('node:stream').Readable} from @param {NodeJS.WriteStream} to */
    const follow = (from, to) => {
      from.on('data', (chunk) => {
        chunks.push(chunk);
        to.write(chunk);
      });
    };
    follow(child.stdout, process.stdout);
    follow(child.stderr, process.stderr);
    child.on('error', (error) => resolve({ code: 127, output: `${program}: ${error.message}` }));
    child.on('close', (code) => resolve({ code: code ?? 1, output: Buffer.concat(chunks).toString() }));
  });
}
