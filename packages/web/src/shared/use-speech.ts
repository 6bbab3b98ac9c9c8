import { useTranslation } from 'react-i18next';
import type { Say } from '../i18n/i18n.js';
import { useMe } from './me.js';
import { useNames } from './names.js';
import { errorText, type Speech } from './texts.js';

export function useSay(): Say {
  return useTranslation('page').t;
}

/** Renders again with another language, and when one of these people is called otherwise. */
export function useSpeech(userIds: readonly string[] = []): Speech {
  return { say: useSay(), userId: useMe(), nameOf: useNames(userIds) };
}

/** A failure in words for people. */
export function useErrorText(): (error: unknown) => string {
  const { t, i18n } = useTranslation('page');
  return (error) => errorText(error, t, (key) => i18n.exists(key));
}
