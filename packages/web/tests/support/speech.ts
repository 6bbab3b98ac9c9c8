/** Sentences without a page: in English or Chinese, everybody called by id but Bob. */
import i18next from 'i18next';
import { en } from '../../src/i18n/en.js';
import type { Say } from '../../src/i18n/i18n.js';
import { zh } from '../../src/i18n/zh.js';
import type { Speech } from '../../src/shared/texts.js';

const spoken = i18next.createInstance({
  lng: 'en',
  resources: { en: { page: en }, zh: { page: zh } },
  defaultNS: 'page',
  keySeparator: false,
  nsSeparator: false,
  initAsync: false,
  interpolation: { escapeValue: false },
});
void spoken.init();

export const english: Say = spoken.getFixedT('en', 'page');
export const chinese: Say = spoken.getFixedT('zh', 'page');

export const speech = (say: Say = english): Speech => ({ say, userId: 'alice', nameOf: (id) => (id === 'bob' ? 'Bob B.' : id) });
export const hasSentence = (key: string): boolean => key in en;
