/** Commands for a redis-server past every client of qim's: garbage in old keys, limits of a running server. */
import { once } from 'node:events';
import { connect } from 'node:net';

/** One inline command; the first line of the answer. Arguments hold no blanks. */
export async function rawRedis(port: number, ...command: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.setEncoding('latin1');
  try {
    await once(socket, 'connect');
    socket.write(`${command.join(' ')}\r\n`);
    let answer = '';
    while (!answer.includes('\r\n')) answer += String((await once(socket, 'data'))[0]);
    // A bulk string is `$length` and the text on the next line.
    if (answer.startsWith('$') && !answer.startsWith('$-1')) {
      while (answer.split('\r\n').length < 3) answer += String((await once(socket, 'data'))[0]);
      return answer.split('\r\n')[1] ?? '';
    }
    return answer.split('\r\n')[0] ?? '';
  } finally {
    socket.destroy();
  }
}
