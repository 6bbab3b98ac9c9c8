/** The binary frames with the hot ones read and written by hand; all others, and all that is unusual, by the library. */
import { SendMessageRequestSchema, type SendMessageResponse, SendMessageResponseSchema } from '@qim/proto/schema';
import { decodeBinary } from './decode.js';
import { type FrameCodec, protoFrames } from './frames.js';
import { hotCall, hotSendRequest } from './hot-decode.js';
import { hotEvent, hotReply } from './hot-encode.js';

export const hotProtoFrames: FrameCodec = {
  ...protoFrames,
  decode(data) {
    const call = hotCall(data);
    if (call === undefined) return protoFrames.decode(data);
    const { id, method, body } = call;
    return {
      kind: 'call',
      id,
      method,
      decode: (input) => (input === SendMessageRequestSchema ? hotSendRequest(body) : undefined) ?? decodeBinary(input, body),
    };
  },
  reply(id, output, message) {
    const hot = output === SendMessageResponseSchema ? hotReply(id, message as SendMessageResponse) : undefined;
    return hot ?? protoFrames.reply(id, output, message);
  },
  event: (event) => hotEvent(event) ?? protoFrames.event(event),
};
