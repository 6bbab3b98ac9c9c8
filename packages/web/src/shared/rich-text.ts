/** Text in pieces: what is a link, what names somebody, and the rest. Nothing of it is ever markup. */

export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  /** Always http or https. */
  | { readonly kind: 'link'; readonly text: string; readonly href: string }
  | { readonly kind: 'mention'; readonly text: string };

/** Up to white space, a quote or an angle bracket; in Chinese text, up to its punctuation. */
const LINK = /https?:\/\/[^\s<>"'`，。！？；：、）》」』】]+/giu;
/** What ends a sentence, and not the address in it. */
const TRAILING = /[.,!?;:)\]}]+$/u;

/** `names`: those who are mentioned, as they are written after the @. */
export function piecesOf(text: string, names: readonly string[]): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const found of text.matchAll(LINK)) {
    const link = trimmed(found[0]);
    const href = hrefOf(link);
    if (href === undefined) continue;
    pieces.push(...mentionsIn(text.slice(from, found.index), names), { kind: 'link', text: link, href });
    from = found.index + link.length;
  }
  pieces.push(...mentionsIn(text.slice(from), names));
  return pieces;
}

/** Without the sentence's end; a closing bracket stays when it was opened within, as in the names of some articles. */
function trimmed(link: string): string {
  const end = TRAILING.exec(link);
  if (end === null) return link;
  const short = link.slice(0, end.index);
  return end[0].startsWith(')') && short.includes('(') ? `${short})` : short;
}

function hrefOf(link: string): string | undefined {
  try {
    const { protocol, href, hostname } = new URL(link);
    return (protocol === 'http:' || protocol === 'https:') && hostname !== '' ? href : undefined;
  } catch {
    return undefined; // Not an address after all.
  }
}

function mentionsIn(text: string, names: readonly string[]): Piece[] {
  const pieces: Piece[] = [];
  // The longest name first: @Ann must not take the beginning of @Anna.
  const marks = names.map((name) => `@${name}`).sort((a, b) => b.length - a.length);
  let from = 0;
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    const mark = marks.find((one) => text.startsWith(one, at));
    if (mark === undefined) continue;
    if (at > from) pieces.push({ kind: 'text', text: text.slice(from, at) });
    pieces.push({ kind: 'mention', text: mark });
    from = at + mark.length;
    at = from - 1;
  }
  if (from < text.length) pieces.push({ kind: 'text', text: text.slice(from) });
  return pieces;
}
