/** The floor of a delivered message: as many bytes through a bare ws server, there and back, and on to the recipient. */
import { once } from 'node:events';
import WebSocket from 'ws';
import type { Cleanup } from '../stores.js';
import type { Carrier } from './chats.js';

/** About what SendMessage takes with `TEXT` in it, and what its answer and its event take. */
const FRAME_BYTES = 280;
const CHATS_PER_SENDER = 4;
const HEAD_BYTES = 8;

export async function echoChats(cleanup: Cleanup, url: string, chats: number): Promise<Carrier> {
  const waiting = new Map<number, { left: number; readonly done: () => void }>();
  const came = (bytes: Buffer): void => {
    const id = bytes.readUInt32BE(4);
    const entry = waiting.get(id);
    if (entry === undefined || --entry.left > 0) return;
    waiting.delete(id);
    entry.done();
  };
  const open = async (path: string): Promise<WebSocket> => {
    const socket = new WebSocket(new URL(path, url.replace('http', 'ws')), { perMessageDeflate: false });
    socket.on('message', came);
    await once(socket, 'open');
    cleanup.add(async () => socket.terminate());
    return socket;
  };
  const senders: WebSocket[] = [];
  for (let i = 0; i < Math.ceil(chats / CHATS_PER_SENDER); i += 1) senders.push(await open(`/send/${i}`));
  for (let chat = 0; chat < chats; chat += 1) await open(`/receive/${chat}`);
  let sent = 0;
  return {
    chats,
    send(chat, acked) {
      const frame = Buffer.alloc(FRAME_BYTES, 7);
      frame.writeUInt32BE(chat, 0);
      frame.writeUInt32BE(++sent, HEAD_BYTES / 2);
      return new Promise((resolve) => {
        waiting.set(sent, {
          left: 2,
          done: () => {
            acked();
            resolve();
          },
        });
        senders[Math.floor(chat / CHATS_PER_SENDER)]?.send(frame, { binary: true });
      });
    },
  };
}
