/**
 * Where a rule does not hold, and why. The list may only shrink: an entry that nothing needs any more is itself a finding.
 * `times` is the number of findings that the entry covers, so that a file with one exception cannot quietly get a second.
 */
export interface Exception {
  readonly rule: string;
  readonly path: string;
  readonly times: number;
  readonly why: string;
}

export const EXCEPTIONS: readonly Exception[] = [
  {
    rule: 'clock',
    path: 'packages/server/src/clock.ts',
    times: 3,
    why: 'the adapter: what the composition root hands on',
  },
  {
    rule: 'clock',
    path: 'packages/store/src/clock.ts',
    times: 3,
    why: 'the adapter: what the stores use when they are told no other',
  },
  { rule: 'clock', path: 'packages/client/src/environment.ts', times: 3, why: 'the adapter: what the SDK uses when it is told no other' },
  { rule: 'clock', path: 'packages/gateway/src/clock.ts', times: 2, why: 'the adapter: what the gateway uses when it is told no other' },
  {
    rule: 'clock',
    path: 'packages/web/src/shared/clock.ts',
    times: 3,
    why: 'the adapter: times of day, and pauses that only looks depend on',
  },
  {
    rule: 'sleep-in-test',
    path: 'packages/gateway/tests/support/server.ts',
    times: 1,
    why: 'the sleep that the delivery side is given; no test waits for it',
  },
];
