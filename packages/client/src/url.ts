import type { Account } from './client.js';

/** http and https become ws and wss. @throws TypeError for what is no URL */
export function socketUrl(url: string): string {
  const whole = new URL(url);
  whole.protocol = whole.protocol === 'https:' || whole.protocol === 'wss:' ? 'wss:' : 'ws:';
  whole.pathname = `${whole.pathname.replace(/\/$/, '')}/ws`;
  whole.search = '';
  return whole.href;
}

/** Under which a storage keeps what is this user's on this server, and nobody else's. The number is that of the form. */
export function accountName(url: string, { userId, tenant }: Account): string {
  return `qim/1/${[socketUrl(url), String(tenant ?? 0), userId].map(encodeURIComponent).join('/')}`;
}
