/** The key by which push services know this deployment (RFC 8292): a private key of P-256 in a file of the operator's. */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { StartError, systemCode } from '../errors.js';

/** In base64url: the public key as an uncompressed point, the private one as its number. */
export interface VapidKeys {
  readonly publicKey: string;
  readonly privateKey: string;
}

/** @throws StartError BadSecret: no such file, no permission, or no private key of P-256 in PEM */
export async function readVapidKeys(file: string): Promise<VapidKeys> {
  const pem = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new StartError('BadSecret', `cannot read the VAPID key file ${file}: ${systemCode(error) ?? 'it failed'}`);
  });
  const { kty, crv, x, y, d } = keyFrom(pem)?.export({ format: 'jwk' }) ?? {};
  if (kty !== 'EC' || crv !== 'P-256' || x === undefined || y === undefined || d === undefined) {
    throw new StartError(
      'BadSecret',
      `${file} must be a private key of P-256 in PEM, as "openssl ecparam -name prime256v1 -genkey -noout" makes one`,
    );
  }
  const point = Buffer.concat([Buffer.of(UNCOMPRESSED), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  return { publicKey: point.toString('base64url'), privateKey: d };
}

const UNCOMPRESSED = 4;

function keyFrom(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}
