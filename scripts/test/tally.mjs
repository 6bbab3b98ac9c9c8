/**
 * Counts from what each part of the run wrote. A part that ended badly without saying what failed counts as one failure;
 * a test that was left out counts as failed, because the run must not look whole; a run of nothing is a failure.
 *
 * @typedef {{ passed: number, failed: number, note?: string }} Count
 * @typedef {{ numPassedTests: number, numFailedTests: number, numPendingTests: number, numTodoTests: number,
 *   testResults: { status: string, assertionResults: unknown[] }[] }} Report vitest's, as far as it is read here
 */

/** A command without counts of its own: one item. @param {number} code @returns {Count} */
export function fromExitCode(code) {
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/** @param {string | undefined} text what `npm run check` wrote @param {number} code @returns {Count} */
export function fromCheck(text, code) {
  const counts = parse(text);
  if (counts === undefined) return { passed: 0, failed: 1, note: 'the check ended without counts' };
  return atLeastOneFailure({ passed: counts.passed, failed: counts.failed }, code);
}

/** @param {string | undefined} text vitest's JSON report @param {number} code @returns {Count} */
export function fromVitest(text, code) {
  /** @type {Report | undefined} */
  const report = parse(text);
  if (report === undefined) return { passed: 0, failed: 1, note: 'vitest ended without a report' };
  const leftOut = report.numPendingTests + report.numTodoTests;
  // A file that cannot be loaded has no tests to count.
  const unloaded = report.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length;
  /** @type {Count} */
  const count = { passed: report.numPassedTests, failed: report.numFailedTests + leftOut + unloaded };
  if (leftOut > 0) count.note = `${leftOut} tests were left out: that counts as failed`;
  return atLeastOneFailure(count, code);
}

const ACCEPTANCE = /^acceptance: (\d+) hold, (\d+) fail, (\d+) wait/m;

/** Items that wait for what is not built yet are named, and neither passed nor failed. @param {string} output @param {number} code @returns {Count} */
export function fromAcceptance(output, code) {
  const [, hold, fail, wait] = ACCEPTANCE.exec(output) ?? [];
  if (hold === undefined) return { passed: 0, failed: 1, note: 'the acceptance ended without counts' };
  /** @type {Count} */
  const count = { passed: Number(hold), failed: Number(fail) };
  if (Number(wait) > 0) count.note = `${wait} items wait for what is not built yet; each line above says for what`;
  return atLeastOneFailure(count, code);
}

/** @param {readonly Count[]} counts @returns {Count} */
export function total(counts) {
  const sum = counts.reduce((a, b) => ({ passed: a.passed + b.passed, failed: a.failed + b.failed }), { passed: 0, failed: 0 });
  return sum.passed + sum.failed === 0 ? { passed: 0, failed: 1, note: 'nothing ran' } : sum;
}

/** @param {Count} count @param {number} code @returns {Count} */
function atLeastOneFailure(count, code) {
  if (count.passed + count.failed === 0) return { ...count, failed: 1, note: 'nothing ran' };
  if (code === 0 || count.failed > 0) return count;
  return { ...count, failed: 1, note: `ended with code ${code} although nothing in its report failed` };
}

/** @param {string | undefined} text */
function parse(text) {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
