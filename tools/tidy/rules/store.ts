/** What only the store may know, and what nobody may write any more. */
import ts from 'typescript';
import { at, type Finding, isScript, isShipped, linesMatching, nodesOf, type Rule } from '../source-file.js';

// Spelled in two parts: this file, too, is searched by people who look for the key.
const OLD_HISTORY = new RegExp(`${'hist'}:`);

export const oldHistory: Rule = {
  name: 'old-history-key',
  instead: 'read the canonical records through MessageStore; the old history key is never read, written or migrated',
  check: (file) => (/^packages\/[^/]+\/src\//.test(file.path) ? linesMatching(file, OLD_HISTORY, 'the old history key') : []),
};

const KEY_NAMES = 'msg[a-z]+|outbox[a-z]*|convs|read|view|left|pins|groupreq';
const KEY_LITERAL = new RegExp(`^(${KEY_NAMES}):({|$)`);
const KEYS_FILE = /^packages\/store\/src\/redis\/keys\.ts$/;

export const keyLiteral: Rule = {
  name: 'key-literal',
  instead: 'build the key in packages/store/src/redis/keys.ts; scripts get whole keys in KEYS',
  check(file) {
    if (!isShipped(file.path) || KEYS_FILE.test(file.path)) return [];
    if (file.path.endsWith('.lua')) return linesMatching(file, new RegExp(`['"](${KEY_NAMES}):`), 'a key is spelled here');
    if (!isScript(file.path)) return [];
    const found: Finding[] = [];
    for (const node of nodesOf(file)) {
      const literal = ts.isStringLiteralLike(node) || ts.isTemplateHead(node);
      if (literal && KEY_LITERAL.test(node.text)) found.push(at(file, node, `'${node.text}'`));
    }
    return found;
  },
};

const BRANDS = 'TenantId|UserId|DeviceId|ConversationId|ConversationSeq|MessageId|ActivityId|ClientMessageId';
/** The two doors: the parse functions, and what turns stored bytes into values. */
const DOORS = /^packages\/(proto\/src\/ids|store\/src\/(message\/[a-z0-9-]+|redis\/(commit-results|directory|outbox)))\.ts$/;

export const brandCast: Rule = {
  name: 'brand-cast',
  instead: 'call the parse function of @qim/proto; only it and the decoders of stored bytes make such a value',
  check(file) {
    if (!isShipped(file.path) || !isScript(file.path) || DOORS.test(file.path)) return [];
    const brand = new RegExp(`^(${BRANDS})$`);
    const found: Finding[] = [];
    for (const node of nodesOf(file)) {
      if (ts.isAsExpression(node) && brand.test(node.type.getText())) found.push(at(file, node, node.getText()));
    }
    return found;
  },
};
