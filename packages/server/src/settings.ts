/**
 * Every setting of the server, in one table. Flags, `QIM_` variables, help, defaults and docs/configuration.md come from
 * it and from nothing else; names of flags and variables are derived from the keys.
 */

import { trustOf } from '@qim/gateway';
import {
  ACK_REPLICAS_MAX,
  ACK_REPLICAS_WAIT_MS,
  BEFORE_SEND_TIMEOUT_MS_DEFAULT,
  BEFORE_SEND_TIMEOUT_MS_MAX,
  BEFORE_SEND_TIMEOUT_MS_MIN,
  CONNECTIONS_PER_ADDRESS_MAX,
  CONNECTIONS_PER_ANYBODY_MAX,
  CONNECTIONS_PER_USER_MAX,
  DRAIN_DEADLINE_MS_DEFAULT,
  DRAIN_DEADLINE_MS_MAX,
  HELLO_TIMEOUT_MS,
  HELLO_TIMEOUT_MS_MIN,
  HOOK_GIVE_UP_MS_DEFAULT,
  HOOK_GIVE_UP_MS_MAX,
  HOOK_GIVE_UP_MS_MIN,
  OUTBOX_LEASE_MS,
  OUTBOX_LEASE_MS_MIN,
  PING_INTERVAL_MS,
  PING_INTERVAL_MS_MIN,
  RECALL_WINDOW_MS,
  RETENTION_DAYS_MAX,
  RETENTION_MESSAGES_MAX,
  SOCKET_QUEUE_BYTES_MAX,
  SOCKET_QUEUE_BYTES_MIN,
  TOKEN_CLOCK_TOLERANCE_MS_MAX,
} from '@qim/proto';
import { parseDirectMessages } from './direct-messages.js';
import { parseSendRates, parseTenantQuotas, SEND_RATES_DEFAULT, sendRatesText } from './send-rates.js';
import { duration, durationText, integer, oneOf, type Setting, someOf, text, toggle } from './setting.js';

const ROLES = ['gateway', 'session', 'push'] as const;

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The URL of a Redis or of a Redis Cluster, which has many hosts, so that it is none of the platform's URLs. */
export interface RedisLocation {
  /** As it was given, password and all. */
  readonly href: string;
  /** Hosts and ports alone. */
  readonly host: string;
}

/** `embedded`, or where a Redis or a Redis Cluster is. */
export type StoreLocation = 'embedded' | RedisLocation;

function parseStore(given: string): StoreLocation | undefined {
  if (given === 'embedded') return given;
  if (/^rediss?\+cluster:/.test(given)) return clusterLocation(given);
  if (!/^rediss?:\/\//.test(given) || !URL.canParse(given)) return undefined;
  const url = new URL(given);
  return url.hostname === '' ? undefined : url;
}

/** Each of its hosts must do as the only one of a URL. */
function clusterLocation(given: string): RedisLocation | undefined {
  const [, userinfo = '', host = ''] = /^rediss?\+cluster:\/\/([^/]*@)?([^/@]+)\/?$/.exec(given) ?? [];
  const hosts = host.split(',');
  const sound = hosts.every((one) => one !== '' && URL.canParse(`redis://${userinfo}${one}`) && new URL(`redis://${one}`).host === one);
  return sound ? { href: given, host } : undefined;
}

function parseJwksUrl(given: string): URL | undefined {
  if (!URL.canParse(given)) return undefined;
  const url = new URL(given);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined;
}

/** Where a webhook is: what a user has no part in. A name and a password in it would stand in no call. */
function parseWebhookUrl(given: string): URL | undefined {
  const url = parseJwksUrl(given);
  return url === undefined || url.username !== '' || url.password !== '' ? undefined : url;
}

function parseVapidSubject(given: string): string | undefined {
  return /^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/.test(given) && URL.canParse(given) ? given : undefined;
}

const WEBHOOK_URL = { value: 'URL', allowed: 'an http or https URL without a user in it', parse: parseWebhookUrl, secret: true } as const;

function parseOrigins(given: string): readonly string[] | undefined {
  const origins = given.split(',');
  const sound = origins.every((origin) => /^https?:/.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin);
  return sound ? origins : undefined;
}

/** Never given and never empty are one thing: T without undefined. */
const set = <T>(setting: Setting<T> & { readonly fallback: string }): Setting<T> & { readonly fallback: string } => setting;
const unset = <T>(setting: Setting<T> & { readonly fallback: undefined }): Setting<T> & { readonly fallback: undefined } => setting;

export const SETTINGS = {
  dev: set({
    ...toggle,
    fallback: 'false',
    doc: 'For trying qim out: makes a secret in the data folder and lets anyone who reaches the port sign in under any name. Loopback only.',
  }),
  host: set({
    ...text('ADDRESS', 'an address or a name of this machine'),
    fallback: '127.0.0.1',
    doc: 'Address to listen on. 0.0.0.0 or :: for all; then give --tls-cert-file, or put TLS in front.',
  }),
  port: set({
    ...integer(0, 65_535),
    fallback: '7700',
    doc: 'TCP port of HTTP and WebSocket; 0 takes a free one, named in the ready line.',
  }),
  data: set({
    ...text('FOLDER', 'the path of a folder'),
    fallback: './qim-data',
    doc: 'Folder of the embedded store and of the --dev secret; made when it is missing. With Redis only the --dev secret is kept there.',
  }),
  store: set({
    value: 'embedded|URL',
    allowed: 'embedded, redis://host:port/db or redis+cluster://host:port,host:port,…; rediss:// and rediss+cluster:// for TLS',
    parse: parseStore,
    fallback: 'embedded',
    secret: true,
    doc: 'Where messages live. embedded: one process and one folder; a Redis or Redis Cluster URL: any number of processes.',
  }),
  storePasswordFile: unset({
    ...text('FILE', 'the path of a file'),
    fallback: undefined,
    doc: 'File with the password of the Redis, on one line, so that it stands in no URL. The user, if it is not the default one, stays in the URL of --store.',
  }),
  roles: set({
    ...someOf(...ROLES),
    fallback: ROLES.join(','),
    doc: 'What this process does. gateway: the whole API; session: SessionService alone; push: delivery from the outbox, with no API of its own.',
  }),
  jwtSecretFile: unset({
    ...text('FILE', 'the path of a file'),
    fallback: undefined,
    doc: 'File with the secret of HS256 tokens, at least 32 bytes; a second line may hold the previous secret, which still verifies.',
  }),
  jwksUrl: unset({
    value: 'URL',
    allowed: 'an http or https URL',
    parse: parseJwksUrl,
    fallback: undefined,
    secret: true,
    doc: 'JWKS of RS256, ES256 or EdDSA keys that sign the tokens, in place of a secret. MintToken is then not served.',
  }),
  jwksIssuer: unset({
    ...text('TEXT', 'the issuer as its tokens have it'),
    fallback: undefined,
    doc: 'With --jwks-url: the claim iss that a token must have. Not set: not looked at.',
  }),
  jwksAudience: unset({
    ...text('TEXT', 'the audience as the tokens have it'),
    fallback: undefined,
    doc: 'With --jwks-url: what the claim aud of a token must hold. Set it when the issuer signs tokens for other services too.',
  }),
  tokenClockTolerance: set({
    ...duration(0, TOKEN_CLOCK_TOLERANCE_MS_MAX),
    fallback: '0ms',
    doc: 'How far the clock of who signs tokens may be behind or ahead of this one: tokens hold so much longer, and from so much earlier. Whole seconds count.',
  }),
  allowedOrigins: unset({
    value: 'LIST',
    allowed: 'origins such as https://chat.example, separated by commas',
    parse: parseOrigins,
    fallback: undefined,
    doc: 'Pages of these origins may call the API from a browser, beside the page that this server serves itself.',
  }),
  trustedProxies: unset({
    value: 'LIST',
    allowed: 'addresses, networks such as 10.0.0.0/8, loopback, linklocal, uniquelocal, separated by commas',
    parse: (given) => trustOf(given.split(',')),
    fallback: undefined,
    doc: 'Proxies in front of this server. From them alone X-Forwarded-For is believed, by which the limits of an address go. Not set: none, and all that comes through a proxy has its address.',
  }),
  tlsCertFile: unset({
    ...text('FILE', 'the path of a file'),
    fallback: undefined,
    doc: 'PEM file of a certificate and its chain: serves HTTPS and wss. Read at the start; restart for another one.',
  }),
  tlsKeyFile: unset({
    ...text('FILE', 'the path of a file'),
    fallback: undefined,
    doc: 'PEM file of the private key of --tls-cert-file.',
  }),
  requireDurable: set({
    ...toggle,
    fallback: 'false',
    doc: 'Refuse to start on a store whose acknowledgements survive nothing (memory), as a Redis without persistence.',
  }),
  ackReplicas: set({
    ...integer(0, ACK_REPLICAS_MAX),
    fallback: '0',
    doc: `Redis replicas that must have a write to a conversation before it is acknowledged. When too few have it within ${ACK_REPLICAS_WAIT_MS / 1000} s, the call fails with STORE_UNAVAILABLE, its outcome is unknown, and a retry with the same id waits again.`,
  }),
  fastPaths: set({
    ...toggle,
    fallback: 'true',
    doc: 'Internal: false leaves out every short cut, such as the wire that reads pages from Redis. All answers are the same; only for finding out whether a short cut is at fault.',
  }),
  logLevel: set({ ...oneOf(...LOG_LEVELS), fallback: 'info', doc: 'Least level of what is logged, as JSON lines on standard error.' }),
  traces: set({
    ...toggle,
    fallback: 'false',
    doc: 'Tells OpenTelemetry how long calls, writes, the store and deliveries take. Needs the package @opentelemetry/api and an SDK that is loaded before (docs/operations.md).',
  }),
  directMessages: set({
    value: 'RULE',
    allowed: 'anyone, sharedConversation or serverOnly, and for single tenants others, such as anyone,7=serverOnly',
    parse: parseDirectMessages,
    fallback: 'anyone',
    doc: 'Who may send direct messages. sharedConversation: a first one only to users with whom one has a conversation in common; serverOnly: nobody but tokens with admin: true.',
  }),
  sendRates: unset({
    value: 'LIST',
    allowed:
      'off, or rates by user, device, address and tenant, such as user=100/10s,tenant=5000/1s, in windows of whole seconds up to 31d',
    parse: parseSendRates,
    fallback: undefined,
    doc: `How much one user, device, address or tenant may send, counted by all processes of a store together: messages, changes to them, reactions, changes of groups. What is not named has no limit; past one, calls answer RATE_LIMITED and say when to try again. Not set: ${sendRatesText(SEND_RATES_DEFAULT)}, and off under --dev.`,
  }),
  tenantQuotas: unset({
    value: 'LIST',
    allowed: 'a rate such as 1000000/1d, and for single tenants others or off, such as 1000000/1d,7=5000000/1d,8=off',
    parse: parseTenantQuotas,
    fallback: undefined,
    doc: 'How much each tenant may send in a longer time, beside --send-rates and counted in the same way. Not set: no quota.',
  }),
  connectionsPerUser: unset({
    ...integer(1, CONNECTIONS_PER_ANYBODY_MAX),
    fallback: undefined,
    doc: `WebSockets and event streams that one user may have open to this process; one more is told to come back later. Not set: ${CONNECTIONS_PER_USER_MAX}, and any number under --dev.`,
  }),
  connectionsPerAddress: unset({
    ...integer(1, CONNECTIONS_PER_ANYBODY_MAX),
    fallback: undefined,
    doc: `The same for one client address, which is one IPv4 address or one IPv6 network /64; see --trusted-proxies. Not set: ${CONNECTIONS_PER_ADDRESS_MAX}, and any number under --dev.`,
  }),
  recallWindow: set({
    ...duration(0, RECALL_WINDOW_MS),
    fallback: durationText(RECALL_WINDOW_MS),
    doc: 'How long after sending the sender may recall; 0ms: never. Admins of the conversation are not bound by it.',
  }),
  retentionDays: unset({
    ...integer(1, RETENTION_DAYS_MAX),
    fallback: undefined,
    doc: 'Messages older than that go, by the clock of the process with the role push, which sweeps every hour. Not set: kept for ever.',
  }),
  retentionMessages: unset({
    ...integer(1, RETENTION_MESSAGES_MAX),
    fallback: undefined,
    doc: 'Of each conversation so many of the newest messages are kept, and the rest goes; joins and leaves count as messages.',
  }),
  retentionFile: unset({
    ...text('FILE', 'the path of a file'),
    fallback: undefined,
    doc: 'JSON with rules of retention for all, for tenants and for single conversations; its form is in docs/operations.md.',
  }),
  webhookUrl: unset({
    ...WEBHOOK_URL,
    fallback: undefined,
    doc: 'Where the process with the role push tells of messages that were sent, and whom to notify, by signed POSTs (docs/webhooks.md).',
  }),
  webhookEvents: set({
    ...someOf('afterSend', 'offlinePush'),
    fallback: 'afterSend,offlinePush',
    doc: 'What --webhook-url is told. afterSend: every message and every change of one; offlinePush: members who have no device connected, with their badges.',
  }),
  webhookGiveUp: set({
    ...duration(HOOK_GIVE_UP_MS_MIN, HOOK_GIVE_UP_MS_MAX),
    fallback: durationText(HOOK_GIVE_UP_MS_DEFAULT),
    doc: 'How old an event may become that --webhook-url does not take; then it is a dead letter, which qim webhooks lists.',
  }),
  beforeSendUrl: unset({
    ...WEBHOOK_URL,
    fallback: undefined,
    doc: 'Asked by a signed POST before what a user says is committed: 200 with {"allow": true} or {"allow": false} (docs/webhooks.md).',
  }),
  beforeSendTimeout: set({
    ...duration(BEFORE_SEND_TIMEOUT_MS_MIN, BEFORE_SEND_TIMEOUT_MS_MAX),
    fallback: durationText(BEFORE_SEND_TIMEOUT_MS_DEFAULT),
    doc: 'How long a sender waits for the answer of --before-send-url.',
  }),
  beforeSendFailure: set({
    ...oneOf('closed', 'open'),
    fallback: 'closed',
    doc: 'What becomes of a message when --before-send-url gives no clear answer in time. closed: the call fails with STORE_UNAVAILABLE and may be tried again; open: it is sent.',
  }),
  webhookSecretFile: unset({
    ...text('FILE', 'the path of a file'),
    fallback: undefined,
    doc: 'File with the secret that signs webhooks, at least 32 bytes; a second line may hold another one, and calls are then signed by both.',
  }),
  vapidKeyFile: unset({
    ...text('FILE', 'the path of a file'),
    fallback: undefined,
    doc: 'PEM file of a private key of P-256: sends Web Push to browsers of users who are away (docs/webhooks.md). Processes with the roles gateway and push get the same one, and keep it: browsers subscribe to it.',
  }),
  vapidSubject: unset({
    value: 'URL',
    allowed: 'a mailto: or https: URL',
    parse: parseVapidSubject,
    fallback: undefined,
    doc: 'With --vapid-key-file: whom a push service may write to when something is wrong with what it is sent.',
  }),
  webPushContent: set({
    ...toggle,
    fallback: 'false',
    doc: 'Notifications name the sender and have the beginning of the text, encrypted for the browser. Otherwise they say which conversation it is, and the badge.',
  }),
  pushLease: set({
    ...duration(OUTBOX_LEASE_MS_MIN, OUTBOX_LEASE_MS),
    fallback: durationText(OUTBOX_LEASE_MS),
    doc: 'How long a push worker that died keeps its partitions. Lower: others take over sooner, and renewals cost more.',
  }),
  helloTimeout: set({
    ...duration(HELLO_TIMEOUT_MS_MIN, HELLO_TIMEOUT_MS),
    fallback: durationText(HELLO_TIMEOUT_MS),
    doc: 'A WebSocket that has not said hello by then is closed with 4401.',
  }),
  pingInterval: set({
    ...duration(PING_INTERVAL_MS_MIN, PING_INTERVAL_MS),
    fallback: durationText(PING_INTERVAL_MS),
    doc: 'Time between pings on a WebSocket; one that misses an answer is closed with 4509.',
  }),
  socketQueueBytes: set({
    ...integer(SOCKET_QUEUE_BYTES_MIN, SOCKET_QUEUE_BYTES_MAX),
    fallback: String(SOCKET_QUEUE_BYTES_MAX),
    doc: 'Unsent bytes that one WebSocket may hold before it is closed with 4508. Higher keeps slow phones connected and costs memory.',
  }),
  drainTimeout: set({
    ...duration(0, DRAIN_DEADLINE_MS_MAX),
    fallback: durationText(DRAIN_DEADLINE_MS_DEFAULT),
    doc: 'At a stop, how long calls in flight may take to finish before their connections are cut.',
  }),
} as const;

export type SettingName = keyof typeof SETTINGS;
export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

type ValueOf<S> = S extends Setting<infer T> ? (S extends { readonly fallback: undefined } ? T | undefined : T) : never;

/** The settings, parsed. Times are in milliseconds. */
export type Config = { readonly [Name in SettingName]: ValueOf<(typeof SETTINGS)[Name]> };

/** `jwtSecretFile` → `--jwt-secret-file`. */
export function flagOf(name: SettingName): string {
  return `--${words(name).join('-')}`;
}

/** `jwtSecretFile` → `QIM_JWT_SECRET_FILE`. */
export function variableOf(name: SettingName): string {
  return `QIM_${words(name).join('_').toUpperCase()}`;
}

function words(name: string): readonly string[] {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).split(' ');
}
