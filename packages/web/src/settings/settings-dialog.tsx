import { useProfile, useQim } from '@qim/client/react';
import { type ReactElement, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { chooseLanguage, LANGUAGES, type Language, languageNow } from '../i18n/i18n.js';
import { Dialog } from '../shared/dialog.js';
import { useMe } from '../shared/me.js';
import { Problem } from '../shared/problem.js';
import { TextField } from '../shared/text-field.js';
import { chooseTheme, THEMES, type Theme, themeNow } from '../shared/theme.js';
import { useChanges } from '../shared/use-changes.js';
import { useSay } from '../shared/use-speech.js';
import { submitting } from '../shared/writing.js';
import { BlockedPeople } from './blocked-people.js';
import { Choice } from './choice.js';
import { NotificationSwitch } from './notification-switch.js';

const THEME_SENTENCES = { system: 'settings.themeSystem', light: 'settings.themeLight', dark: 'settings.themeDark' } as const;

export function SettingsDialog({ onClose }: { readonly onClose: () => void }): ReactElement {
  const { t: say } = useTranslation('page');
  const [theme, setTheme] = useState(themeNow);
  const userId = useMe();
  const profile = useProfile(userId);
  return (
    <Dialog title={say('settings.title')} onClose={onClose}>
      {/* Begun anew once the name is known. */}
      <NameForm key={profile?.displayName ?? ''} name={profile?.displayName ?? ''} avatarUrl={profile?.avatarUrl ?? ''} />
      <div className="mt-4 space-y-4">
        <Choice<Language>
          label={say('settings.language')}
          value={languageNow()}
          options={Object.entries(LANGUAGES).map(([value, text]) => ({ value: value as Language, text }))}
          onValue={chooseLanguage}
        />
        <Choice<Theme>
          label={say('settings.theme')}
          value={theme}
          options={THEMES.map((value) => ({ value, text: say(THEME_SENTENCES[value]) }))}
          onValue={(value) => {
            chooseTheme(value);
            setTheme(value);
          }}
        />
        <NotificationSwitch />
        <BlockedPeople />
      </div>
    </Dialog>
  );
}

/** A profile is set as a whole: the picture stays what it is. */
function NameForm({ name, avatarUrl }: { readonly name: string; readonly avatarUrl: string }): ReactElement {
  const say = useSay();
  const client = useQim();
  const userId = useMe();
  const [wanted, setWanted] = useState(name);
  const { busy, problem, run } = useChanges();
  const save = (): void => void run(() => client.setProfile({ displayName: wanted.trim(), avatarUrl }));
  return (
    <>
      <form onSubmit={submitting(save)} className="flex items-end gap-2">
        <TextField label={say('settings.displayName')} value={wanted} onValue={setWanted} placeholder={userId} />
        <button type="submit" className="button button-quiet" disabled={busy || wanted.trim() === name}>
          {say('act.save')}
        </button>
      </form>
      <Problem text={problem} />
    </>
  );
}
