/**
 * An event as it travels between processes, version 1. Numbers are big-endian.
 *
 *   u8 version · u8 length + id of the process that sent it · u32 tenant · u32 number of users, each u8 length + user id
 *   u32 length + payload
 *
 * Exactly consumed, or malformed. It comes from other processes, perhaps of another version, so everything is checked.
 */
import {
  BUS_MESSAGE_BYTES_MAX,
  BUS_PROCESS_ID_BYTES_MAX,
  BUS_USERS_PER_MESSAGE_MAX,
  isQimError,
  parseTenantId,
  parseUserId,
  type TenantId,
  type UserId,
} from '@qim/proto';
import { ByteReader, ByteWriter, Malformed } from '../message/bytes.js';
import type { BusEvent } from './bus.js';

const VERSION = 1;

export interface Envelope extends BusEvent {
  readonly processId: string;
}

/** What every message of that process begins with, and none of another. */
export function encodeOrigin(processId: string): Uint8Array {
  return new ByteWriter().u8(VERSION).shortText(processId).result();
}

export function isFrom(origin: Uint8Array, bytes: Uint8Array): boolean {
  for (let i = 0; i < origin.length; i += 1) if (bytes[i] !== origin[i]) return false;
  return true;
}

/** All but the payload: the same for every event to the same users. */
export function encodeHead(processId: string, tenantId: TenantId, userIds: readonly UserId[]): Uint8Array {
  const writer = new ByteWriter().u8(VERSION).shortText(processId).u32(tenantId).u32(userIds.length);
  for (const userId of userIds) writer.shortText(userId);
  return writer.result();
}

export function encodeEnvelope(head: Uint8Array, payload: Uint8Array): Buffer {
  const message = Buffer.allocUnsafe(head.length + 4 + payload.length);
  message.set(head);
  message.writeUInt32BE(payload.length, head.length);
  message.set(payload, head.length + 4);
  return message;
}

/** Undefined: no such bytes. The payload is a copy. */
export function decodeEnvelope(bytes: Uint8Array): Envelope | undefined {
  if (bytes.length > BUS_MESSAGE_BYTES_MAX) return undefined;
  try {
    const reader = new ByteReader(bytes);
    if (reader.u8() !== VERSION) return undefined;
    const processId = reader.shortText();
    const tenantId = parseTenantId(reader.u32());
    const users = reader.u32();
    if (processId.length > BUS_PROCESS_ID_BYTES_MAX || users === 0 || users > BUS_USERS_PER_MESSAGE_MAX) return undefined;
    const userIds = Array.from({ length: users }, () => parseUserId(reader.shortText()));
    const payload = reader.longBytes();
    reader.end();
    return { processId, tenantId, userIds, payload };
  } catch (error) {
    if (error instanceof Malformed || isQimError(error)) return undefined;
    throw error;
  }
}
