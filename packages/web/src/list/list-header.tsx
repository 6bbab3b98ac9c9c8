import { useQim } from '@qim/client/react';
import { CheckCheck, Keyboard, LogOut, Search, Settings, SquarePen } from 'lucide-react';
import type { ReactElement, Ref } from 'react';
import { Avatar } from '../shared/avatar.js';
import { IconButton } from '../shared/icon-button.js';
import { useMe } from '../shared/me.js';
import { Menu, MenuItem, MenuLine } from '../shared/menu.js';
import { useName } from '../shared/names.js';
import { useTell } from '../shared/tell.js';
import { useSay } from '../shared/use-speech.js';

interface ListHeaderProps {
  readonly filter: string;
  readonly onFilter: (filter: string) => void;
  readonly filterBox: Ref<HTMLInputElement>;
  readonly onNew: () => void;
  readonly onSettings: () => void;
  readonly onHelp: () => void;
  readonly onSignOut: () => void;
}

export function ListHeader({ filter, onFilter, filterBox, onNew, ...menu }: ListHeaderProps): ReactElement {
  const say = useSay();
  return (
    <header className="shrink-0 space-y-2 px-3 pt-3 pb-2">
      <h1 className="sr-only">{say('list.section')}</h1>
      <div className="flex items-center gap-2">
        <OwnMenu {...menu} />
        <span className="flex-1" />
        <IconButton icon={SquarePen} label={say('list.new')} onClick={onNew} />
      </div>
      <label className="relative block">
        <Search aria-hidden="true" className="pointer-events-none absolute top-2.5 left-3 size-4 text-muted" />
        <input
          ref={filterBox}
          type="search"
          className="field rounded-full border-transparent bg-raised pl-9"
          aria-label={say('list.filter')}
          placeholder={say('list.filter')}
          value={filter}
          onChange={(event) => onFilter(event.target.value)}
        />
      </label>
    </header>
  );
}

function OwnMenu({ onSettings, onHelp, onSignOut }: Pick<ListHeaderProps, 'onSettings' | 'onHelp' | 'onSignOut'>): ReactElement {
  const say = useSay();
  const client = useQim();
  const { trying } = useTell();
  const userId = useMe();
  const name = useName(userId);
  return (
    <Menu
      label={say('menu.own')}
      align="start"
      trigger={
        <button type="button" className="flex min-w-0 items-center gap-2.5 rounded-lg p-1 pr-2 hover:bg-hover">
          <Avatar id={userId} name={name} size="small" />
          <span className="sr-only">{say('menu.own')}: </span>
          <span className="truncate font-semibold" data-testid="me">
            {name}
          </span>
        </button>
      }
    >
      <MenuItem icon={Settings} onSelect={onSettings}>
        {say('menu.settings')}
      </MenuItem>
      <MenuItem icon={CheckCheck} onSelect={() => trying(() => client.markAllRead())}>
        {say('menu.readAll')}
      </MenuItem>
      <MenuItem icon={Keyboard} onSelect={onHelp}>
        {say('menu.help')}
      </MenuItem>
      <MenuLine />
      <MenuItem icon={LogOut} onSelect={onSignOut}>
        {say('menu.signOut')}
      </MenuItem>
    </Menu>
  );
}
