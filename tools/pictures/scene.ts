/** People who talk over two weeks of June, so that there is something to take pictures of. The clock is the scene's own. */
import { type Client, createClient, type Message, memoryStorage } from '@qim/client';
import { EXACT_UNREAD_SCAN_LIMIT } from '@qim/proto';
import { WebSocket } from 'ws';
import { devToken, type RealServer, startRealServer } from '../testing/real-server.js';
import { type Both, GROUPS, type Line, NAMES, NOW, talk } from './script.js';

const LANGUAGES = { en: 0, zh: 1 } as const;

export class Scene {
  readonly #word: (both: Both) => string;
  readonly #ids = new Map<string, string>();
  readonly #sent = new Map<string, Message>();
  #server: RealServer | undefined;
  #people = new Map<string, Client>();
  #nowMs = atMs(NOW);

  private constructor(language: keyof typeof LANGUAGES) {
    this.#word = (both) => both[LANGUAGES[language]];
  }

  /** A real server with these people's talk on it. `end` it. */
  static async play(language: keyof typeof LANGUAGES, pageFolder: string): Promise<Scene> {
    const scene = new Scene(language);
    scene.#server = await startRealServer({ pageFolder, now: scene.now });
    await scene.#play();
    return scene;
  }

  /** Unix milliseconds, as everybody in the scene has them. */
  readonly now = (): number => this.#nowMs;

  get server(): RealServer {
    if (this.#server === undefined) throw new Error('the scene has not begun');
    return this.#server;
  }

  groupTitle(name: string): string {
    const group = GROUPS[name];
    if (group === undefined) throw new Error(`no group ${name}`);
    return this.#word(group.title);
  }

  nameOf(user: string): string {
    return this.#word(NAMES[user] ?? [user, user]);
  }

  /** The message of this time. */
  sent(at: string): Message {
    const message = this.#sent.get(at);
    if (message === undefined) throw new Error(`nothing was said at ${at}`);
    return message;
  }

  /** Somebody without a browser. */
  client(user: string): Client {
    const held = this.#people.get(user);
    if (held !== undefined) return held;
    const { url } = this.server;
    const token = (): Promise<string> => devToken(url, user, `picture-${user}`);
    const made = createClient({ url, token, WebSocket, storage: memoryStorage(), now: this.now });
    made.connect();
    this.#people.set(user, made);
    return made;
  }

  async end(): Promise<void> {
    this.#leave();
    await this.server.end();
  }

  #leave(): void {
    for (const client of this.#people.values()) client.close();
    this.#people = new Map();
  }

  async #play(): Promise<void> {
    const lines = talk(EXACT_UNREAD_SCAN_LIMIT + 1);
    this.#nowMs = atMs(lines[0]?.at ?? NOW);
    for (const user of Object.keys(NAMES)) await this.client(user).setProfile({ displayName: this.nameOf(user) });
    for (const line of lines) {
      // Tokens end meanwhile.
      if (atMs(line.at) - this.#nowMs > 60_000) this.#leave();
      this.#nowMs = atMs(line.at);
      await this.#say(line);
    }
    this.#leave();
    this.#nowMs = atMs(NOW);
    await this.client('alice').setConversationFlags(this.#ids.get('hike') ?? '', { pinned: true });
    await this.client('alice').setConversationFlags(this.#ids.get('kitchen') ?? '', { muted: true });
    // Those who are online when the pictures are taken.
    for (const user of ['maya', 'jun']) this.client(user);
  }

  async #say(line: Line): Promise<void> {
    const { from, to, text, before, times = 1, mentions = [], replyTo } = line;
    const sender = this.client(from);
    const target = to in GROUPS ? { conversationId: await this.#group(to) } : { toUserId: to };
    const content = this.#word(before ?? text);
    const reply = replyTo === undefined ? {} : { replyTo: this.sent(replyTo) };
    const all = await Promise.all(
      Array.from({ length: times }, () => sender.sendMessage({ target, content, mentionUserIds: mentions, ...reply })),
    );
    const message = all.at(-1)?.message;
    if (message === undefined) return;
    this.#sent.set(line.at, message);
    if (before !== undefined) await sender.editMessage({ ...message, content: this.#word(text) });
    for (const [emoji, who] of line.reactions ?? []) for (const user of who) await this.client(user).setReaction(message, emoji, true);
    if (line.recalled === true) await sender.recallMessage(message);
    if (from === 'alice') await sender.markRead(message.conversationId, message.conversationSeq);
    // All but the last two were seen.
    if (to === 'hike' && line.at < '13T17:31') await this.client('alice').markRead(message.conversationId, message.conversationSeq);
  }

  /** Made when it is first written to. */
  async #group(name: string): Promise<string> {
    const held = this.#ids.get(name);
    if (held !== undefined) return held;
    const group = GROUPS[name];
    if (group === undefined) throw new Error(`no group ${name}`);
    const { conversationId } = await this.client(group.owner).createGroup({
      title: this.#word(group.title),
      memberIds: group.members,
      readReceipts: true,
    });
    this.#ids.set(name, conversationId);
    return conversationId;
  }
}

function atMs(at: string): number {
  return Date.parse(`2026-06-${at}:00Z`);
}
