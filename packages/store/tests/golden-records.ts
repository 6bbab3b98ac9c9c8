/** The records whose bytes are pinned in golden/. Each version ever written keeps its files; a new one adds its own. */
import { readFileSync } from 'node:fs';
import {
  ControlKind,
  type MessageRecord,
  MessageStatus,
  MessageType,
  parseActivityId,
  parseMessageId,
  parseTenantId,
  parseUserId,
  TENANT_ID_MAX,
} from '@qim/proto';
import { ALICE, BOB, recordOf, seq, uuid } from './records.js';

export const GOLDEN: Readonly<Record<string, MessageRecord>> = {
  inside: recordOf(5, {
    prevSequence: seq(3),
    replyTo: { conversationSeq: seq(2), messageId: parseMessageId(uuid('reply', 2)) },
    content: { kind: 'text', text: 'hello, 用户 👋' },
  }),
  apart: recordOf(0x1_2345_6789_abc, {
    tenantId: parseTenantId(TENANT_ID_MAX),
    status: MessageStatus.Edited,
    revision: 3,
    amendedAtMs: 1_700_000_123_456,
    content: { kind: 'text', text: 'é'.repeat(1_200) },
  }),
  data: recordOf(7, {
    type: MessageType.Image,
    sender: { userId: parseUserId('ü'.repeat(32)), deviceId: undefined },
    content: { kind: 'data', contentType: 'image/png', data: new Uint8Array(1_500).map((_, i) => i) },
  }),
  mentions: recordOf(8, { mentions: { userIds: [ALICE, BOB, parseUserId('用户')], all: true } }),
  control: recordOf(9, {
    type: MessageType.Control,
    content: { kind: 'control', control: { kind: ControlKind.Removed, userIds: [BOB, parseUserId('a "b"')] } },
  }),
  recalled: recordOf(10, {
    activityId: parseActivityId(uuid('activity', 99)),
    status: MessageStatus.Recalled,
    revision: 1,
    amendedAtMs: 1_700_000_000_999,
    content: { kind: 'none' },
  }),
  'unknown-type': recordOf(11, { type: 4711, content: { kind: 'text', text: '' } }),
};

export function goldenRecord(name: string): MessageRecord {
  const record = GOLDEN[name];
  if (record === undefined) throw new Error(`no golden record ${name}`);
  return record;
}

/** The bytes of one file: hexadecimal, 32 bytes a line. */
export function goldenBytes(kind: 'record' | 'body', name: string): Uint8Array {
  const hex = readFileSync(new URL(`golden/${kind}-v1-${name}.hex`, import.meta.url), 'utf8');
  return new Uint8Array(Buffer.from(hex.replaceAll('\n', ''), 'hex'));
}
