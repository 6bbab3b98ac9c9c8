import {
  type EmojiPickerListCategoryHeaderProps,
  type EmojiPickerListEmojiProps,
  type EmojiPickerListRowProps,
  EmojiPicker as Picker,
} from 'frimousse';
import type { ReactElement } from 'react';
import { useTranslation } from 'react-i18next';

/** All emoji, with the words of the page's language; their data comes from this server. */
export default function EmojiPicker({ onEmoji }: { readonly onEmoji: (emoji: string) => void }): ReactElement {
  const { t: say, i18n } = useTranslation('page');
  return (
    <Picker.Root
      className="isolate flex h-80 w-76 flex-col"
      locale={i18n.language === 'zh' ? 'zh' : 'en'}
      emojibaseUrl="/emoji"
      onEmojiSelect={({ emoji }) => onEmoji(emoji)}
    >
      <Picker.Search className="field mx-2 mt-2 w-auto" placeholder={say('emoji.search')} aria-label={say('emoji.search')} autoFocus />
      <Picker.Viewport className="relative flex-1 outline-hidden">
        <Picker.Loading className="absolute inset-0 flex items-center justify-center text-sm text-muted">
          {say('emoji.loading')}
        </Picker.Loading>
        <Picker.Empty className="absolute inset-0 flex items-center justify-center text-sm text-muted">{say('emoji.none')}</Picker.Empty>
        <Picker.List className="pb-2 select-none" components={PARTS} />
      </Picker.Viewport>
    </Picker.Root>
  );
}

function CategoryHeader({ category, ...props }: EmojiPickerListCategoryHeaderProps): ReactElement {
  return (
    <div {...props} className="bg-pane px-3 pt-3 pb-1.5 text-xs font-medium text-muted">
      {category.label}
    </div>
  );
}

function Row({ children, ...props }: EmojiPickerListRowProps): ReactElement {
  return (
    <div {...props} className="scroll-my-1.5 px-2">
      {children}
    </div>
  );
}

function Emoji({ emoji, ...props }: EmojiPickerListEmojiProps): ReactElement {
  return (
    <button {...props} type="button" className="flex size-8 items-center justify-center rounded-md font-emoji text-lg data-active:bg-hover">
      {emoji.emoji}
    </button>
  );
}

const PARTS = { CategoryHeader, Row, Emoji };
