/**
 * `npm run package [-- --out FOLDER]`: the tarball of `qim`, command, server and page in one, for `npm install`. Needs
 * `npm run build`. The rooms are bundled, because they are private; what they need of others stays a dependency.
 */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { packQim } from './qim-package/pack.js';

const { values } = parseArgs({ options: { out: { type: 'string', default: '.' } } });
const root = fileURLToPath(new URL('..', import.meta.url));
console.log(await packQim({ root, page: resolve(root, 'packages/web/dist'), out: resolve(values.out) }));
