/** Commands for a redis-server past every client of qim's: garbage in old keys, limits of a running server. */
import { once } from 'node:events';
import { connect } from 'node:net';

/** One inline command; what a bulk string holds, else the first line of the answer. Arguments hold no blanks. */
export async function rawRedis(port: number, ...command: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.setEncoding('latin1');
  try {
    await once(socket, 'connect');
    socket.write(`${command.join(' ')}\r\n`);
    let answer = '';
    while (!answer.includes('\r\n')) answer += String((await once(socket, 'data'))[0]);
    // A bulk string is `$length` and so many bytes after it.
    const [, length] = /^\$(\d+)\r\n/.exec(answer) ?? [];
    if (length !== undefined) {
      const from = length.length + 3;
      while (answer.length < from + Number(length)) answer += String((await once(socket, 'data'))[0]);
      return answer.slice(from, from + Number(length));
    }
    return answer.split('\r\n')[0] ?? '';
  } finally {
    socket.destroy();
  }
}
