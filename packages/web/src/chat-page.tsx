import { useQim } from '@qim/client/react';
import { MessagesSquare } from 'lucide-react';
import { type ReactElement, useCallback, useMemo, useRef, useState } from 'react';
import { ConversationPane } from './chat/conversation-pane.js';
import { DraftPane } from './chat/draft-pane.js';
import { ConnectionLine } from './connection-line.js';
import { NewChatDialog } from './groups/new-chat-dialog.js';
import { ConversationList } from './list/conversation-list.js';
import { ListHeader } from './list/list-header.js';
import { HelpDialog } from './settings/help-dialog.js';
import { SettingsDialog } from './settings/settings-dialog.js';
import { useNotifications } from './settings/use-notifications.js';
import { Notice } from './shared/notice.js';
import { type Selection, useSelection } from './shared/selection.js';
import { useShortcuts } from './shared/use-shortcuts.js';
import { useSay } from './shared/use-speech.js';
import { useTitle } from './shared/use-title.js';

type Sheet = 'none' | 'new' | 'settings' | 'help';

/** Two panes on a wide screen, one at a time on a phone. */
export function ChatPage({ onSignOut }: { readonly onSignOut: () => void }): ReactElement {
  const say = useSay();
  const { selection, onSelect, onClose, onDirect } = useOpened();
  const [sheet, setSheet] = useState<Sheet>('none');
  const [filter, setFilter] = useState('');
  const filterBox = useRef<HTMLInputElement>(null);
  const closeSheet = (): void => setSheet('none');
  const isOpen = selection.kind !== 'none';
  const selectedId = selection.kind === 'conversation' ? selection.conversationId : undefined;
  useTitle();
  useNotifications(onSelect);
  usePageKeys({ selectedId, filterBox, setSheet, onSelect, onClose });
  return (
    <div className="flex h-full flex-col">
      <ConnectionLine onSignOut={onSignOut} />
      <div className="flex min-h-0 flex-1">
        <section
          aria-label={say('list.section')}
          className={`w-full flex-col border-line bg-pane md:flex md:w-80 md:border-r lg:w-96 ${isOpen ? 'hidden' : 'flex'}`}
        >
          <ListHeader
            filter={filter}
            onFilter={setFilter}
            filterBox={filterBox}
            onNew={() => setSheet('new')}
            onSettings={() => setSheet('settings')}
            onHelp={() => setSheet('help')}
            onSignOut={onSignOut}
          />
          <ConversationList selectedId={selectedId} filter={filter} onSelect={onSelect} onNewChat={() => setSheet('new')} />
        </section>
        <main className={`min-w-0 flex-1 flex-col md:flex ${isOpen ? 'flex' : 'hidden'}`}>
          <OpenPane selection={selection} onSelect={onSelect} onClose={onClose} onDirect={onDirect} />
        </main>
      </div>
      {sheet === 'new' && <NewChatDialog onClose={closeSheet} onDirect={onDirect} onGroup={onSelect} />}
      {sheet === 'settings' && <SettingsDialog onClose={closeSheet} />}
      {sheet === 'help' && <HelpDialog onClose={closeSheet} />}
    </div>
  );
}

interface OpenPaneProps {
  readonly selection: Selection;
  readonly onSelect: (conversationId: string) => void;
  readonly onClose: () => void;
  readonly onDirect: (userId: string) => void;
}

function OpenPane({ selection, onSelect, onClose, onDirect }: OpenPaneProps): ReactElement {
  const say = useSay();
  switch (selection.kind) {
    case 'conversation': {
      const { conversationId } = selection;
      return <ConversationPane key={conversationId} conversationId={conversationId} onClose={onClose} onDirect={onDirect} />;
    }
    case 'draft':
      return <DraftPane key={selection.toUserId} toUserId={selection.toUserId} onClose={onClose} onStarted={onSelect} />;
    case 'none':
      return (
        <div className="m-auto">
          <Notice icon={MessagesSquare} title={say('list.chosen')}>
            {say('list.chosenNote')}
          </Notice>
        </div>
      );
  }
}

/** What is open, and how to open something else. */
function useOpened() {
  const client = useQim();
  const [selection, select] = useSelection();
  const onSelect = useCallback((conversationId: string) => select({ kind: 'conversation', conversationId }), [select]);
  const onClose = useCallback(() => select({ kind: 'none' }), [select]);
  const onDirect = useCallback(
    (toUserId: string) => {
      const { conversations } = client.conversations.snapshot();
      const held = conversations.find(({ kind, peerUserId }) => kind === 'direct' && peerUserId === toUserId);
      if (held === undefined) select({ kind: 'draft', toUserId });
      else onSelect(held.conversationId);
    },
    [client, select, onSelect],
  );
  return { selection, onSelect, onClose, onDirect };
}

interface PageKeys {
  readonly selectedId: string | undefined;
  readonly filterBox: { readonly current: HTMLInputElement | null };
  readonly setSheet: (sheet: Sheet) => void;
  readonly onSelect: (conversationId: string) => void;
  readonly onClose: () => void;
}

function usePageKeys({ selectedId, filterBox, setSheet, onSelect, onClose }: PageKeys): void {
  const client = useQim();
  const shortcuts = useMemo(
    () => ({
      onFind: () => filterBox.current?.focus(),
      onNew: () => setSheet('new'),
      onHelp: () => setSheet('help'),
      onWrite: () => document.querySelector<HTMLElement>('[data-compose]')?.focus(),
      onEscape: onClose,
      onMove: (step: 1 | -1) => {
        const { conversations } = client.conversations.snapshot();
        const at = conversations.findIndex(({ conversationId }) => conversationId === selectedId);
        const next = conversations[at === -1 ? 0 : at + step];
        if (next !== undefined) onSelect(next.conversationId);
      },
    }),
    [client, selectedId, filterBox, setSheet, onSelect, onClose],
  );
  useShortcuts(shortcuts);
}
