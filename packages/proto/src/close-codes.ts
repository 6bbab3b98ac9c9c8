/**
 * WebSocket close codes. The range says what a client does: 4400-4499 stop (a new token or a newer client is needed),
 * 4500-4599 connect again after a jittered wait. Reasons stay under the protocol's 123 bytes.
 */
export const CloseCode = {
  /** A frame that is no frame of the subprotocol: the framing itself is lost. */
  MalformedFrame: 4400,
  /** No hello in time, a bad or expired token, or a renewal for another user. */
  Unauthenticated: 4401,
  /** A frame beyond CLIENT_FRAME_BYTES_MAX. */
  FrameTooLarge: 4413,
  /** The server is stopping; another one, or the same one soon, will answer. */
  ServerStopping: 4500,
  /** Too many are connecting at once; the error frame before it says after how long to come back. */
  TryLater: 4503,
  /** The client reads too slowly; it must list again. */
  SlowConsumer: 4508,
  /** No answer to a ping. */
  Silent: 4509,
} as const;
export type CloseCode = (typeof CloseCode)[keyof typeof CloseCode];

/** Whether a client should connect again by itself. Codes of the protocol itself (1000-1999) are treated as a lost link. */
export function shouldReconnect(code: number): boolean {
  return code < 4400 || code > 4499;
}
