/** What is aimed at (ratios within one run), and what is only reported. The names are those of the JSON. */
export interface Goal {
  readonly name: string;
  /** The ratio is to be at least this, or at most where `most` says so. Undefined: reported without an aim. */
  readonly aim: number | undefined;
  readonly most?: boolean;
  readonly area: AreaName;
  readonly means: string;
}

export const AREA_NAMES = ['page', 'commit', 'e2e', 'sockets', 'memory', 'growth'] as const;
export type AreaName = (typeof AREA_NAMES)[number];

export const GOALS: readonly Goal[] = [
  {
    name: 'page100x20_vs_floor',
    aim: 0.65,
    area: 'page',
    means: 'the same bytes asked for and thrown away / the page, every record checked',
  },
  { name: 'page100x20_vs_node_redis_hget', aim: 4, area: 'page', means: 'node-redis with one HGET for each record / the page' },
  { name: 'inbox_vs_node_redis_hget', aim: 2.5, area: 'page', means: 'the same, of a usual inbox' },
  { name: 'inbox_vs_postgres_count', aim: 0.9, area: 'page', means: 'PostgreSQL counting by its best index, checking nothing / the page' },
  { name: 'page100x20_vs_postgres_records', aim: 3, area: 'page', means: 'PostgreSQL shipping the same records / the page' },
  { name: 'page100x20_vs_postgres_count', aim: undefined, area: 'page', means: 'PostgreSQL counting, checking nothing / the page' },
  { name: 'page100x200_vs_postgres_count', aim: undefined, area: 'page', means: 'the same at 200 unread' },
  {
    name: 'commit_batched_vs_floor',
    aim: 0.5,
    area: 'commit',
    means: 'commits into one conversation / bare HSET+ZADD of the same bytes, 1024 in flight',
  },
  { name: 'commit_single_vs_floor', aim: 0.3, area: 'commit', means: 'commits into many conversations / bare HSET+ZADD, 128 in flight' },
  { name: 'commit_group_gain_always', aim: 8, area: 'commit', means: '128 in flight / 1 in flight, appendfsync always' },
  { name: 'lmdb_durable_1024_vs_1', aim: 40, area: 'commit', means: 'the embedded store, 1024 in flight / 1 in flight' },
  {
    name: 'e2e_direct_vs_ws_echo',
    aim: 0.35,
    area: 'e2e',
    means: 'messages sent, acknowledged and delivered / the same bytes through a bare ws echo',
  },
  { name: 'http_unary_vs_bare_fastify', aim: 0.6, area: 'e2e', means: 'GetConversation by POST / a bare Fastify route over the same read' },
  { name: 'growth_history_1e6_vs_1e3', aim: 1.15, most: true, area: 'growth', means: 'a page over the longest history / over a short one' },
  { name: 'growth_body_64k_vs_100B', aim: 1.15, most: true, area: 'growth', means: 'a page over 64 kB bodies / over 100 B' },
  { name: 'idle_socket_kB', aim: 20, most: true, area: 'sockets', means: 'resident memory of the server for one idle connection' },
];

export function isReached({ aim, most }: Goal, ratio: number): boolean {
  if (aim === undefined) return true;
  return most === true ? ratio <= aim : ratio >= aim;
}
