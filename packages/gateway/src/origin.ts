/** Which names a request may use for this server, and which pages it may come from. */

const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * False: the Host header is missing or no host. With `loopbackOnly` (--dev) only the names of this machine are taken, so that
 * a foreign page whose name was pointed at 127.0.0.1 cannot ask for a token.
 */
export function hostIsAllowed(host: string | undefined, loopbackOnly: boolean): boolean {
  const name = host === undefined ? undefined : hostnameOf(host);
  return name !== undefined && (!loopbackOnly || LOOPBACK_NAMES.has(name));
}

function hostnameOf(host: string): string | undefined {
  // A URL takes more than a host: a path or a user in it would be cut off quietly.
  if (!/^[A-Za-z0-9._~%-]+(:\d{1,5})?$|^\[[0-9A-Fa-f:.]+\](:\d{1,5})?$/.test(host)) return undefined;
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : undefined;
}

/** No Origin header: no browser, or a navigation. `allowed` are whole origins such as `https://chat.example`. */
export function originIsAllowed(origin: string | undefined, host: string | undefined, allowed: readonly string[]): boolean {
  if (origin === undefined || allowed.includes(origin)) return true;
  if (host === undefined || !URL.canParse(origin)) return false;
  const { protocol, host: from } = new URL(origin);
  // Through URL on both sides, so that a default port or capital letters make no difference.
  return URL.canParse(`${protocol}//${host}`) && new URL(`${protocol}//${host}`).host === from && from !== '';
}
