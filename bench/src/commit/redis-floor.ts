/** The floor of a commit: HSET and ZADD of the same bytes, prepared beforehand, the answers thrown away. It decides nothing. */
import { connect } from 'node:net';
import type { Cleanup } from '../stores.js';

/** As long as a stored record with `TEXT` in it. */
const RECORD_BYTES = 300;
/** `:1\r\n` twice. */
const ANSWER_BYTES = 8;

export interface CommitFloor {
  /** Writes `count` records with as many in flight. */
  readonly write: (count: number) => Promise<void>;
}

export async function openCommitFloor(cleanup: Cleanup, port: number, conversations: number): Promise<CommitFloor> {
  let left = 0;
  let answered = (): void => {};
  const onread = {
    buffer: Buffer.alloc(64 * 1024),
    callback: (bytes: number) => {
      left -= bytes;
      if (left <= 0) answered();
      return true;
    },
  };
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread });
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  cleanup.add(async () => socket.destroy());
  let sequence = 0;
  return {
    async write(count) {
      const asked = Buffer.concat(Array.from({ length: count }, () => pair(++sequence, conversations)));
      left = count * ANSWER_BYTES;
      await new Promise<void>((resolve) => {
        answered = resolve;
        socket.write(asked);
      });
      if (left !== 0) throw new Error('HSET and ZADD were not answered by 1 each');
    },
  };
}

function pair(sequence: number, conversations: number): Buffer {
  const conversation = `floor:${sequence % conversations}`;
  const member = Buffer.alloc(8);
  member.writeBigUInt64BE(BigInt(sequence));
  return Buffer.concat([
    command('HSET', `record:${conversation}:${Math.floor(sequence / 256)}`, String(sequence), Buffer.alloc(RECORD_BYTES, 7)),
    command('ZADD', `history:${conversation}`, '0', member),
  ]);
}

function command(...args: readonly (string | Buffer)[]): Buffer {
  const parts = args.flatMap((arg) => [Buffer.from(`$${Buffer.byteLength(arg)}\r\n`), Buffer.from(arg), Buffer.from('\r\n')]);
  return Buffer.concat([Buffer.from(`*${args.length}\r\n`), ...parts]);
}
