import { readdirSync, readFileSync } from 'node:fs';
import { apiDoc, readProto } from './api-doc.js';

const SCHEMA = new URL('../../packages/proto/schema/qim/v1/', import.meta.url);
export const API_DOC = new URL('../../docs/api.md', import.meta.url);

/** What docs/api.md is to hold: services first as users meet them, then by file. */
export function currentApiDoc(): string {
  const files = readdirSync(SCHEMA).filter((name) => name.endsWith('.proto'));
  return apiDoc(files.sort().flatMap((name) => readProto(readFileSync(new URL(name, SCHEMA), 'utf8'))));
}
