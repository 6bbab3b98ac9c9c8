/**
 * The obvious code: node-redis, the same first round, then one HGET for each record (or, as a second contender, the HMGETs
 * that qim sends), each reply a Buffer whose fields are read by name. It checks no checksum and no chain.
 */
import { createClient, RESP_TYPES } from 'redis';
import { type Answer, countsForReader } from '../data.js';
import type { Cleanup } from '../stores.js';
import type { Round } from './recorder.js';

type Argument = string | Buffer;
type Command = readonly Argument[];

export interface ObviousPage {
  readonly first: readonly Command[];
  readonly second: readonly Command[];
  /** Commands of the second round for each conversation. */
  readonly perConversation: readonly number[];
  readonly watermarks: readonly number[];
}

/** Offsets in the stored record: docs/storage.md. */
const Offset = { Status: 34, Type: 36, MessageId: 52, ActivityId: 68, ConversationLength: 84, SenderLength: 85, Texts: 88 } as const;
const EXACT_MAX = 200;
const FIRST_ROUND = 4;
const PAIR = 2;

export async function openObvious(cleanup: Cleanup, url: string) {
  const plain = createClient({ url, RESP: 2 });
  await plain.connect();
  cleanup.add(() => plain.close());
  const client = plain.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  const pipeline = async (commands: readonly Command[]): Promise<readonly unknown[]> => {
    const multi = client.multi();
    for (const command of commands) multi.addCommand([...command]);
    return multi.execAsPipeline();
  };
  return async ({ first, second, perConversation, watermarks }: ObviousPage): Promise<Answer[]> => {
    const heads = await pipeline(first);
    const found = (await pipeline(second)).flat() as Buffer[];
    let at = 0;
    return watermarks.map((watermark, i) => {
      const newest = heads[i * FIRST_ROUND + 1] as [Buffer, Buffer];
      const records = found.slice(at, at + (perConversation[i] ?? 0));
      at += records.length;
      return answerFrom(Number(newest[0].readBigUInt64BE()), watermark, records);
    });
  };
}

function answerFrom(latest: number, watermark: number, records: readonly Buffer[]): Answer {
  const exact = latest - watermark <= EXACT_MAX;
  const unread = Math.max(Math.min(latest - watermark, records.length), 0);
  // In the window the head is the last record; with nothing unread, or too much, it is the only one before the preview.
  const head = records[exact && unread > 0 ? latest - watermark - 1 : 0] as Buffer;
  const window = exact ? records.slice(0, latest - watermark) : [];
  return {
    latestConversationSeq: latest as Answer['latestConversationSeq'],
    lastMessageId: uuidAt(head, Offset.MessageId) as NonNullable<Answer['lastMessageId']>,
    lastActivityId: uuidAt(head, Offset.ActivityId) as NonNullable<Answer['lastActivityId']>,
    unreadCount: exact ? window.filter(counts).length : EXACT_MAX,
    unreadExact: exact,
  };
}

function counts(record: Buffer): boolean {
  const start = Offset.Texts + record.readUInt8(Offset.ConversationLength);
  const sender = record.toString('utf8', start, start + record.readUInt8(Offset.SenderLength));
  const fields = { sender, type: record.readUInt32BE(Offset.Type), status: record.readUInt8(Offset.Status) };
  return countsForReader(fields as Parameters<typeof countsForReader>[0]);
}

function uuidAt(bytes: Buffer, at: number): string {
  const hex = bytes.toString('hex', at, at + 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** What was recorded, as commands: the HMGETs as they are, or an HGET for each of their fields. */
export function obviousPage(rounds: readonly Round[], watermarks: readonly number[], singly: boolean): ObviousPage {
  const [first = [], reads = []] = rounds.map(({ asked }) => commandsIn(asked));
  const conversationOf = (key: Argument | undefined) => String(key).split(':').slice(0, -1).join(':');
  const perConversation: number[] = [];
  let last = '';
  for (const [, key, ...fields] of reads) {
    const conversation = conversationOf(key);
    // Conversations are asked for in the order of the page; several buckets of one follow each other.
    if (conversation === last) perConversation[perConversation.length - 1] = (perConversation.at(-1) ?? 0) + fields.length;
    else perConversation.push(fields.length);
    last = conversation;
  }
  const second = singly ? reads.flatMap(([, key = '', ...fields]) => fields.map((field) => ['HGET', key, field])) : reads;
  return { first, second, perConversation, watermarks };
}

/** Arguments in RESP, as every client sends them. Text stays text, because node-redis sends it faster. */
function commandsIn(asked: Buffer): Command[] {
  const commands: Argument[][] = [];
  for (let at = 0; at < asked.length; ) {
    const [count, afterCount] = numberAt(asked, at);
    at = afterCount;
    const command: Argument[] = [];
    for (let i = 0; i < count; i += 1) {
      const [length, start] = numberAt(asked, at);
      const bytes = asked.subarray(start, start + length);
      const printable = bytes.every((byte) => byte >= 0x20 && byte < 0x7f);
      command.push(printable ? bytes.toString('latin1') : Buffer.from(bytes));
      at = start + length + PAIR;
    }
    commands.push(command);
  }
  return commands;
}

function numberAt(bytes: Buffer, at: number): [value: number, after: number] {
  const end = bytes.indexOf('\r\n', at);
  return [Number(bytes.toString('latin1', at + 1, end)), end + PAIR];
}
