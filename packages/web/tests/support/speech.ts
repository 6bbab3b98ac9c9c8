/** Sentences without a page: in English or Chinese, everybody called by id but Bob. */
import i18next from 'i18next';
import { en } from '../../src/i18n/en.js';
import { type Say, SENTENCES } from '../../src/i18n/i18n.js';
import type { Speech } from '../../src/shared/texts.js';

const spoken = i18next.createInstance();
void spoken.init({ lng: 'en', ...SENTENCES });

export const english: Say = spoken.getFixedT('en', 'page');
export const chinese: Say = spoken.getFixedT('zh', 'page');

export const speech = (say: Say = english): Speech => ({ say, userId: 'alice', nameOf: (id) => (id === 'bob' ? 'Bob B.' : id) });
export const hasSentence = (key: string): boolean => key in en;
