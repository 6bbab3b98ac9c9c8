/** A bare ws server: what /A sends goes back to /A, and to /B of the same name. It decides nothing and keeps nothing. */
import { type WebSocket, WebSocketServer } from 'ws';

const receivers = new Map<string, WebSocket>();
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
server.on('connection', (socket, { url = '' }) => {
  const [, side, name = ''] = url.split('/');
  if (side === 'receive') receivers.set(name, socket);
  else {
    socket.on('message', (bytes: Buffer) => {
      // The first bytes name the chat, so that one sender may have many.
      const to = receivers.get(String(bytes.readUInt32BE(0)));
      socket.send(bytes, { binary: true });
      to?.send(bytes, { binary: true });
    });
  }
});
server.on('listening', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') console.log(`bare ready at http://127.0.0.1:${address.port}`);
});
process.once('SIGTERM', () => process.exit(0));
