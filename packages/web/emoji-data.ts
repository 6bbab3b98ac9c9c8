/**
 * Emoji and their words, served by the page's own server under /emoji: what the picker reads of emojibase-data, and nothing
 * else of it, which is a third.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Plugin } from 'vite';

const LANGUAGES = ['en', 'zh'] as const;
const READ = ['emoji', 'group', 'label', 'order', 'skins', 'tags', 'tone', 'type', 'version'] as const;

type Emoji = { readonly [K in (typeof READ)[number]]?: unknown };

export function emojiData(): Plugin {
  return {
    name: 'qim-emoji-data',
    generateBundle() {
      for (const language of LANGUAGES) {
        const emojis = JSON.parse(readData(language, 'data')) as readonly Emoji[];
        this.emitFile({ type: 'asset', fileName: `emoji/${language}/data.json`, source: JSON.stringify(emojis.map(slim)) });
        this.emitFile({ type: 'asset', fileName: `emoji/${language}/messages.json`, source: readData(language, 'messages') });
      }
    },
  };
}

function readData(language: string, name: 'data' | 'messages'): string {
  return readFileSync(createRequire(import.meta.url).resolve(`emojibase-data/${language}/${name}.json`), 'utf8');
}

function slim(emoji: Emoji): Emoji {
  const kept: Record<string, unknown> = {};
  for (const key of READ) if (emoji[key] !== undefined) kept[key] = emoji[key];
  if (Array.isArray(emoji.skins)) kept.skins = emoji.skins.map((skin: Emoji) => slim(skin));
  return kept;
}
