/** Where notifications may go: nowhere that only this machine or its network can reach (SSRF). */
import type { LookupAddress } from 'node:dns';
import { describe, expect, test } from 'vitest';
import { acceptsEndpoint, guardedLookup, isPublicAddress, NOT_PUBLIC } from '../src/web-push/endpoint-rule.js';

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '223.255.255.255',
  '2606:4700::1111',
];
const NOT = [
  ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '127.255.255.255', '169.254.169.254', '172.16.0.1', '172.31.255.255'],
  ...['192.0.2.1', '192.168.1.1', '198.18.0.1', '198.51.100.7', '203.0.113.9', '224.0.0.1', '255.255.255.255'],
  ...['::', '::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '64:ff9b::7f00:1', 'fe80::1', 'fc00::1', 'fd00:ec2::254', 'ff02::1'],
  ...['2001::1', '2001:db8::1', '2002:7f00:1::', '3fff::1', 'no address', ''],
];

test.each(PUBLIC)('%s is public', (address) => expect(isPublicAddress(address)).toBe(true));
test.each(NOT)('%s is not', (address) => expect(isPublicAddress(address)).toBe(false));

describe('an endpoint', () => {
  test.each([
    'https://fcm.googleapis.com/fcm/send/x',
    'https://updates.push.services.mozilla.com/wpush/v2/x',
    'https://web.push.apple.com/x',
    'https://push.example:8443/x?y',
    'https://1.1.1.1/x',
    'https://[2606:4700::1111]/x',
  ])('%s may be registered', (endpoint) => {
    expect(acceptsEndpoint(endpoint, false)).toBe(true);
    expect(acceptsEndpoint(endpoint, true)).toBe(true);
  });

  test.each([
    'http://push.example/x',
    'ftp://push.example/x',
    'https://user@push.example/x',
    'https://user:secret@push.example/x',
    'https://push/x',
    'https://android.googleapis.com/gcm/send/x',
    'https://redis.internal/x',
    'https://printer.local/x',
    'https://169.254.169.254/latest/meta-data',
    'https://[fd00:ec2::254]/x',
    'https://[::ffff:10.0.0.1]/x',
    'https://10.0.0.1/x',
    'file:///etc/passwd',
    'no url',
    '',
  ])('%s may not, nor under --dev', (endpoint) => {
    expect(acceptsEndpoint(endpoint, false)).toBe(false);
    expect(acceptsEndpoint(endpoint, true)).toBe(false);
  });

  test.each([
    'https://127.0.0.1/x',
    'http://127.0.0.1:8080/x',
    'http://localhost:8080/x',
    'https://[::1]/x',
    // As the URL standard reads them: this machine, all of them.
    'https://2130706433/x',
    'https://0x7f.1/x',
    'https://017700000001/x',
  ])('%s may under --dev alone', (endpoint) => {
    expect(acceptsEndpoint(endpoint, false)).toBe(false);
    expect(acceptsEndpoint(endpoint, true)).toBe(true);
  });
});

describe('a name that is called', () => {
  /** What the connection is given, by what the name means at that moment. */
  function connectTo(addresses: readonly LookupAddress[], dev: boolean, all: boolean) {
    const lookup = ((_: string, __: object, done: (error: null, found: readonly LookupAddress[]) => void) =>
      done(null, addresses)) as never;
    return new Promise((resolve) => {
      guardedLookup(dev, lookup)('push.example', { all }, (error, address, family) => resolve(error?.code ?? [address, family]));
    });
  }
  const open = { address: '1.1.1.1', family: 4 };
  const here = { address: '127.0.0.1', family: 4 };
  const inside = { address: '10.0.0.1', family: 4 };

  test('has public addresses alone', async () => {
    expect(await connectTo([open], false, false)).toEqual(['1.1.1.1', 4]);
    expect(await connectTo([open], false, true)).toEqual([[open], undefined]);
    for (const all of [false, true]) {
      expect(await connectTo([here], false, all)).toBe(NOT_PUBLIC);
      expect(await connectTo([open, inside], false, all)).toBe(NOT_PUBLIC);
      expect(await connectTo([inside], true, all)).toBe(NOT_PUBLIC);
      expect(await connectTo([], false, all)).toBe(NOT_PUBLIC);
    }
    expect(await connectTo([here], true, false)).toEqual(['127.0.0.1', 4]);
  });
});
