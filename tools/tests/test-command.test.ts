/** What `npm test` decides before and after it runs anything. */
import { describe, expect, test } from 'vitest';
import { NEEDED, planInstall } from '../../scripts/test/system.mjs';
import { fromAcceptance, fromCheck, fromVitest, total } from '../../scripts/test/tally.mjs';

const machine = (over: Partial<Parameters<typeof planInstall>[0]> = {}, present: readonly string[] = ['apt-get', 'git', 'curl']) =>
  planInstall({ needed: NEEDED, has: (program) => present.includes(program), isRoot: true, allowed: true, ...over });

describe('what npm test installs', () => {
  test('nothing, when all is there', () => {
    expect(machine({}, ['redis-server', 'chromium', 'git', 'curl', 'python3'])).toEqual({ kind: 'nothing' });
  });

  test('on Debian as root, what is missing and no more', () => {
    const plan = machine({}, ['apt-get', 'git', 'curl', 'python3', 'chromium']);
    expect(plan).toMatchObject({
      kind: 'install',
      commands: [
        ['apt-get', 'update'],
        ['apt-get', 'install', '-y', '--no-install-recommends', 'redis-server'],
      ],
    });
  });

  test.each([
    ['installing is forbidden', machine({ allowed: false }), 'QIM_TEST_INSTALL=0'],
    ['there is no apt-get', machine({}, ['git', 'curl']), 'no apt-get'],
    ['the user is not root', machine({ isRoot: false }), 'root'],
  ])('when %s, it refuses, says why and names the command', (_, plan, reason) => {
    expect(plan).toMatchObject({ kind: 'refuse', reason: expect.stringContaining(reason) });
    expect(plan).toMatchObject({
      command: expect.stringContaining('apt-get install -y --no-install-recommends redis-server chromium fonts-liberation'),
    });
  });
});

const report = (over: object = {}) =>
  JSON.stringify({ numPassedTests: 5, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [], ...over });

describe('the closing line', () => {
  test('adds the parts up', () => {
    expect(total([fromCheck('{"passed":11,"failed":1}', 1), fromVitest(report(), 0)])).toEqual({ passed: 16, failed: 1 });
  });

  test('a test that was left out counts as failed', () => {
    expect(fromVitest(report({ numPendingTests: 2 }), 0)).toMatchObject({ passed: 5, failed: 2 });
  });

  test('a test file that does not load counts as failed', () => {
    expect(fromVitest(report({ testResults: [{ status: 'failed', assertionResults: [] }] }), 1)).toMatchObject({ failed: 1 });
  });

  test('an error outside of any test counts as failed', () => {
    expect(fromVitest(report(), 1)).toMatchObject({ passed: 5, failed: 1 });
  });

  test('a part without a report, or with an empty one, counts as failed', () => {
    expect(fromVitest(undefined, 0).failed).toBe(1);
    expect(fromVitest(report({ numPassedTests: 0 }), 0).failed).toBe(1);
    expect(fromCheck('{', 0).failed).toBe(1);
    expect(fromAcceptance('', 0).failed).toBe(1);
  });

  test('acceptance items that wait for what is not built are told, and count as neither', () => {
    const count = fromAcceptance('x\nacceptance: 26 hold, 1 fail, 19 wait for what is not built yet\n', 1);
    expect(count).toMatchObject({ passed: 26, failed: 1, note: expect.stringContaining('19 items wait') });
  });

  test('nothing at all is a failure', () => {
    expect(total([])).toMatchObject({ passed: 0, failed: 1 });
  });
});
