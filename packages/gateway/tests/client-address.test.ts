import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressBlock, clientAddress, trustNobody, trustOf } from '../src/client-address.js';

const request = (peer: string | undefined, forwarded?: string): IncomingMessage =>
  ({ socket: { remoteAddress: peer }, headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded } }) as IncomingMessage;
const trust = (...proxies: string[]) => trustOf(proxies) ?? expect.fail('no such proxies');

describe('the address of a client', () => {
  it('is that of the connection, whatever X-Forwarded-For says, while no proxy is named', () => {
    expect(clientAddress(request('198.51.100.7', '203.0.113.9'), trustNobody)).toBe('198.51.100.7');
    expect(clientAddress(request('::ffff:198.51.100.7'), trustNobody)).toBe('198.51.100.7');
  });

  it('is what the nearest named proxies wrote, and nothing that came to them from outside', () => {
    const proxies = trust('10.0.0.0/8', '192.0.2.1');
    expect(clientAddress(request('10.1.2.3', '203.0.113.9'), proxies)).toBe('203.0.113.9');
    expect(clientAddress(request('10.1.2.3', '1.1.1.1, 203.0.113.9, 192.0.2.1'), proxies)).toBe('203.0.113.9');
    expect(clientAddress(request('203.0.113.9', '1.1.1.1'), proxies)).toBe('203.0.113.9');
    expect(clientAddress(request('10.1.2.3'), proxies)).toBe('10.1.2.3');
    expect(clientAddress(request('::1', '2001:db8::1'), trust('loopback'))).toBe('2001:db8::1');
  });

  it('is that of the last hop that is one, where a proxy wrote something else', () => {
    expect(clientAddress(request('10.1.2.3', 'unknown'), trust('10.0.0.0/8'))).toBe('10.1.2.3');
    expect(clientAddress(request('10.1.2.3', '203.0.113.9, <script>'), trust('10.0.0.0/8'))).toBe('10.1.2.3');
  });

  it('is empty when the connection is gone', () => {
    expect(clientAddress(request(undefined), trustNobody)).toBe('');
    expect(clientAddress(request(undefined, '1.1.1.1'), trust('loopback'))).toBe('');
  });

  it('is an address or empty, whatever the header holds', () => {
    const proxies = trust('10.0.0.0/8');
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string())).map((hops) => hops.join(', ')),
        ),
        (header) => {
          expect(clientAddress(request('10.0.0.1', header), proxies)).toMatch(/^[0-9a-fA-F.:%]*$/);
        },
      ),
    );
  });

  it('is the same for a real request', async () => {
    const seen = new Promise<string>((resolve) => {
      const server = createServer((incoming, response) => {
        resolve(clientAddress(incoming, trust('loopback')));
        response.end();
        server.close();
      });
      server.listen(0, '127.0.0.1', () => {
        const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
        socket.end('GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 203.0.113.9\r\nConnection: close\r\n\r\n');
      });
    });
    expect(await seen).toBe('203.0.113.9');
  });

  it.each(['', 'no address', '10.0.0.0/33', '10.0.0', 'localhost', '1.2.3.4/-1'])('no proxy is named %j', (name) => {
    expect(trustOf([name])).toBeUndefined();
  });
});

describe('what is counted as one address', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['2001:0db8:0000::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['', ''],
  ])('%s is %s', (address, block) => {
    expect(addressBlock(address)).toBe(block);
  });
});
