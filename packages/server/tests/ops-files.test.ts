/** The files of ops/ that nothing here can run: what they name exists, and each says that it was not tried. */
import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { SETTING_NAMES, SETTINGS, variableOf } from '../src/settings.js';

const OPS = new URL('../../../ops/', import.meta.url);

async function filesOf(): Promise<ReadonlyMap<string, string>> {
  const names = (await readdir(OPS)).filter((name) => !name.endsWith('ignore') && name !== 'grafana');
  return new Map(await Promise.all(names.map(async (name) => [name, await readFile(new URL(name, OPS), 'utf8')] as const)));
}

test('every variable in ops/ is one of a setting, and a value that is given is one that the setting takes', async () => {
  const known = new Map(SETTING_NAMES.map((name) => [variableOf(name), SETTINGS[name]]));
  let seen = 0;
  for (const [file, text] of await filesOf()) {
    for (const [, variable = '', value = ''] of text.matchAll(/\b(QIM_[A-Z_]+)(?:(?:=|: )['"]?([\w:/.%-]+))?/g)) {
      const setting = known.get(variable);
      expect(setting, `${variable} in ${file}`).toBeDefined();
      if (value !== '') expect(setting?.parse(value), `${variable}=${value} in ${file}`).toBeDefined();
      seen += 1;
    }
  }
  expect(seen).toBeGreaterThan(8);
});

test('each of them says that it was not tried', async () => {
  for (const [file, text] of await filesOf()) expect(text, file).toMatch(/^# Untested/);
});

test('the image and the unit do not run as root', async () => {
  const files = await filesOf();
  expect(files.get('Dockerfile')).toMatch(/^USER node$/m);
  expect(files.get('qim.service')).toMatch(/^DynamicUser=yes$/m);
});
