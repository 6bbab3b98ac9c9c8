/** Commands that a document shows: what `npm run` and `qim` are told there must be there. Pure. */
export interface Shown {
  readonly kind: 'script' | 'command' | 'flag';
  /** `npm run X`, `qim X`, `qim X --flag`, as it is shown. */
  readonly text: string;
  readonly name: string;
  /** Of a flag: of which command. */
  readonly of: string;
}

/** The command ends with what ends a command in a shell or in a sentence. */
const END = /[`|;&\n]|\s#|$/;

/** Of code alone, in fences and between backticks: prose may say what it likes. */
export function shownIn(markdown: string): Shown[] {
  return codeOf(markdown).flatMap((code) => [...scriptsIn(code), ...qimIn(code)]);
}

function codeOf(markdown: string): string[] {
  const fences = [...markdown.matchAll(/^```[^\n]*\n([\s\S]*?)^```/gm)].map((match) => match[1] ?? '');
  const prose = markdown.replace(/^```[^\n]*\n[\s\S]*?^```/gm, '');
  return [
    ...fences.map((code) => code.replace(/\\\n\s*/g, ' ')),
    ...[...prose.matchAll(/`([^`]+)`/g)].map((match) => (match[1] ?? '').replace(/\n/g, ' ')),
  ];
}

function scriptsIn(code: string): Shown[] {
  return [...code.matchAll(/\bnpm run (?:-s )?([a-z][\w:-]*)/g)].map(([text, name = '']) => ({ kind: 'script', text, name, of: '' }));
}

function qimIn(code: string): Shown[] {
  const shown: Shown[] = [];
  for (const match of code.matchAll(/(?:^|[\s(])(?:npx )?qim ([a-z][a-z-]*)/gm)) {
    const name = match[1] ?? '';
    shown.push({ kind: 'command', text: `qim ${name}`, name, of: '' });
    const rest = code.slice(match.index + match[0].length);
    const own = rest.slice(0, END.exec(rest)?.index ?? rest.length);
    for (const [, flag = ''] of own.matchAll(/\s--([a-z][a-z-]*)/g))
      shown.push({ kind: 'flag', text: `qim ${name} --${flag}`, name: flag, of: name });
  }
  return shown;
}
