/** docs/configuration.md, written from the table. `npm run docs:config` writes the file; a test compares. */
import type { Setting } from './setting.js';
import { flagOf, SETTING_NAMES, SETTINGS, type SettingName, variableOf } from './settings.js';

const HEAD = `# Configuration

Settings of \`qim serve\`. A flag wins over its variable, a variable over the default. All problems are told at once, and a
\`QIM_\` variable that is no setting is a problem: a misspelt one never passes unnoticed. (\`QIM_TEST_…\` is left to the
repository's own test scripts.) Values marked secret are never printed or logged.

This file is written by \`npm run docs:config\` from packages/server/src/settings.ts; do not edit it.
`;

const RULES = `## How they go together

- Tokens: exactly one of \`--jwt-secret-file\` and \`--jwks-url\`, or \`--dev\`, which makes a secret in the data folder when
  no file is given. A server without any of them does not start.
- \`--dev\` listens on loopback only and does not go with \`--jwks-url\`.
- \`--tls-cert-file\` and \`--tls-key-file\` go together; limits of addresses need \`--trusted-proxies\` where a proxy is in front.
- On the embedded store the role gateway needs push beside it: no other process can deliver what it commits.
- \`--store\` and \`--data\` mean the same in every command that opens a store.
`;

export function configurationDoc(): string {
  return [HEAD, ...SETTING_NAMES.map(section), RULES].join('\n');
}

function section(name: SettingName): string {
  const { value, allowed, fallback, doc, secret }: Setting<unknown> = SETTINGS[name];
  const lines = [
    `## ${name}`,
    '',
    doc,
    '',
    `- flag: \`${flagOf(name)}${value === undefined ? '' : ` ${value}`}\``,
    `- variable: \`${variableOf(name)}\``,
    `- value: ${allowed}${secret === true ? ' (secret)' : ''}`,
    `- default: ${fallback === undefined ? 'not set' : `\`${fallback}\``}`,
    '',
  ];
  return lines.join('\n');
}
