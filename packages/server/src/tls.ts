/** The certificate of a server that speaks TLS itself. */
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { StartError, systemCode } from './errors.js';
import type { Config } from './settings.js';

/** PEM. */
export interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Undefined: none is set, and the server speaks HTTP. @throws StartError BadCertificate, which holds nothing of the files */
export async function readTls({ tlsCertFile, tlsKeyFile }: Pick<Config, 'tlsCertFile' | 'tlsKeyFile'>): Promise<TlsFiles | undefined> {
  if (tlsCertFile === undefined || tlsKeyFile === undefined) return undefined;
  const files = { cert: await read(tlsCertFile), key: await read(tlsKeyFile) };
  try {
    createSecureContext(files);
  } catch (error) {
    const why = systemCode(error) ?? 'not PEM';
    throw new StartError('BadCertificate', `${tlsCertFile} and ${tlsKeyFile} are no certificate and its key in PEM (${why})`);
  }
  return files;
}

async function read(file: string): Promise<Buffer> {
  return readFile(file).catch((error: unknown) => {
    throw new StartError('BadCertificate', `cannot read ${file}: ${systemCode(error) ?? 'unknown'}`);
  });
}
