/** Names from a field: separated by commas or white space, each once. */
export function namesFrom(text: string): string[] {
  return [...new Set(text.split(/[\s,;，、]+/).filter((name) => name !== ''))];
}
