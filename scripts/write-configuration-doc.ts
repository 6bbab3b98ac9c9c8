/** Writes docs/configuration.md from the server's table of settings: `npm run docs:config`. */
import { writeFileSync } from 'node:fs';
import { configurationDoc } from '@qim/server';

writeFileSync(new URL('../docs/configuration.md', import.meta.url), configurationDoc());
