import { describe, expect, test } from 'vitest';
import { decodeRecord, encodeRecord } from '../src/message/codec.js';
import { recordOf } from './records.js';

describe('stored record', () => {
  test('is read as it was written, body inside', () => {
    const record = recordOf(5);
    const { record: bytes, body } = encodeRecord(record);
    expect(body).toBeUndefined();
    expect(decodeRecord(bytes, undefined)).toEqual(record);
  });

  test('is read as it was written, body apart', () => {
    const record = recordOf(5, { content: { kind: 'text', text: 'é'.repeat(2000) } });
    const { record: bytes, body } = encodeRecord(record);
    expect(decodeRecord(bytes, body)).toEqual(record);
    expect(decodeRecord(bytes, undefined)).toBe('bodyMissing');
  });
});
