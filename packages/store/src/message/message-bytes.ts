/**
 * A message as it travels between processes: u64 epoch, u32 length + record, u32 length + body (0: inside the record),
 * u32 length + reactions (0: none). Each is as it is stored, checksums included.
 */
import type { Message } from '@qim/proto';
import { ByteReader, ByteWriter, Malformed } from './bytes.js';
import { decodeRecord, encodeRecord } from './codec.js';
import { decodeReactions, encodeReactions } from './reactions.js';

const NOTHING = new Uint8Array(0);

export function encodeMessage({ record, epoch, reactions }: Message): Uint8Array {
  const encoded = encodeRecord(record);
  return new ByteWriter()
    .u64(epoch)
    .longBytes(encoded.record)
    .longBytes(encoded.body ?? NOTHING)
    .longBytes(reactions === undefined ? NOTHING : encodeReactions(record.messageId, reactions))
    .result();
}

/** Undefined: no such bytes, or a record that is damaged. */
export function decodeMessage(bytes: Uint8Array): Message | undefined {
  try {
    const reader = new ByteReader(bytes);
    const epoch = reader.u64();
    const [stored, body, held] = [reader.longBytes(), reader.longBytes(), reader.longBytes()];
    reader.end();
    const record = decodeRecord(stored, body.length === 0 ? undefined : body);
    if (typeof record === 'string') return undefined;
    const reactions = decodeReactions(record, held.length === 0 ? undefined : held);
    return typeof reactions === 'string' ? undefined : { record, epoch, reactions };
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}
