/**
 * Where a Redis is, from a URL that a person wrote:
 *   redis://[[user]:password@]host[:port][/database]       one Redis
 *   redis+cluster://[[user]:password@]host[:port][,host[:port]]…   a Redis Cluster, by some of its nodes
 * rediss:// and rediss+cluster:// are the same over TLS. Nothing of it but hosts, ports and database is ever told to anyone.
 */
import { invalidArgument } from '@qim/proto';

export interface NodeAddress {
  readonly host: string;
  readonly port: number;
}

export interface StoreAddress {
  readonly cluster: boolean;
  readonly tls: boolean;
  /** Undefined: the server's default user. */
  readonly username: string | undefined;
  /** Undefined: none is asked for. */
  readonly password: string | undefined;
  /** Exactly one where it is no Cluster. */
  readonly nodes: readonly [NodeAddress, ...NodeAddress[]];
  /** 0 on a Cluster, which has no other. */
  readonly database: number;
}

const ALLOWED =
  'redis://[[user]:password@]host[:port][/database], redis+cluster://[[user]:password@]host[:port],host[:port],…, ' +
  'or rediss:// and rediss+cluster:// for TLS';
const FORM = /^redis(s?)(\+cluster)?:\/\/(?:([^/]*)@)?([^/@?#\s]+)(?:\/(\d{0,9}))?$/;
const NODE = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\],%]+))(?::(\d{1,5}))?$/;
const PORT_DEFAULT = 6379;
const PORT_MAX = 65_535;

/**
 * `password`: from elsewhere, such as a file; it must not be in the URL too.
 *
 * @throws InvalidArgument (field `store`), which repeats nothing of the URL
 */
export function parseAddress(url: string, password?: string): StoreAddress {
  const match = FORM.exec(url);
  if (match === null) throw invalidArgument('store', ALLOWED);
  const [, tls, cluster, userinfo = '', hosts = '', database = ''] = match;
  const nodes = hosts.split(',').map(nodeAddress);
  const [first, ...more] = nodes;
  if (first === undefined || (cluster === undefined && more.length > 0)) throw invalidArgument('store', ALLOWED);
  if (cluster !== undefined && Number(database) !== 0) throw invalidArgument('store', 'without a database: a Cluster has only one');
  const colon = userinfo.indexOf(':');
  const [user, given] = colon < 0 ? [userinfo, ''] : [userinfo.slice(0, colon), userinfo.slice(colon + 1)];
  if (password !== undefined && given !== '') throw invalidArgument('store', 'without a password, which a file has already given');
  return {
    cluster: cluster !== undefined,
    tls: tls === 's',
    username: decoded(user) || undefined,
    password: password ?? (decoded(given) || undefined),
    nodes: [first, ...more],
    database: Number(database),
  };
}

function nodeAddress(text: string): NodeAddress {
  const [, v6, name, port = String(PORT_DEFAULT)] = NODE.exec(text) ?? [];
  const host = v6 ?? name;
  if (host === undefined || Number(port) < 1 || Number(port) > PORT_MAX) throw invalidArgument('store', ALLOWED);
  return { host, port: Number(port) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // The cause would print what may be a password.
    throw invalidArgument('store', 'an address whose user and password are percent-encoded');
  }
}

/** `host:port` of all nodes that were named, with `/database` when it is not 0; never user or password. */
export function describeAddress({ nodes, database }: StoreAddress): string {
  return `${nodes.map(nodeName).join(',')}${database === 0 ? '' : `/${database}`}`;
}

/** `host:port`, which also names a node's connection. */
export function nodeName({ host, port }: NodeAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
