/** AdminService. That the token has `admin: true` was checked before any of this runs. */
import { invalidArgument, parseDeviceId, parseUserId, TOKEN_TTL_SECONDS_DEFAULT, TOKEN_TTL_SECONDS_MAX, unimplemented } from '@qim/proto';
import { AdminService } from '@qim/proto/schema';
import type { TokenMinter } from '../contract.js';
import { type Method, method } from '../method.js';

export function adminMethods(minter: TokenMinter | undefined): readonly Method[] {
  return [
    method(AdminService.method.mintToken, async ({ caller }, request) => {
      if (minter === undefined) throw unimplemented('MintToken on a server whose tokens come from elsewhere');
      const { token, expiresAtMs } = await minter.mint({
        // The admin's own: a token never opens another tenant.
        tenantId: caller.tenantId,
        userId: parseUserId(request.userId),
        deviceId: request.deviceId === '' ? undefined : parseDeviceId(request.deviceId),
        admin: false,
        ttlSeconds: ttlSeconds(request.ttlSeconds),
      });
      return { token, expiresAtMs: BigInt(expiresAtMs) };
    }),
  ];
}

function ttlSeconds(asked: number): number {
  if (asked === 0) return TOKEN_TTL_SECONDS_DEFAULT;
  if (asked >= 1 && asked <= TOKEN_TTL_SECONDS_MAX) return asked;
  throw invalidArgument('ttlSeconds', `an integer 1..${TOKEN_TTL_SECONDS_MAX}, or 0 for ${TOKEN_TTL_SECONDS_DEFAULT}`);
}
