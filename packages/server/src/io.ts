/** What a server has of the world outside. Everything of it arrives here, so that tests run whole servers on their own. */
import { randomBytes } from 'node:crypto';
import { type Clock, realClock } from './clock.js';
import { type OpenStore, openStore } from './open-store.js';
import { findPageFolder } from './page.js';

export interface ServerIo extends Clock {
  /** Standard output: banner and ready line. A line without its end, as below. */
  readonly out: (line: string) => void;
  /** Standard error: logs and warnings. */
  readonly err: (line: string) => void;
  readonly random: (bytes: number) => Buffer;
  readonly openStore: OpenStore;
  /** Undefined: there is no page to serve. */
  readonly pageFolder: string | undefined;
}

/** The real world, but for where lines go. */
export function serverIo(lines: Pick<ServerIo, 'out' | 'err'>): ServerIo {
  return { ...lines, ...realClock, random: randomBytes, openStore, pageFolder: findPageFolder() };
}
