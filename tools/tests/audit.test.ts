/** What the check makes of the answers of `npm audit`. */
import { expect, test } from 'vitest';
import { auditVerdict } from '../check/audit.js';

const answer = (report: object | string) => {
  const stdout = typeof report === 'string' ? report : JSON.stringify(report);
  return auditVerdict({ stdout, output: stdout });
};

test('a report without a weakness is clean', () => {
  expect(answer({ auditReportVersion: 2, vulnerabilities: {}, metadata: {} })).toEqual({ kind: 'clean' });
});

test('each weakness is a problem with its name, whatever its severity', () => {
  const vulnerabilities = { ws: { severity: 'high', range: '<8.0.0' }, other: { severity: 'low', range: '*' } };
  expect(answer({ vulnerabilities })).toEqual({
    kind: 'weak',
    problems: ['ws <8.0.0: high; see npm audit --omit=dev', 'other *: low; see npm audit --omit=dev'],
  });
});

test('a registry that cannot be asked is neither clean nor weak', () => {
  expect(answer({ message: 'request to https://r failed', error: { code: 'ENOTFOUND' } })).toEqual({
    kind: 'notAsked',
    why: 'request to https://r failed',
  });
  expect(answer('npm warn audit 405\nmore')).toEqual({ kind: 'notAsked', why: 'npm warn audit 405' });
  expect(answer('')).toMatchObject({ kind: 'notAsked' });
});
