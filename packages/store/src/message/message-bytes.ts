/**
 * A message as it travels between processes: u64 epoch, u32 length + record, u32 length + body (0: inside the record). The
 * record and the body are as they are stored, checksums included.
 */
import type { Message } from '@qim/proto';
import { ByteReader, ByteWriter, Malformed } from './bytes.js';
import { decodeRecord, encodeRecord } from './codec.js';

const NOTHING = new Uint8Array(0);

export function encodeMessage({ record, epoch }: Message): Uint8Array {
  const encoded = encodeRecord(record);
  return new ByteWriter()
    .u64(epoch)
    .longBytes(encoded.record)
    .longBytes(encoded.body ?? NOTHING)
    .result();
}

/** Undefined: no such bytes, or a record that is damaged. */
export function decodeMessage(bytes: Uint8Array): Message | undefined {
  try {
    const reader = new ByteReader(bytes);
    const epoch = reader.u64();
    const [stored, body] = [reader.longBytes(), reader.longBytes()];
    reader.end();
    const record = decodeRecord(stored, body.length === 0 ? undefined : body);
    return typeof record === 'string' ? undefined : { record, epoch };
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}
