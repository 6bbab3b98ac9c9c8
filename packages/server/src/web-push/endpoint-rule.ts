/**
 * Where notifications may be sent at all. A browser names its push service, and so anybody may name anything: nothing but
 * public addresses over HTTPS is called, so that no user reaches what only this machine can (SSRF). Names are looked at
 * when they are registered, and their addresses at each connection, because a name may come to mean another one.
 */
import { lookup as resolve } from 'node:dns';
import { BlockList, isIP, isIPv4, type LookupFunction } from 'node:net';
import { WEB_PUSH_ENDPOINT_BYTES_MAX } from '@qim/proto';

/** IANA's special-purpose ranges of IPv4, and multicast. */
const NOT_PUBLIC_V4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const;
/** Of global unicast, 2000::/3, what stands for something else: an IPv4 address in it, documentation. */
const NOT_PUBLIC_V6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;

function blockList(): { readonly refused: BlockList; readonly globalV6: BlockList; readonly loopback: BlockList } {
  const [refused, globalV6, loopback] = [new BlockList(), new BlockList(), new BlockList()];
  for (const [net, bits] of NOT_PUBLIC_V4) refused.addSubnet(net, bits, 'ipv4');
  for (const [net, bits] of NOT_PUBLIC_V6) refused.addSubnet(net, bits, 'ipv6');
  globalV6.addSubnet('2000::', 3, 'ipv6');
  loopback.addSubnet('127.0.0.0', 8, 'ipv4');
  loopback.addAddress('::1', 'ipv6');
  return { refused, globalV6, loopback };
}

const LISTS = blockList();

export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !LISTS.refused.check(address, 'ipv4');
  return isIP(address) === 6 && LISTS.globalV6.check(address, 'ipv6') && !LISTS.refused.check(address, 'ipv6');
}

/** What a connection may go to. `dev`: this machine too. */
function allows(address: string, dev: boolean): boolean {
  return isPublicAddress(address) || (dev && LISTS.loopback.check(address, isIPv4(address) ? 'ipv4' : 'ipv6'));
}

/** Pure: no name is resolved. `dev`: also HTTP and HTTPS on this machine. */
export function acceptsEndpoint(endpoint: string, dev: boolean): boolean {
  if (Buffer.byteLength(endpoint) > WEB_PUSH_ENDPOINT_BYTES_MAX || !URL.canParse(endpoint)) return false;
  const { protocol, hostname, username, password } = new URL(endpoint);
  if (username !== '' || password !== '') return false;
  const host = hostname.replace(/^\[|\]$/g, '');
  const here = host === 'localhost' || (isIP(host) !== 0 && LISTS.loopback.check(host, isIPv4(host) ? 'ipv4' : 'ipv6'));
  if (here) return dev && (protocol === 'https:' || protocol === 'http:');
  return protocol === 'https:' && host !== GCM && (isIP(host) === 0 ? isPublicName(host) : isPublicAddress(host));
}

/** Of before VAPID, and switched off. */
const GCM = 'android.googleapis.com';

/** Names of one part and these domains mean something within a network alone. */
function isPublicName(host: string): boolean {
  return /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(host) && !/\.(localhost|local|internal|intranet|lan|home|corp|arpa|test|invalid)$/.test(host);
}

export const NOT_PUBLIC = 'EQIMNOTPUBLIC';

/** The lookup of a connection: fails with NOT_PUBLIC when one of the name's addresses may not be called. */
export function guardedLookup(dev: boolean, lookup: typeof resolve = resolve): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '', 0);
      const [first] = addresses;
      if (first === undefined || !addresses.every(({ address }) => allows(address, dev))) {
        return callback(Object.assign(new Error('the name has an address that is not public'), { code: NOT_PUBLIC }), '', 0);
      }
      if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}
