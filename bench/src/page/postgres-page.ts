/**
 * PostgreSQL over the same messages: counting alone by a partial covering index (it looks at no record), and shipping the
 * records so that they could be checked.
 */
import type { Client } from 'pg';
import { type Answer, countsForReader, type KnownConversation, READER } from '../data.js';

const RECORD_BYTES = 302;
const ROWS_PER_INSERT = 1_000;
const EXACT_MAX = 200;

const SCHEMA = `
CREATE TABLE message (
  conversation int NOT NULL, seq bigint NOT NULL, sender text NOT NULL, type int NOT NULL, status int NOT NULL,
  message_id uuid NOT NULL, activity_id uuid NOT NULL, record bytea NOT NULL, PRIMARY KEY (conversation, seq));
CREATE INDEX message_unread ON message (conversation, seq) INCLUDE (sender) WHERE status <= 2 AND type <> 9;`;

const COUNT = `
SELECT s.place, h.seq, h.message_id, h.activity_id, c.unread
FROM unnest($1::int[], $2::bigint[]) WITH ORDINALITY AS s(conversation, mark, place)
CROSS JOIN LATERAL (SELECT seq, message_id, activity_id FROM message WHERE conversation = s.conversation ORDER BY seq DESC LIMIT 1) h
CROSS JOIN LATERAL (SELECT count(*) AS unread FROM message
  WHERE conversation = s.conversation AND seq > s.mark AND seq <= s.mark + ${EXACT_MAX} AND status <= 2 AND type <> 9 AND sender <> $3) c
ORDER BY s.place`;

const SHIP = `
SELECT s.place, m.seq, m.sender, m.type, m.status, m.message_id, m.activity_id, m.record
FROM unnest($1::int[], $2::bigint[]) WITH ORDINALITY AS s(conversation, mark, place)
CROSS JOIN LATERAL (SELECT * FROM message
  WHERE conversation = s.conversation AND seq > s.mark AND seq <= s.mark + ${EXACT_MAX} ORDER BY seq) m
ORDER BY s.place, m.seq`;

interface Shipped {
  readonly place: string;
  readonly seq: string;
  readonly sender: string;
  readonly type: number;
  readonly status: number;
  readonly message_id: string;
  readonly activity_id: string;
}

type Counted = Pick<Shipped, 'seq' | 'message_id' | 'activity_id'> & { readonly unread: string };

export interface PostgresPage {
  /** By number of the conversation. */
  readonly places: readonly number[];
  readonly marks: readonly number[];
}

export async function fillPostgres(client: Client, known: readonly KnownConversation[]): Promise<void> {
  await client.query(SCHEMA);
  const record = Buffer.alloc(RECORD_BYTES, 7);
  const rows = known.flatMap(({ records }, conversation) =>
    records.map((each) => [conversation, each.sequence, each.sender, each.type, each.status, each.messageId, each.activityId, record]),
  );
  for (let from = 0; from < rows.length; from += ROWS_PER_INSERT) {
    const some = rows.slice(from, from + ROWS_PER_INSERT);
    const places = some.map((row, i) => `(${row.map((_, j) => `$${i * row.length + j + 1}`).join(',')})`);
    await client.query(`INSERT INTO message VALUES ${places.join(',')}`, some.flat());
  }
  await client.query('VACUUM ANALYZE message');
}

export async function countPage(client: Client, { places, marks }: PostgresPage): Promise<Answer[]> {
  const { rows } = await client.query<Counted>({ name: 'count', text: COUNT, values: [places, marks, READER] });
  return rows.map((row, i) => {
    const latest = Number(row.seq);
    const exact = latest - (marks[i] ?? 0) <= EXACT_MAX;
    return answerOf(latest, row, exact ? Number(row.unread) : EXACT_MAX, exact);
  });
}

/** Only of pages in which every conversation has something unread and none too much: there the head is shipped as well. */
export async function shipPage(client: Client, { places, marks }: PostgresPage): Promise<Answer[]> {
  const { rows } = await client.query<Shipped>({ name: 'ship', text: SHIP, values: [places, marks] });
  const unread = marks.map(() => 0);
  const heads: Shipped[] = [];
  for (const row of rows) {
    const i = Number(row.place) - 1;
    heads[i] = row;
    if (countsForReader(row as unknown as Parameters<typeof countsForReader>[0])) unread[i] = (unread[i] ?? 0) + 1;
  }
  return heads.map((row, i) => answerOf(Number(row.seq), row, unread[i] ?? 0, true));
}

function answerOf(latest: number, row: Pick<Shipped, 'message_id' | 'activity_id'>, unreadCount: number, unreadExact: boolean): Answer {
  return {
    latestConversationSeq: latest as Answer['latestConversationSeq'],
    lastMessageId: row.message_id as NonNullable<Answer['lastMessageId']>,
    lastActivityId: row.activity_id as NonNullable<Answer['lastActivityId']>,
    unreadCount,
    unreadExact,
  };
}
