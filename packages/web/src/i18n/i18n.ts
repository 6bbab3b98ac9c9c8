/** Which language the page speaks: what was chosen here, else the browser's, else English. */
import i18next, { type TFunction } from 'i18next';
import { initReactI18next } from 'react-i18next';
import { readPreference, storePreference } from '../shared/preferences.js';
import { en } from './en.js';
import { zh } from './zh.js';

export const LANGUAGES = { en: 'English', zh: '中文' } as const;
export type Language = keyof typeof LANGUAGES;

/** How a sentence is got. */
export type Say = TFunction<'page'>;

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'page';
    resources: { page: typeof en };
    keySeparator: false;
    nsSeparator: false;
  }
}

function languageAtStart(): Language {
  const chosen = readPreference('language');
  if (chosen === 'en' || chosen === 'zh') return chosen;
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

/** All sentences, and how they are written. */
export const SENTENCES = {
  fallbackLng: 'en',
  resources: { en: { page: en }, zh: { page: zh } },
  defaultNS: 'page',
  keySeparator: false,
  nsSeparator: false,
  initAsync: false,
  // React escapes by itself.
  interpolation: { escapeValue: false },
} as const;

export function startLanguage(): void {
  void i18next.use(initReactI18next).init({ lng: languageAtStart(), ...SENTENCES });
  document.documentElement.lang = i18next.language;
}

export function languageNow(): Language {
  return i18next.language === 'zh' ? 'zh' : 'en';
}

export function chooseLanguage(language: Language): void {
  storePreference('language', language);
  void i18next.changeLanguage(language);
  document.documentElement.lang = language;
}
