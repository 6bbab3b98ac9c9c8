/** The document and the rule say the same. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import table from '../imports/table.json' with { type: 'json' };

const text = await readFile(new URL('../../ARCHITECTURE.md', import.meta.url), 'utf8');

test('the table of ARCHITECTURE.md is the table that the import check uses', () => {
  const section = text.slice(text.indexOf('## Who may import whom'), text.indexOf('## What each room owns'));
  const rows = [...section.matchAll(/^\| (\w+) \| ([\w, ]+) \|$/gm)].filter(([, room]) => room !== 'package');
  const drawn = rows.map(([, room, allowed]) => [room, allowed === 'nothing' ? [] : allowed?.split(', ')]);
  const used = Object.entries(table.mayImport).map(([room, allowed]) => [name(room), allowed.map(name)]);
  expect(Object.fromEntries(drawn)).toEqual(Object.fromEntries(used));
});

function name(path: string): string {
  return path.replace('packages/', '');
}
