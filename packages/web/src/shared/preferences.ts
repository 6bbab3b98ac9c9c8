/** What somebody chose for this browser: not part of any account. */
export type Preference = 'language' | 'theme' | 'notifications';

export function readPreference(name: Preference): string | null {
  return localStorage.getItem(`qim-${name}`);
}

export function storePreference(name: Preference, value: string): void {
  localStorage.setItem(`qim-${name}`, value);
}
