/** A script's header is its documentation: it must say what the body and the loader say. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { SEQUENCES_SKIPPED_AFTER_LOSS } from '@qim/proto';
import { describe, expect, test } from 'vitest';
import { DEDUP_ENTRY_BYTES, DEDUP_FINGERPRINT_OFFSET } from '../src/message/dedup-entry.js';
import { FACT_FIELDS } from '../src/message/facts.js';
import { isGuarded, SCRIPT_KEYS, type ScriptName, scriptText } from '../src/redis/scripts.js';

const INCLUDES = new URL('../src/redis/includes/', import.meta.url);

const FOLDER = new URL('../src/redis/scripts/', import.meta.url);
const NAMES = Object.keys(SCRIPT_KEYS) as ScriptName[];
const SECTIONS = ['KEYS', 'ARGV', 'Returns', 'Errors', 'Atomicity', 'Cost', 'Called by'];

interface Script {
  readonly header: string;
  readonly body: string;
}

function read(name: ScriptName): Script {
  const text = scriptText(name);
  const end = text.indexOf(']]\n');
  expect(text.startsWith('--[[\n') && end > 0, `${name} begins with its header`).toBe(true);
  return { header: text.slice(5, end), body: text.slice(end + 3) };
}

/** The numbers with which the lines of a section begin. */
function numbered(header: string, section: string, next: string): number[] {
  const part = header.slice(header.indexOf(`\n${section}`), header.indexOf(`\n${next}`));
  return [...part.matchAll(/^ {1,2}(\d+)(?:…| )/gm)].map(([, number]) => Number(number));
}

function greatestIndex(body: string, name: 'KEYS' | 'ARGV'): number {
  return Math.max(0, ...[...body.matchAll(new RegExp(`${name}\\[(\\d+)`, 'g'))].map(([, number]) => Number(number)));
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

test('the files are those of the table', () => {
  const files = readdirSync(FOLDER).map((file) => file.replace(/\.lua$/, ''));
  expect(files.sort()).toEqual([...NAMES].sort());
});

test('every part is one that a script includes, and begins with its name and purpose', () => {
  const scripts = NAMES.map((name) => readFileSync(new URL(`${name}.lua`, FOLDER), 'utf8'));
  for (const file of readdirSync(INCLUDES)) {
    const name = file.replace(/\.lua$/, '');
    expect(readFileSync(new URL(file, INCLUDES), 'utf8')).toMatch(new RegExp(`^--\\[\\[\n${name}: [a-z].+`));
    expect(
      scripts.some((script) => script.includes(`\n-- include ${name}\n`)),
      name,
    ).toBe(true);
  }
  for (const name of NAMES) expect(scriptText(name), name).not.toMatch(/^-- include /m);
});

describe.each(NAMES)('%s', (name) => {
  test('begins with its name and purpose, and has all sections in order', () => {
    const { header } = read(name);
    expect(header).toMatch(new RegExp(`^${name}: [a-z].+\\.\n`));
    const places = SECTIONS.map((section) => header.search(new RegExp(`^${section}\\b`, 'm')));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
  });

  test('header, body and loader agree on the keys', () => {
    const { header, body } = read(name);
    expect(numbered(header, 'KEYS', 'ARGV')).toEqual(upTo(SCRIPT_KEYS[name]));
    const reached = greatestIndex(body, 'KEYS');
    expect(reached).toBe(SCRIPT_KEYS[name]);
  });

  test('header and body agree on the arguments', () => {
    const { header, body } = read(name);
    const listed = numbered(header, 'ARGV', 'Returns');
    expect(listed).toEqual(upTo(listed.length));
    const rest = /unpack\(ARGV, (\d+)\)/.exec(body)?.[1];
    expect(listed).toHaveLength(Math.max(greatestIndex(body, 'ARGV'), Number(rest ?? 0)));
  });

  test('names the file that calls it', () => {
    const caller = /^Called by +(\S+\.ts)/m.exec(read(name).header)?.[1] ?? '';
    const source = new URL(`../src/redis/${caller}`, import.meta.url);
    expect(existsSync(source), caller).toBe(true);
    expect(readFileSync(source, 'utf8')).toContain(`'${name}'`);
  });

  test('turns numbers into text by format alone', () => {
    // `..` and tostring round to 14 digits.
    expect(read(name).body).not.toMatch(/tostring\(|\.\. *(?:now_ms|sequence|token|mark)\b/);
  });
});

describe('who takes the writes of a partition', () => {
  /** Scripts that write without asking, and why they may. */
  const UNGUARDED: Readonly<Record<string, string>> = {
    deployment: 'writes how the deployment was made, once',
    'take-over': 'answers the question',
    'group-request': 'writes to the slot of a user',
  };
  const WRITE =
    /redis\.call\(\s*'(?:HSET|HSETNX|HDEL|HINCRBY|ZADD|ZREM|XADD|XDEL|XTRIM|SET|DEL|UNLINK|INCR|RPUSH|LPUSH|SADD|SREM)'|write\('/;
  // What follows a lease is checked by its token; nothing there has a sequence.
  const mayWrite = (name: ScriptName): boolean => /^(?:user|outbox|hooks)-/.test(name) || name in UNGUARDED;

  test.each(NAMES)('%s asks, when it writes to a conversation', (name) => {
    const { header, body } = read(name);
    const writes = WRITE.test(body);
    if (!mayWrite(name)) expect({ writes, guarded: isGuarded(name) }).toEqual({ writes, guarded: writes });
    if (!isGuarded(name)) return;
    // Its last two keys are those of the guard, and nothing is written before it has asked.
    const last = SCRIPT_KEYS[name];
    const lines = header.split('\n');
    expect(lines.find((line) => line.startsWith(` ${String(last - 1).padStart(2)}  reserved `))).toBeDefined();
    expect(lines.find((line) => line.startsWith(` ${String(last).padStart(2)}  partition `))).toBeDefined();
    expect(body).toMatch(new RegExp(`reserved_key, partition_key = [^\n]*KEYS\\[${last - 1}\\], KEYS\\[${last}\\]`));
    expect(body.search(WRITE)).toBeGreaterThan(body.indexOf("return { 'takeOver' }"));
    expect(header).toContain("{ 'takeOver' }");
    expect(body).toContain('renewal(');
  });

  test('leaves out as many sequences as everything else that may have lost some', () => {
    expect(scriptText('commit')).toContain(`local SKIPPED = ${SEQUENCES_SKIPPED_AFTER_LOSS} `);
  });
});

describe('what commit knows of stored forms', () => {
  const { body } = read('commit');

  test('are the fields of the facts, in their order', () => {
    const list = /local FIELDS = \{([^}]*)\}/.exec(body)?.[1] ?? '';
    expect([...list.matchAll(/'(\w+)'/g)].map(([, field]) => field)).toEqual([...FACT_FIELDS]);
  });

  test('is the size of a de-duplication entry, and where its fingerprint begins', () => {
    expect(body).toContain(`#entry ~= ${DEDUP_ENTRY_BYTES}`);
    expect(body).toContain(`string.sub(entry, ${DEDUP_FINGERPRINT_OFFSET + 1})`);
  });
});
