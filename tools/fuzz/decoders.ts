/** What reads bytes of others in this process: frames, requests, stored records, events of other processes, tokens. */
import { createHmac } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { createSecretTokens } from '@qim/gateway';
import { isQimError, LEGACY_TENANT_ID, parseConversationId, parseUserId } from '@qim/proto';
import { ClientFrameSchema } from '@qim/proto/schema';
import fc from 'fast-check';
import { jsonFrames, protoFrames } from '../../packages/gateway/src/frames.js';
import { hotProtoFrames } from '../../packages/gateway/src/hot-frames.js';
import {
  decodeBlockedToken,
  decodeListToken,
  decodeMembersToken,
  encodeBlockedToken,
  encodeListToken,
  encodeMembersToken,
} from '../../packages/session/src/page-token.js';
import { broken, brokenText, nastyJson, nastyText } from './hostile.js';
import { METHODS, requestBytes, requestJson } from './requests.js';
import { must, type Target, target } from './target.js';

const SECRET = 'a secret of a fuzzer that is long enough';

const anyMethod = fc.constantFrom(...METHODS);

/** Whatever is thrown is a refusal that a client can be told. */
function refusal(error: unknown, ...codes: readonly string[]): void {
  must(isQimError(error) && codes.includes(error.code), `no refusal: ${error instanceof Error ? error.stack : String(error)}`);
}

const jsonFrame = fc.oneof(
  { arbitrary: nastyJson, weight: 1 },
  {
    arbitrary: anyMethod.chain(({ name, input }) =>
      fc.record({ id: fc.oneof(fc.nat(), nastyJson), call: fc.record({ method: fc.constant(name), body: requestJson(input, {}) }) }),
    ),
    weight: 4,
  },
  { arbitrary: fc.record({ id: fc.nat(), hello: fc.record({ token: nastyText, device: nastyText }) }), weight: 1 },
);

const binaryFrame = anyMethod.chain(({ name, input }) =>
  fc
    .tuple(fc.bigInt({ min: 0n, max: 2n ** 53n }), requestBytes(input, {}))
    .map(([id, body]) =>
      toBinary(ClientFrameSchema, create(ClientFrameSchema, { id, kind: { case: 'call', value: { method: name, body } } })),
    ),
);

function framesHold(codec: typeof protoFrames, bytes: Uint8Array): void {
  const frame = codec.decode(Buffer.from(bytes));
  if (frame?.kind !== 'call') return;
  const form = METHODS.find(({ name }) => name === frame.method);
  if (form === undefined) return;
  try {
    frame.decode(form.input);
  } catch (error) {
    refusal(error, 'InvalidArgument', 'PayloadTooLarge');
  }
}

const caller = { tenantId: LEGACY_TENANT_ID, userId: parseUserId('alice'), deviceId: undefined, admin: false };
const GROUP = parseConversationId('g_0190b5e0-0000-7000-8000-000000000001');

const pageTokens = fc.oneof(
  fc
    .tuple(fc.nat(), fc.boolean(), fc.nat())
    .map(([activityAtMs, pinned, pinsThroughMs]) =>
      encodeListToken(caller, { activityAtMs, conversationId: GROUP, ...(pinned ? { pinned, pinsThroughMs } : {}) }),
    ),
  fc.constant(encodeMembersToken(caller, GROUP, parseUserId('bob'))),
  fc.constant(encodeBlockedToken(caller, parseUserId('bob'))),
  nastyJson.map((json) => Buffer.from(JSON.stringify(json) ?? '').toString('base64url')),
);

const base64url = (text: string) => Buffer.from(text).toString('base64url');

function signed(header: unknown, claims: unknown): string {
  const text = `${base64url(JSON.stringify(header) ?? '')}.${base64url(JSON.stringify(claims) ?? '')}`;
  return `${text}.${createHmac('sha256', SECRET).update(text).digest('base64url')}`;
}

const claims = fc.oneof(
  fc.record(
    { sub: nastyText, tenant: nastyJson, device: nastyJson, exp: fc.oneof(fc.constant(4e9), nastyJson), admin: nastyJson },
    { requiredKeys: [] },
  ),
  nastyJson,
);
const tokens = fc.oneof(
  fc
    .tuple(fc.oneof(fc.constant({ alg: 'HS256' }), nastyJson, fc.record({ alg: nastyText })), claims)
    .map(([header, body]) => signed(header, body)),
  nastyText,
);

export function decoderTargets(): readonly Target[] {
  const verifier = createSecretTokens({ secrets: [SECRET], now: Date.now });
  return [
    target({
      name: 'JSON frames',
      weight: 20,
      input: fc.oneof(
        jsonFrame.map((json) => Buffer.from(JSON.stringify(json) ?? '')),
        broken(jsonFrame.map((json) => Buffer.from(JSON.stringify(json) ?? ''))),
      ),
      holds: (bytes) => framesHold(jsonFrames, bytes),
    }),
    target({
      name: 'binary frames, by both decoders',
      weight: 20,
      input: broken(binaryFrame),
      holds: (bytes) => {
        framesHold(protoFrames, bytes);
        framesHold(hotProtoFrames, bytes);
      },
    }),
    target({
      name: 'page tokens',
      weight: 10,
      input: fc.oneof(pageTokens, brokenText(pageTokens), nastyText),
      holds: (token) => {
        const reads = [
          () => decodeListToken(caller, token),
          () => decodeMembersToken(caller, GROUP, token),
          () => decodeBlockedToken(caller, token),
        ];
        for (const read of reads) {
          try {
            read();
          } catch (error) {
            refusal(error, 'InvalidArgument');
          }
        }
      },
    }),
    target({
      name: 'tokens',
      weight: 10,
      input: fc.oneof(tokens, brokenText(tokens)),
      holds: async (token) => {
        const found = await verifier.verify(token).catch((error: unknown) => {
          refusal(error, 'Unauthenticated', 'TokenExpired');
          return undefined;
        });
        if (found !== undefined) must(found.userId.length > 0 && typeof found.admin === 'boolean', 'claims are whole');
      },
    }),
  ];
}
