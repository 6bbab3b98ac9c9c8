import { toJson } from '@bufbuild/protobuf';
import type { Message } from '@qim/proto';
import { MessageSchema } from '@qim/proto/schema';
import { EMIT } from './frames.js';
import { wireMessage } from './to-wire.js';

/** The message as the HTTP API gives it in JSON, for whoever speaks of it outside a connection. */
export function messageJson(message: Message): object {
  const json = toJson(MessageSchema, wireMessage(message), EMIT);
  return json as object;
}
