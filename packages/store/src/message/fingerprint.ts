/** Fingerprints: short SHA-256 prefixes that stand for something longer. */
import { hash } from 'node:crypto';
import type { Mentions, MessageContent, MessageType, ReplyTo, UserId } from '@qim/proto';
import { ByteWriter, utf8 } from './bytes.js';
import { writeContent, writeMentions, writeReplyTo } from './payload.js';

export const USER_FINGERPRINT_BYTES = 8;
export const REQUEST_FINGERPRINT_BYTES = 16;

function sha256(bytes: Uint8Array): Uint8Array {
  return hash('sha256', bytes, 'buffer');
}

/** How a record names a user that it mentions. */
export function userFingerprint(userId: UserId): Uint8Array {
  return sha256(utf8.encode(userId)).subarray(0, USER_FINGERPRINT_BYTES);
}

/** What makes two requests with one clientMessageId the same message. */
export interface FingerprintedRequest {
  readonly type: MessageType;
  readonly content: MessageContent;
  readonly mentions: Mentions;
  readonly replyTo: ReplyTo | undefined;
}

const writer = new ByteWriter();

/** Over length-prefixed parts, so that no two requests run together into the same bytes. */
export function requestFingerprint(request: FingerprintedRequest): Uint8Array {
  writer.restart().u32(request.type);
  writeContent(writer, request.content);
  writeMentions(writer, request.mentions.userIds);
  writer.u8(request.mentions.all ? 1 : 0);
  writeReplyTo(writer, request.replyTo);
  return sha256(writer.written()).subarray(0, REQUEST_FINGERPRINT_BYTES);
}

/** A user in the forms that records are compared with. */
export interface EncodedUser {
  readonly userId: UserId;
  readonly utf8: Uint8Array;
  readonly fingerprint: Uint8Array;
}

export function encodeUser(userId: UserId): EncodedUser {
  return { userId, utf8: utf8.encode(userId), fingerprint: userFingerprint(userId) };
}
