/** Naming people as one writes: what is being asked for at the caret, and who is named in the end. */

export interface Asked {
  /** Where the @ stands. */
  readonly from: number;
  /** What was written after it. */
  readonly begun: string;
}

/** Undefined: the caret is not behind an @ that begins a word. */
export function askedAt(text: string, caret: number): Asked | undefined {
  const [found, begun] = /(?:^|[\s(（，。])@([^\s@]{0,40})$/u.exec(text.slice(0, caret)) ?? [];
  return found === undefined || begun === undefined ? undefined : { from: caret - begun.length - 1, begun };
}

export interface Candidate {
  /** Undefined: everybody. */
  readonly userId: string | undefined;
  readonly name: string;
}

/** Whose name or id begins so, at most `max`. */
export function candidatesFor(begun: string, people: readonly Candidate[], max: number): Candidate[] {
  const wanted = begun.toLocaleLowerCase();
  const begins = (text: string): boolean => text.toLocaleLowerCase().startsWith(wanted);
  return people.filter(({ userId, name }) => begins(name) || (userId !== undefined && begins(userId))).slice(0, max);
}

/** The text with the name in place of what was begun, and where the caret is then. */
export function withName(text: string, asked: Asked, caret: number, name: string): { readonly text: string; readonly caret: number } {
  const piece = `@${name} `;
  return { text: text.slice(0, asked.from) + piece + text.slice(caret), caret: asked.from + piece.length };
}

/** Of those who were chosen, the ones whose names are still there. */
export function namedIn(text: string, chosen: readonly Candidate[]): { readonly mentionUserIds: string[]; readonly mentionAll: boolean } {
  const named = chosen.filter(({ name }) => text.includes(`@${name}`));
  const userIds = named.map(({ userId }) => userId).filter((userId) => userId !== undefined);
  return { mentionUserIds: [...new Set(userIds)], mentionAll: named.some(({ userId }) => userId === undefined) };
}
