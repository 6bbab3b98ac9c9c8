/**
 * Bodies of Connect and gRPC-Web requests, read by us rather than by the library: only so does every refusal of what is in
 * them carry our typed detail and the field's name, and only so is nothing decoded before the caller is known.
 */
import type { Readable } from 'node:stream';
import type { DescMessage, Message } from '@bufbuild/protobuf';
import { CLIENT_FRAME_READ_BYTES_MAX, HTTP_BODY_BYTES_MAX, invalidArgument, payloadTooLarge } from '@qim/proto';
import { decodeBinary, decodeJsonText } from './decode.js';

export interface BodyForm {
  readonly json: boolean;
  /** One flag byte and four of length stand before the message. */
  readonly enveloped: boolean;
}

const ENVELOPE_BYTES = 5;

/** Undefined: no form that is served. */
export function bodyForm(contentType: string | null): BodyForm | undefined {
  const type = contentType?.split(';')[0]?.trim().toLowerCase();
  switch (type) {
    case 'application/json':
      return { json: true, enveloped: false };
    case 'application/proto':
      return { json: false, enveloped: false };
    case 'application/connect+json':
    case 'application/grpc-web+json':
      return { json: true, enveloped: true };
    case 'application/connect+proto':
    case 'application/grpc-web+proto':
    case 'application/grpc-web':
      return { json: false, enveloped: true };
    default:
      return undefined;
  }
}

/** An empty message in that form. */
export function emptyBody({ json, enveloped }: BodyForm): Uint8Array {
  const message = json ? '{}' : '';
  return Buffer.from(enveloped ? `\0\0\0\0${String.fromCharCode(message.length)}${message}` : message, 'latin1');
}

/** @throws InvalidArgument | PayloadTooLarge (body) */
export async function readRequest(chunks: AsyncIterable<Uint8Array>, form: BodyForm, input: DescMessage): Promise<Message> {
  const body = await readBounded(chunks);
  return decodeBody(form.enveloped ? withoutEnvelope(body) : body, form.json, input);
}

/** @throws InvalidArgument */
export function decodeBody(message: Buffer, json: boolean, input: DescMessage): Message {
  return json ? decodeJsonText(input, message.toString('utf8')) : decodeBinary(input, message);
}

/** The same as what `readRequest` reads, straight from Node's request. @throws PayloadTooLarge (body) */
export function readBody(request: Readable): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes <= HTTP_BODY_BYTES_MAX) chunks.push(chunk);
      if (bytes > CLIENT_FRAME_READ_BYTES_MAX) end();
    };
    const end = (): void => {
      request.off('data', take).off('end', end).off('close', cut);
      if (bytes > HTTP_BODY_BYTES_MAX) reject(payloadTooLarge('body', HTTP_BODY_BYTES_MAX));
      else resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
    };
    const cut = (): void => reject(new Error('the request was cut'));
    // Then it tells of nothing any more.
    if (request.destroyed) return cut();
    request.on('data', take).on('end', end).on('close', cut);
  });
}

/**
 * A body somewhat past the bound is read to its end, so that its sender gets the answer. The iterator is left where it is
 * rather than ended: ending it would cut the connection before the answer.
 */
async function readBounded(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const iterator = body[Symbol.asyncIterator]();
  let bytes = 0;
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
    bytes += next.value.length;
    if (bytes <= HTTP_BODY_BYTES_MAX) chunks.push(next.value);
    if (bytes > CLIENT_FRAME_READ_BYTES_MAX) break;
  }
  if (bytes > HTTP_BODY_BYTES_MAX) throw payloadTooLarge('body', HTTP_BODY_BYTES_MAX);
  return Buffer.concat(chunks);
}

function withoutEnvelope(body: Buffer): Buffer {
  const sound = body.length >= ENVELOPE_BYTES && body[0] === 0 && body.readUInt32BE(1) === body.length - ENVELOPE_BYTES;
  if (!sound) throw invalidArgument('body', 'one enveloped message without compression');
  return body.subarray(ENVELOPE_BYTES);
}
