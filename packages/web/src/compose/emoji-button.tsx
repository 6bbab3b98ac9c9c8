import type { LucideIcon } from 'lucide-react';
import { Plus } from 'lucide-react';
import { Popover } from 'radix-ui';
import { lazy, type ReactElement, Suspense, useState } from 'react';
import { IconButton } from '../shared/icon-button.js';
import { useSay } from '../shared/use-speech.js';

/** Fetched when it is first opened: few visits need it. */
const EmojiPicker = lazy(() => import('./emoji-picker.js'));

interface EmojiButtonProps {
  readonly icon: LucideIcon;
  readonly label: string;
  readonly small?: boolean;
  /** Offered before all the others. */
  readonly quick?: readonly string[];
  readonly onEmoji: (emoji: string) => void;
  readonly onOpenChange?: (open: boolean) => void;
}

export function EmojiButton({ icon, label, small = false, quick = [], onEmoji, onOpenChange }: EmojiButtonProps): ReactElement {
  const say = useSay();
  const [open, setOpen] = useState(false);
  const [wantsAll, setWantsAll] = useState(false);
  function change(next: boolean): void {
    setOpen(next);
    if (!next) setWantsAll(false);
    onOpenChange?.(next);
  }
  function choose(emoji: string): void {
    onEmoji(emoji);
    change(false);
  }
  return (
    <Popover.Root open={open} onOpenChange={change}>
      <Popover.Trigger asChild>
        <IconButton icon={icon} label={label} small={small} />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          aria-label={say('emoji.label')}
          side="top"
          // A row lies over its button; all of them begin at it, within the pane.
          align={quick.length > 0 ? 'center' : 'start'}
          sideOffset={6}
          collisionPadding={8}
          className="z-20 rounded-xl border border-line bg-pane shadow-lg"
        >
          {quick.length > 0 && !wantsAll ? (
            <Quick emojis={quick} onEmoji={choose} onMore={() => setWantsAll(true)} />
          ) : (
            <Suspense fallback={<p className="p-6 text-sm text-muted">{say('emoji.loading')}</p>}>
              <EmojiPicker onEmoji={choose} />
            </Suspense>
          )}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

interface QuickProps {
  readonly emojis: readonly string[];
  readonly onEmoji: (emoji: string) => void;
  readonly onMore: () => void;
}

function Quick({ emojis, onEmoji, onMore }: QuickProps): ReactElement {
  const say = useSay();
  return (
    <div className="flex items-center gap-0.5 p-1">
      {emojis.map((emoji) => (
        <button
          key={emoji}
          type="button"
          aria-label={say('message.reactWith', { emoji })}
          className="flex size-9 items-center justify-center rounded-lg font-emoji text-xl hover:bg-hover"
          onClick={() => onEmoji(emoji)}
        >
          {emoji}
        </button>
      ))}
      <IconButton icon={Plus} label={say('message.moreEmoji')} onClick={onMore} />
    </div>
  );
}
