/**
 * What a redis-server has run, in order, as the server itself tells it (MONITOR).
 *
 * MONITOR sends before the answers of the commands, but on a connection of its own: `read` waits for a mark that it
 * sends last, so that what it returns is complete.
 */
import { connect, type Socket } from 'node:net';

export interface LoggedCommand {
  /** `address:port` of the connection, or `lua` for a command that a script ran. */
  readonly client: string;
  /** In upper case. */
  readonly name: string;
  /** Bytes as Latin-1 text, so that binary arguments keep their length. */
  readonly args: readonly string[];
}

export interface CommandLog {
  /** All commands since the log was opened or cleared, marks left out. */
  read(): Promise<readonly LoggedCommand[]>;
  /** What has come so far: the last words of a server that is gone, whose `read` would wait for ever. */
  received(): readonly LoggedCommand[];
  /** Forgets what was logged until now. */
  clear(): Promise<void>;
  close(): void;
}

const MARK = 'qim-command-log-mark';
const LINE = /^\+\d+\.\d+ \[\d+ ([^\]]*)\] (.*)$/s;
const ARGUMENT = /"((?:[^"\\]|\\.)*)"/gs;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', a: '\x07', b: '\b' };

export async function openCommandLog(port: number): Promise<CommandLog> {
  const [monitor, marker] = await Promise.all([open(port), open(port)]);
  let commands: LoggedCommand[] = [];
  let marks = 0;
  const waiting = new Map<string, () => void>();
  const started = new Promise<void>((resolve) => waiting.set('OK', resolve));
  onLines(monitor, (line) => {
    if (line === '+OK') waiting.get('OK')?.();
    const command = parseLine(line);
    if (command === undefined) return;
    const mark = command.name === 'ECHO' && command.args[0]?.startsWith(MARK) ? command.args[0] : undefined;
    if (mark === undefined) commands.push(command);
    else waiting.get(mark)?.();
  });
  monitor.write('MONITOR\r\n');
  await started;
  const settle = async (): Promise<void> => {
    marks += 1;
    const mark = `${MARK}-${marks}`;
    const seen = new Promise<void>((resolve) => waiting.set(mark, resolve));
    marker.write(`ECHO ${mark}\r\n`);
    await seen;
    waiting.delete(mark);
  };
  return {
    read: async () => {
      await settle();
      return [...commands];
    },
    received: () => [...commands],
    clear: async () => {
      await settle();
      commands = [];
    },
    close: () => {
      monitor.destroy();
      marker.destroy();
    },
  };
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.removeListener('error', reject);
      socket.on('error', () => socket.destroy());
      resolve(socket);
    });
    socket.once('error', reject);
    socket.setEncoding('latin1');
  });
}

function onLines(socket: Socket, take: (line: string) => void): void {
  let rest = '';
  socket.on('data', (chunk) => {
    const lines = (rest + chunk.toString()).split('\r\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
  });
}

function parseLine(line: string): LoggedCommand | undefined {
  const match = LINE.exec(line);
  if (match === null) return undefined;
  const [, client = '', text = ''] = match;
  const [name = '', ...args] = [...text.matchAll(ARGUMENT)].map(([, quoted = '']) => decodeQuoted(quoted));
  return { client, name: name.toUpperCase(), args };
}

function decodeQuoted(quoted: string): string {
  return quoted.replace(/\\(x[0-9a-f]{2}|.)/gs, (_, code: string) =>
    code.length === 3 ? String.fromCharCode(Number.parseInt(code.slice(1), 16)) : (ESCAPES[code] ?? code),
  );
}
