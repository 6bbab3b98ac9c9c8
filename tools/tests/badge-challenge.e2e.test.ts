import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('npm run badge-challenge prints who is wrong where, and ends with 0', async () => {
  const { code, out } = await new Promise<{ code: number | null; out: string }>((resolve) => {
    const args = ['--conditions=@qim/source', '--import', 'tsx', 'tools/badge-challenge.ts'];
    const child = execFile(process.execPath, args, { cwd: ROOT }, (_, stdout) => resolve({ code: child.exitCode, out: stdout }));
  });
  expect(out).toMatch(/\nwrong +0 of 26 /);
  expect(out).toMatch(/a crash between message and counter +3 +3 .*✗/);
  expect(code).toBe(0);
});
