/** The same decisions and writes by PostgreSQL, as many messages as there are in one transaction, flushed to the disk. */
import type { Client } from 'pg';
import { uuidv7 } from 'uuidv7';

const RECORD = Buffer.alloc(300, 7);

const SCHEMA = `
CREATE TABLE conversation (id int PRIMARY KEY, last_sequence bigint NOT NULL);
CREATE TABLE dedup (id text PRIMARY KEY, sequence bigint NOT NULL);
CREATE TABLE record (conversation int, sequence bigint, bytes bytea NOT NULL, PRIMARY KEY (conversation, sequence));
CREATE TABLE outbox (place bigserial PRIMARY KEY, conversation int NOT NULL, sequence bigint NOT NULL);
INSERT INTO conversation VALUES (1, 0);`;

const COMMIT = `
WITH fresh AS (SELECT id, row_number() OVER () AS n FROM unnest($1::text[]) AS id
    WHERE NOT EXISTS (SELECT FROM dedup d WHERE d.id = id.id)),
  base AS (UPDATE conversation SET last_sequence = last_sequence + (SELECT count(*) FROM fresh) WHERE id = 1
    RETURNING last_sequence - (SELECT count(*) FROM fresh) AS before),
  placed AS (SELECT id, before + n AS sequence FROM fresh, base),
  noted AS (INSERT INTO dedup SELECT id, sequence FROM placed),
  queued AS (INSERT INTO outbox (conversation, sequence) SELECT 1, sequence FROM placed ORDER BY sequence)
INSERT INTO record SELECT 1, sequence, $2 FROM placed RETURNING sequence`;

export async function openPostgresCommit(client: Client): Promise<(count: number) => Promise<void>> {
  await client.query(SCHEMA);
  return async (count) => {
    const ids = Array.from({ length: count }, () => uuidv7());
    const { rowCount } = await client.query({ name: 'commit', text: COMMIT, values: [ids, RECORD] });
    if (rowCount !== count) throw new Error(`PostgreSQL committed ${rowCount} of ${count}`);
  };
}
