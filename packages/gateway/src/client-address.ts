/**
 * Whose address a request comes from. X-Forwarded-For is what anybody may write; it is believed as far as proxies that the
 * operator named have written it, from the nearest one on, and no further.
 */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import proxyAddr from '@fastify/proxy-addr';

/** Whether the address is that of a proxy that the operator named. */
export type Trust = (address: string, hop: number) => boolean;

const WORDS: ReadonlySet<string> = new Set(['loopback', 'linklocal', 'uniquelocal']);

export const trustNobody: Trust = () => false;

/** Addresses, networks as `10.0.0.0/8`, and the words loopback, linklocal, uniquelocal. Undefined: one of them is none. */
export function trustOf(proxies: readonly string[]): Trust | undefined {
  // The library reads shortened forms too, such as 10.0.0 for 10.0.0.0 or for 10.0.0.0/24, whichever one meant.
  if (!proxies.every((proxy) => WORDS.has(proxy) || isIP(proxy.split('/')[0] ?? '') !== 0)) return undefined;
  try {
    return proxyAddr.compile([...proxies]);
  } catch {
    return undefined;
  }
}

/** Of the client, or of the last hop that wrote something else than an address. Empty: the connection is gone. */
export function clientAddress(request: IncomingMessage, trust: Trust): string {
  const hops = proxyAddr.all(request, trust).map(plain);
  return hops.findLast((hop) => isIP(hop) !== 0) ?? '';
}

/** A connection that is gone has none. */
function plain(address: string | undefined): string {
  if (address === undefined) return '';
  return /^::ffff:\d+\.\d+\.\d+\.\d+$/i.test(address) ? address.slice('::ffff:'.length) : address;
}

/** What is counted as one: the IPv4 address, or the /64 of an IPv6 one, which a single household has. */
export function addressBlock(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = address.toLowerCase().split('%')[0]?.split('::') ?? [];
  const before = groups(head);
  const after = groups(tail ?? '');
  const all =
    tail === undefined ? before : [...before, ...Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0'), ...after];
  return `${all
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}

function groups(text: string): readonly string[] {
  return text === '' ? [] : text.split(':');
}
