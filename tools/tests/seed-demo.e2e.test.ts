import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('npm run seed-demo shows the three answers side by side, then the damage, and ends with 0', async () => {
  const { code, out } = await new Promise<{ code: number | null; out: string }>((resolve) => {
    const args = ['--conditions=@qim/source', '--import', 'tsx', 'scripts/seed-demo.ts'];
    const child = execFile(process.execPath, args, { cwd: ROOT }, (_, stdout) => resolve({ code: child.exitCode, out: stdout }));
  });
  expect(out).toMatch(/the old rule, over hist: +0 +0 /);
  expect(out).toMatch(/latest - read +47 +45 /);
  expect(out).toMatch(/qim, from the records +47 +2 +right, and exact/);
  expect(out).toMatch(/CORRUPT_RECORD: recordUnreadable at 47/);
  expect(code).toBe(0);
});
