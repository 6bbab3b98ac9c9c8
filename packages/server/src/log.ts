/** JSON lines on standard error. Content, tokens and secrets are never handed to a log. */
import pino from 'pino';
import type { LogLevel } from './settings.js';

/** What the rooms are given; pino has more. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** `write` takes one line without its end. */
export function createLog(level: LogLevel, write: (line: string) => void): Log {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, { write: (line) => write(line.trimEnd()) });
}
