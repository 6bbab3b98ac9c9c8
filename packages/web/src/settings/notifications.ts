/** The browser's own notifications: whether they are wanted here, and one of them. */
import { readPreference, storePreference } from '../shared/preferences.js';

export function notificationsAreOn(): boolean {
  return readPreference('notifications') === 'on' && 'Notification' in globalThis && Notification.permission === 'granted';
}

export async function turnNotifications(on: boolean): Promise<'on' | 'off' | 'denied'> {
  const isAllowed = on && 'Notification' in globalThis && (await Notification.requestPermission()) === 'granted';
  storePreference('notifications', isAllowed ? 'on' : 'off');
  if (isAllowed) return 'on';
  return on ? 'denied' : 'off';
}

export interface Shown {
  readonly title: string;
  readonly text: string;
  /** A later one of the same conversation takes the place of the earlier. */
  readonly conversationId: string;
  readonly onClick: () => void;
}

export function notify({ title, text, conversationId, onClick }: Shown): void {
  const notification = new Notification(title, { body: text, tag: `qim-${conversationId}`, icon: '/favicon.svg' });
  notification.onclick = () => {
    window.focus();
    onClick();
    notification.close();
  };
}
