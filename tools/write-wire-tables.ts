/** `npm run gen`: writes the SDK's tables of the schema. */
import { writeFile } from 'node:fs/promises';
import { TABLES_FILE, wireTables } from './client-package/wire-tables.js';

await writeFile(TABLES_FILE, wireTables());
