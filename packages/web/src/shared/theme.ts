/** Light or dark: what was chosen here, else as the system says. The style sheet follows `data-theme`, and the system without it. */
import { readPreference, storePreference } from './preferences.js';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export function themeNow(): Theme {
  const chosen = readPreference('theme');
  return chosen === 'light' || chosen === 'dark' ? chosen : 'system';
}

export function showTheme(): void {
  const theme = themeNow();
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function chooseTheme(theme: Theme): void {
  storePreference('theme', theme);
  showTheme();
}
