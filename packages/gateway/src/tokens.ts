/**
 * Tokens: JWTs by a secret of our own (HS256), or by the keys of a JWKS URL. The algorithm is ours to choose, never the
 * token's; clocks agree but for the tolerance that the operator gives; what is wrong with a bad token is told to nobody.
 */
import {
  assert,
  JWKS_AGE_MS_MAX,
  JWKS_COOLDOWN_MS,
  JWKS_TIMEOUT_MS,
  JWT_SECRET_BYTES_MIN,
  LEGACY_TENANT_ID,
  parseDeviceId,
  parseTenantId,
  parseUserId,
  QimError,
  SYSTEM_USER_ID,
  TOKEN_CHARS_MAX,
  utf8Bytes,
  VERIFIED_TOKENS_MAX,
} from '@qim/proto';
import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type FetchImplementation,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
  type RemoteJWKSet,
  SignJWT,
} from 'jose';
import type { TokenClaims, TokenMinter, TokenVerifier } from './contract.js';

export interface SecretTokensOptions {
  /** Each at least JWT_SECRET_BYTES_MIN bytes. The first signs; both are accepted, so that a secret can be changed. */
  readonly secrets: readonly [current: string, previous?: string];
  /** Unix milliseconds. */
  readonly now: () => number;
  /** 0..TOKEN_CLOCK_TOLERANCE_MS_MAX, whole seconds; default 0. For exp and nbf. */
  readonly clockToleranceMs?: number;
}

export interface JwksOptions {
  readonly url: URL;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** As of SecretTokensOptions. */
  readonly clockToleranceMs?: number;
  /** What `iss` must be; undefined: not looked at. */
  readonly issuer?: string;
  /** What `aud` must hold; undefined: not looked at. */
  readonly audience?: string;
}

export function createSecretTokens({ secrets, now, clockToleranceMs = 0 }: SecretTokensOptions): TokenVerifier & TokenMinter {
  const [current, ...older] = secrets.filter((secret) => secret !== undefined).map(secretKey);
  assert(current !== undefined, 'there is a secret');
  const verified = new VerifiedTokens(now);
  return {
    async verify(token) {
      const known = verified.get(token);
      if (known !== undefined) return known;
      const attempts = [current, ...older].map((key) => () => jwtVerify(token, key, verifyOptions(['HS256'], now, clockToleranceMs)));
      return checked(
        token,
        clockToleranceMs,
        () => firstThatFits(attempts),
        (payload, claims) => verified.add(token, payload, claims),
      );
    },
    async mint({ tenantId, userId, deviceId, admin, ttlSeconds }) {
      const issuedAt = Math.floor(now() / 1000);
      const claims = { tenant: tenantId, ...(deviceId === undefined ? {} : { device: deviceId }), ...(admin ? { admin } : {}) };
      const token = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setSubject(userId)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + ttlSeconds)
        .sign(current);
      return { token, expiresAtMs: (issuedAt + ttlSeconds) * 1000 };
    },
  };
}

/** The keys are fetched at the first token, kept for JWKS_AGE_MS_MAX, and looked for again at most every JWKS_COOLDOWN_MS. */
export function createJwksVerifier({ url, now, clockToleranceMs = 0, issuer, audience }: JwksOptions): TokenVerifier {
  const keys = createRemoteJWKSet(url, {
    cacheMaxAge: JWKS_AGE_MS_MAX,
    cooldownDuration: JWKS_COOLDOWN_MS,
    timeoutDuration: JWKS_TIMEOUT_MS,
    [customFetch]: fetchKeys,
  });
  const options = () => ({
    ...verifyOptions(['RS256', 'ES256', 'EdDSA'], now, clockToleranceMs),
    ...(issuer === undefined ? {} : { issuer }),
    ...(audience === undefined ? {} : { audience }),
  });
  return {
    verify: (token) => checked(token, clockToleranceMs, () => payloadByKeySet((key) => jwtVerify(token, key ?? keys, options()))),
  };
}

/** jose tells a key server that is away by errors of several kinds; here they become one. */
const fetchKeys: FetchImplementation = async (url, options) => {
  try {
    const response = await fetch(url, options);
    if (response.status !== 200) throw new KeySetError(`the key server answered ${response.status}`);
    return Response.json(await response.json());
  } catch (cause) {
    if (cause instanceof KeySetError || (cause instanceof Error && cause.name === 'TimeoutError')) throw cause;
    throw new KeySetError('the key server did not answer', { cause });
  }
};

function secretKey(secret: string): Uint8Array {
  assert(utf8Bytes(secret) >= JWT_SECRET_BYTES_MIN, `a secret has at least ${JWT_SECRET_BYTES_MIN} bytes`);
  return new TextEncoder().encode(secret);
}

function verifyOptions(algorithms: string[], now: () => number, clockToleranceMs: number): JWTVerifyOptions {
  return { algorithms, currentDate: new Date(now()), clockTolerance: clockToleranceMs / 1000, requiredClaims: ['sub', 'exp'] };
}

type Attempt = () => Promise<{ readonly payload: JWTPayload }>;

/** Another key is tried only where the signature is not of this one. */
async function firstThatFits(attempts: readonly Attempt[]): Promise<JWTPayload> {
  for (const attempt of attempts) {
    try {
      return (await attempt()).payload;
    } catch (error) {
      if (error instanceof errors.JWSSignatureVerificationFailed) continue;
      throw error;
    }
  }
  throw unauthenticated();
}

/** A key set without key ids offers several keys for one token. */
async function payloadByKeySet(verify: (key?: Awaited<ReturnType<RemoteJWKSet>>) => ReturnType<Attempt>): Promise<JWTPayload> {
  try {
    return (await verify()).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    const attempts: Attempt[] = [];
    for await (const key of error) attempts.push(() => verify(key));
    return firstThatFits(attempts);
  }
}

async function checked(
  token: string,
  clockToleranceMs: number,
  verify: () => Promise<JWTPayload>,
  sound: (payload: JWTPayload, claims: TokenClaims) => void = () => {},
): Promise<TokenClaims> {
  if (token.length > TOKEN_CHARS_MAX) throw unauthenticated();
  try {
    const payload = await verify();
    const claims = claimsOf(payload, clockToleranceMs);
    sound(payload, claims);
    return claims;
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw new QimError('TokenExpired', {}, 'the token has expired');
    // A key server that is down says nothing about the token: the client must not be told to give up.
    if (keysMissing(error)) throw new QimError('StoreUnavailable', { what: 'token keys' }, 'no token keys', { cause: error });
    throw unauthenticated();
  }
}

function keysMissing(error: unknown): boolean {
  return error instanceof KeySetError || error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid;
}

/** The key server could not be reached, or answered with something else than keys. */
class KeySetError extends Error {}

/** A claim that is there and wrong is never taken for one that is absent: a malformed tenant would become tenant 0. */
function claimsOf(payload: JWTPayload, clockToleranceMs: number): TokenClaims {
  const { sub, tenant, device, exp, admin } = payload;
  if (typeof sub !== 'string' || sub === SYSTEM_USER_ID || typeof exp !== 'number' || !Number.isFinite(exp)) throw unauthenticated();
  if (device !== undefined && typeof device !== 'string') throw unauthenticated();
  try {
    return {
      tenantId: 'tenant' in payload ? parseTenantId(tenant) : LEGACY_TENANT_ID,
      userId: parseUserId(sub),
      deviceId: device === undefined ? undefined : parseDeviceId(device),
      admin: admin === true,
      expiresAtMs: exp * 1000 + clockToleranceMs,
    };
  } catch {
    throw unauthenticated();
  }
}

/**
 * Tokens whose signature was found right by a secret of ours. Secrets do not change while the process runs, so that finding
 * it right again would only take time. Everything that time changes is looked at anew; a token that says when it begins to
 * hold is not kept.
 */
class VerifiedTokens {
  readonly #now: () => number;
  /** Oldest first. */
  readonly #claims = new Map<string, TokenClaims>();

  constructor(now: () => number) {
    this.#now = now;
  }

  get(token: string): TokenClaims | undefined {
    const claims = this.#claims.get(token);
    if (claims === undefined) return undefined;
    // To the second, as it is when it is verified.
    if (claims.expiresAtMs / 1000 > Math.floor(this.#now() / 1000)) return claims;
    this.#claims.delete(token);
    return undefined;
  }

  add(token: string, { nbf }: JWTPayload, claims: TokenClaims): void {
    if (nbf !== undefined) return;
    this.#claims.set(token, claims);
    if (this.#claims.size <= VERIFIED_TOKENS_MAX) return;
    const [oldest] = this.#claims.keys();
    if (oldest !== undefined) this.#claims.delete(oldest);
  }
}

export function unauthenticated(): QimError<'Unauthenticated'> {
  return new QimError('Unauthenticated', {}, 'a valid token is needed');
}
