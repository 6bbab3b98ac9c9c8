import { type ReactElement, useState } from 'react';
import { SwitchRow } from '../shared/switch-row.js';
import { useSay } from '../shared/use-speech.js';
import { notificationsAreOn, turnNotifications } from './notifications.js';

/** Asks the browser when it is turned on. */
export function NotificationSwitch(): ReactElement {
  const say = useSay();
  const [state, setState] = useState<'on' | 'off' | 'denied'>(notificationsAreOn() ? 'on' : 'off');
  async function turn(on: boolean): Promise<void> {
    setState(await turnNotifications(on));
  }
  return (
    <div>
      <SwitchRow label={say('settings.notify')} checked={state === 'on'} onChecked={(on) => void turn(on)} />
      {state === 'denied' && <p className="text-sm text-danger">{say('settings.notifyDenied')}</p>}
    </div>
  );
}
