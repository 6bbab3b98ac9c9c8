/** `npm run docs:api`: writes docs/api.md from the schema. */
import { writeFileSync } from 'node:fs';
import { API_DOC, currentApiDoc } from './docs/schema-files.js';

writeFileSync(API_DOC, currentApiDoc());
