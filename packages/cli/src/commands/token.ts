/** `qim token`: a token for one user, as the last line. */
import { parseDeviceId, parseTenantId, parseUserId, TOKEN_TTL_SECONDS_DEFAULT, TOKEN_TTL_SECONDS_MAX } from '@qim/proto';
import { createSecretTokens, duration, durationText, readDevSecrets, readSecrets, readSettings } from '@qim/server';
import { type Arguments, type Command, EXIT_DONE, optional, required, UsageError } from '../command.js';

const TTL = duration(1_000, TOKEN_TTL_SECONDS_MAX * 1_000);
const TTL_DEFAULT = durationText(TOKEN_TTL_SECONDS_DEFAULT * 1_000);

export const token: Command = {
  name: 'token',
  summary: 'print a token for one user, signed with the secret of a server',
  settings: ['data', 'jwtSecretFile'],
  options: [
    { name: 'user', value: 'ID', doc: 'whom the token is for (required)' },
    { name: 'tenant', value: 'N', doc: 'tenant of the user (default: 0, the legacy tenant)' },
    { name: 'device', value: 'ID', doc: 'device of the user (default: none)' },
    { name: 'ttl', value: 'TIME', doc: `how long it is valid, such as 10m, 1h, 30d (default: ${TTL_DEFAULT})` },
    { name: 'admin', value: undefined, doc: 'allow AdminService and acting for other users of the tenant' },
  ],

  async run(args, io) {
    const { data, jwtSecretFile } = readSettings(['data', 'jwtSecretFile'], { flags: args.settings, environment: io.environment });
    const device = optional(args, 'device');
    const claims = {
      userId: parseUserId(required(args, 'user'), 'user'),
      tenantId: tenantOf(args),
      deviceId: device === undefined ? undefined : parseDeviceId(device, 'device'),
      admin: args.options.admin === true,
      ttlSeconds: ttlSecondsOf(args),
    };
    const secrets = await (jwtSecretFile === undefined ? readDevSecrets(data) : readSecrets(jwtSecretFile));
    const minted = await createSecretTokens({ secrets, now: io.now }).mint(claims);
    io.out(minted.token);
    return EXIT_DONE;
  },
};

/** @throws UsageError | InvalidArgument */
export function tenantOf(args: Arguments) {
  const text = optional(args, 'tenant') ?? '0';
  return parseTenantId(/^\d{1,10}$/.test(text) ? Number(text) : undefined, 'tenant');
}

function ttlSecondsOf(args: Arguments): number {
  const milliseconds = TTL.parse(optional(args, 'ttl') ?? TTL_DEFAULT);
  if (milliseconds === undefined || milliseconds % 1_000 !== 0) throw new UsageError(`--ttl must be ${TTL.allowed}, in whole seconds`);
  return milliseconds / 1_000;
}
