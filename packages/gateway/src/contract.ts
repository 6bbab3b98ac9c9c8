/**
 * The edge, and nothing else: connections, tokens, frames, limits, backpressure, graceful drain. It maps the qim.v1 schema
 * to the domain values of writer, session and push, and their errors to the wire, in one place each.
 */
import type { AckDurability, Caller, DeviceId, ErrorCode, MethodName, TenantId, Tracing, UserId } from '@qim/proto';
import type { Push } from '@qim/push';
import type { Session } from '@qim/session';
import type { Writer } from '@qim/writer';
import type { Trust } from './client-address.js';

/** What a token says, once its signature and time were checked. */
export interface TokenClaims {
  readonly tenantId: TenantId;
  readonly userId: UserId;
  readonly deviceId: DeviceId | undefined;
  readonly admin: boolean;
  /** Unix milliseconds; the tolerance of clocks is in it. */
  readonly expiresAtMs: number;
}

export interface TokenVerifier {
  /**
   * @throws QimError Unauthenticated | TokenExpired, never telling why a token is bad; StoreUnavailable while the keys of
   * a JWKS URL cannot be had
   */
  verify(token: string): Promise<TokenClaims>;
}

export interface TokenMinter {
  mint(claims: { tenantId: TenantId; userId: UserId; deviceId: DeviceId | undefined; admin: boolean; ttlSeconds: number }): Promise<{
    readonly token: string;
    readonly expiresAtMs: number;
  }>;
}

/** What logs are written to; pino has this shape. Never given content, tokens or secrets. */
export interface GatewayLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** What metrics count. Must not throw. */
export interface GatewayObserver {
  connectionOpened(): void;
  connectionClosed(closeCode: number): void;
  /** `outcome`: ok, or the error's code. */
  callEnded(method: MethodName, outcome: 'ok' | ErrorCode, seconds: number): void;
  eventSent(): void;
  slowConsumer(): void;
}

export interface Rate {
  readonly count: number;
  /** Whole seconds, in milliseconds. */
  readonly windowMs: number;
}

/** Undefined: no limit. */
export interface SendLimits {
  readonly user: Rate | undefined;
  readonly device: Rate | undefined;
  readonly address: Rate | undefined;
  readonly tenant: Rate | undefined;
  readonly quota: (tenantId: TenantId) => Rate | undefined;
}

/** What the store's Rates have. */
export interface RateCounter {
  /** Milliseconds until it may be tried again; 0: it was counted. @throws StoreUnavailable */
  take(windows: readonly (Rate & { readonly of: readonly string[] })[]): Promise<number>;
}

export interface SendRates {
  readonly limits: SendLimits;
  readonly counter: RateCounter;
}

export interface GatewayOptions {
  readonly writer: Writer;
  readonly session: Session;
  readonly push: Push;
  readonly verifier: TokenVerifier;
  /** Whether the tenant's admins keep out that user, or that device of theirs. @throws StoreUnavailable */
  readonly isSuspended: (tenantId: TenantId, userId: UserId, deviceId: DeviceId | undefined) => Promise<boolean>;
  /** Undefined: tokens come from elsewhere (JWKS), and MintToken is refused as unimplemented. */
  readonly minter: TokenMinter | undefined;
  /** Serves POST /dev/login; only ever on loopback. */
  readonly devLogin: boolean;
  /** The built chat page; undefined: none is served. */
  readonly pageFolder: string | undefined;
  /** Serve only these, by full name, as `--roles session` does with `qim.v1.SessionService`; undefined: all that is built. */
  readonly onlyServices: readonly string[] | undefined;
  readonly ackDurability: AckDurability;
  /** Replicas that have a write before it is acknowledged, for /readyz; absent or 0: none is waited for. */
  readonly ackReplicas?: number;
  /** Resolves while the store answers; /readyz. */
  readonly ready: () => Promise<void>;
  /** What waits for its delivery, in the whole store: as the store's Outbox has it. @throws StoreUnavailable */
  readonly backlog: () => Promise<{ readonly entries: number; readonly oldestMs: number; readonly poison: number }>;
  /** How long a message may be recalled; told to admins. The writer keeps to it. */
  readonly recallWindowMs: number;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
  readonly observer: GatewayObserver;
  readonly log: GatewayLog;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds that never go back and never jump, for how long calls took; default: Node's. */
  readonly monotonicNow?: () => number;
  /** Calls `action` once after `ms` (0..2^31-1) unless cancelled by the function that it returns; default: Node's timers. */
  readonly after?: (ms: number, action: () => void) => () => void;
  /** Origins such as `https://chat.example` whose pages may connect, beside the gateway's own. Default: none. */
  readonly allowedOrigins?: readonly string[];
  /** Proxies whose X-Forwarded-For is believed. Default: none. */
  readonly trustedProxies?: Trust;
  /** Serve HTTPS and wss: a certificate with its chain, and its key, in PEM. Absent: HTTP. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
  /** How much may be sent; absent: as much as anybody likes. */
  readonly sendRates?: SendRates;
  /** Absent: nothing is traced. */
  readonly tracing?: Tracing | undefined;
  readonly limits?: Partial<GatewayLimits>;
  /** False: no short cuts, all by the plain path; for finding out whether a short cut is at fault. Default true. */
  readonly fastPaths?: boolean;
}

/** Tunable ones; defaults are those of proto's consts. */
export interface GatewayLimits {
  readonly helloTimeoutMs: number;
  readonly pingIntervalMs: number;
  readonly socketQueueBytesMax: number;
  readonly handshakesMax: number;
  /** WebSockets and event streams of one user, and of one address; Infinity: any number. */
  readonly connectionsPerUserMax: number;
  readonly connectionsPerAddressMax: number;
}

export interface Gateway {
  /** `port` 0 takes a free one. `url` is what a browser opens. */
  listen(host: string, port: number): Promise<{ readonly url: string; readonly port: number }>;
  /** Refuses new work, finishes what is in flight within the deadline, closes sockets with ServerStopping. */
  stop(deadlineMs: number): Promise<void>;
}

/** A call's surroundings, the same on HTTP and WebSocket. */
export interface CallContext {
  readonly caller: Caller;
  readonly requestId: string;
  /** Whose admin token it was when the caller is the user of `Qim-On-Behalf-Of`; otherwise undefined. */
  readonly actingAdmin: UserId | undefined;
}
