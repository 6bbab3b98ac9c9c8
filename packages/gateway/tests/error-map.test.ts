import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Code } from '@connectrpc/connect';
import { codeToHttpStatus, codeToString } from '@connectrpc/connect/protocol-connect';
import { CloseCode, invalidArgument, payloadTooLarge, QimError, shouldReconnect } from '@qim/proto';
import { ErrorDetailSchema, ErrorReason, ErrorReasonSchema } from '@qim/proto/schema';
import { corrupt, MessageStoreError, unavailable } from '@qim/store';
import { describe, expect, it } from 'vitest';
import { connectErrorOf, ERROR_MAP, frameErrorOf, reasonName, wireErrorOf } from '../src/error-map.js';

/** The rows of a Markdown table: cells without their backticks. */
function rows(document: string, heading: string): string[][] {
  const section = document.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

const document = readFileSync(fileURLToPath(new URL('../../../docs/errors.md', import.meta.url)), 'utf8');

describe('the map of errors', () => {
  it('has a reason of its own for every code, and leaves no reason of the schema out', () => {
    const mapped = Object.values(ERROR_MAP).map(({ reason }) => reason);
    expect(new Set(mapped).size).toBe(mapped.length);
    const all = ErrorReasonSchema.values.map(({ number }) => number).filter((number) => number !== ErrorReason.ERROR_REASON_UNSPECIFIED);
    expect(new Set(mapped)).toEqual(new Set(all));
  });

  it('spells each reason as the code in capitals', () => {
    for (const [code, { reason }] of Object.entries(ERROR_MAP)) {
      expect(reasonName(reason)).toBe(code.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase());
    }
  });

  it('tells the field of what was refused, and no other', () => {
    expect(wireErrorOf(invalidArgument('text', 'given'))).toEqual({
      reason: ErrorReason.INVALID_ARGUMENT,
      code: Code.InvalidArgument,
      field: 'text',
      message: 'text must be given',
      retryAfterMs: 0,
    });
    expect(wireErrorOf(payloadTooLarge('text', 5))).toMatchObject({ field: 'text', message: 'text must be at most 5 bytes' });
    expect(wireErrorOf(new QimError('NotMember', {}, 'x')).field).toBe('');
  });

  it('carries the typed detail over Connect, and the names over frames', () => {
    const error = connectErrorOf(invalidArgument('text', 'given'));
    expect(error.code).toBe(Code.InvalidArgument);
    expect(error.findDetails(ErrorDetailSchema)).toMatchObject([{ reason: ErrorReason.INVALID_ARGUMENT, field: 'text' }]);
    expect(frameErrorOf(invalidArgument('text', 'given'))).toMatchObject({
      code: 'invalid_argument',
      reason: 'INVALID_ARGUMENT',
      field: 'text',
      message: 'text must be given',
      retryAfterMs: 0,
    });
  });

  it('says when to come again, in whole seconds over HTTP and in milliseconds in frames', () => {
    const error = new QimError('RateLimited', { retryAfterMs: 1_001 }, 'slow down');
    expect(connectErrorOf(error).metadata.get('retry-after')).toBe('2');
    expect(frameErrorOf(error).retryAfterMs).toBe(1_001);
    expect(connectErrorOf(invalidArgument('x', 'y')).metadata.has('retry-after')).toBe(false);
  });

  it('is made from details alone: no message, key name or stack goes through', () => {
    const secret = 'msgrecord:{c01}:0:d_x at store.ts:7';
    const tenantId = 0 as never;
    const errors = [
      new Error(secret),
      secret,
      undefined,
      unavailable(secret, new Error(secret)),
      corrupt(tenantId, secret as never, 'recordMissing'),
      corrupt(tenantId, secret as never, 'unsupportedVersion'),
      new MessageStoreError('Aborted', {}, secret),
      new QimError('Internal', {}, secret),
      new QimError('NotFound', {}, secret),
    ];
    for (const error of errors) {
      const told = wireErrorOf(error);
      expect(told.message).not.toMatch(/msgrecord|store\.ts/);
      expect(told.message).not.toBe('');
    }
  });
});

describe('docs/errors.md', () => {
  it('has every reason with its code and HTTP status, and no other', () => {
    const documented = rows(document, 'Reasons').map(([reason, code, status]) => [reason, code, status]);
    const mapped = Object.values(ERROR_MAP).map(({ reason, code }) => [
      reasonName(reason),
      codeToString(code),
      String(codeToHttpStatus(code)),
    ]);
    expect(documented.sort()).toEqual(mapped.sort());
  });

  it('says of each what it means and what to do', () => {
    for (const row of rows(document, 'Reasons')) for (const cell of row.slice(3)) expect(cell.length).toBeGreaterThan(10);
  });

  it('has every close code with its name and whether to connect again, and no other of ours', () => {
    const documented = rows(document, 'Close codes').map(([code, name, again]) => [code, name, again]);
    const ours = Object.entries(CloseCode).map(([name, code]) => [String(code), name, shouldReconnect(code) ? 'yes' : 'no']);
    expect(documented.filter(([code]) => Number(code) >= 4_000).sort()).toEqual(ours.sort());
  });
});
