/**
 * Whatever happens to a conversation, and whatever becomes of its pushes and of the answers that are under way: once a resync
 * has run to its end, an open conversation shows what a fresh fetch shows.
 */
import type { HistoryPage, Message, ReadHistoryInput } from '@qim/client';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { QimClientError } from '../src/errors.js';
import type { CatchUpInput } from '../src/inputs.js';
import { MessageWindow } from '../src/message-window.js';
import type { CatchUpPage } from '../src/types.js';
import { message, pageOf } from './support/messages.js';

const SEED = 20_261_201;
/** Small, so that a catch-up has pages. */
const PAGE = 4;
/** Messages that there are to begin with, where one looks back: several pages of history. */
const PAST = 160;

type Deed =
  | { readonly act: 'commit'; readonly holes: number; readonly fate: Fate }
  | { readonly act: 'amend' | 'react'; readonly back: number; readonly fate: Fate }
  | { readonly act: 'lose'; readonly count: number }
  | { readonly act: 'clear' | 'answer' | 'late'; readonly count: number }
  | { readonly act: 'resync' | 'remove' | 'rejoin' }
  | { readonly act: 'jump'; readonly to: number }
  | { readonly act: 'older' | 'newer' | 'latest' };
type Fate = 'once' | 'twice' | 'late' | 'lost';

/** A conversation as the server has it. */
class Truth {
  messages: Message[] = [];
  head = 0;
  epoch = 1;
  isMember = true;
  #amendments = 0;
  #ids = 0;
  readonly #amended = new Map<number, number>();

  commit(holes: number): Message {
    this.head += 1 + holes;
    this.#ids += 1;
    const made = message(this.head, { messageId: `m${this.#ids}`, epoch: this.epoch });
    this.messages.push(made);
    return made;
  }

  change(back: number, how: (held: Message) => Partial<Message>): Message | undefined {
    const held = this.messages.at(-1 - back);
    if (held === undefined) return undefined;
    const changed = { ...held, ...how(held) };
    this.messages = this.messages.with(this.messages.indexOf(held), changed);
    this.#amendments += 1;
    this.#amended.set(held.conversationSeq, this.#amendments);
    return changed;
  }

  /** As after a restore: sequences are given again. */
  lose(count: number): void {
    this.messages = this.messages.slice(0, Math.max(0, this.messages.length - count));
    this.head = this.messages.at(-1)?.conversationSeq ?? 0;
    this.epoch += 1;
    this.messages = this.messages.map((held) => ({ ...held, epoch: this.epoch }));
    for (const seq of this.#amended.keys()) if (seq > this.head) this.#amended.delete(seq);
  }

  get cursor(): number {
    return this.#amendments;
  }

  history({ afterSeq, beforeSeq, limit = 50 }: ReadHistoryInput): HistoryPage {
    const position = afterSeq !== undefined ? { after: afterSeq } : beforeSeq !== undefined ? { before: beforeSeq } : 'newest';
    return pageOf(this.messages, position, limit, this.epoch);
  }

  catchUp({ epoch, afterSeq, amendmentCursor }: CatchUpInput): CatchUpPage {
    if (epoch !== this.epoch || afterSeq > this.head || amendmentCursor > this.cursor) return { reset: true };
    const page = this.history({ conversationId: 'g_1', afterSeq, limit: PAGE });
    const past = [...this.#amended].filter(([, number]) => number > amendmentCursor).sort(([, a], [, b]) => a - b);
    const looked = past.slice(0, PAGE);
    return {
      ...page,
      reset: false,
      amended: looked.flatMap(([seq]) => this.messages.filter((one) => one.conversationSeq === seq && seq <= afterSeq)),
      hasMore: page.hasMore || past.length > PAGE,
      nextAfterSeq: page.messages.at(-1)?.conversationSeq ?? afterSeq,
      nextAmendmentCursor: past.length > PAGE ? (looked.at(-1)?.[1] ?? 0) : this.cursor,
    };
  }
}

/** A window whose answers come when the test lets them, made when they were asked for. */
class World {
  readonly truth = new Truth();
  readonly #answers: (() => void)[] = [];
  readonly #late: Message[] = [];
  readonly window = new MessageWindow({
    conversationId: 'g_1',
    heldCursor: () => this.truth.cursor,
    api: {
      readHistory: (input) => this.#later(() => this.truth.history(input)),
      catchUp: (input) => this.#later(() => this.truth.catchUp(input)),
      getConversation: () => Promise.reject(new Error('not asked for while there is a cursor')),
    },
  });

  async do(deed: Deed): Promise<void> {
    const { truth, window } = this;
    switch (deed.act) {
      case 'commit':
        this.#push(truth.commit(deed.holes), deed.fate);
        break;
      case 'amend':
        this.#push(
          truth.change(deed.back, ({ revision }) => ({ revision: revision + 1, status: 'edited' })),
          deed.fate,
        );
        break;
      case 'react':
        this.#push(
          truth.change(deed.back, (held) => ({ reactionsRevision: held.reactionsRevision + 1 })),
          deed.fate,
        );
        break;
      case 'lose':
        truth.lose(deed.count);
        break;
      case 'clear':
        truth.messages = truth.messages.slice(deed.count);
        break;
      case 'remove':
        truth.isMember = false;
        window.removed();
        break;
      case 'rejoin':
        if (truth.isMember) break;
        truth.isMember = true;
        window.startAnew();
        break;
      case 'answer':
        for (const answer of this.#answers.splice(0, deed.count)) answer();
        break;
      case 'late':
        for (const one of this.#late.splice(0, deed.count).reverse()) if (truth.isMember) window.push(one);
        break;
      case 'resync':
        window.resync();
        break;
      default:
        this.#look(deed);
    }
    await settled();
  }

  /** What a reader does; that it fails for one who is no member is no matter here. */
  #look(deed: Extract<Deed, { act: 'jump' | 'older' | 'newer' | 'latest' }>): void {
    const { window } = this;
    const looks = { older: () => window.loadOlder(), newer: () => window.loadNewer(), latest: () => window.toLatest() };
    (deed.act === 'jump' ? window.jumpTo(deed.to) : looks[deed.act]()).catch(() => {});
  }

  async finish(): Promise<void> {
    await this.do({ act: 'rejoin' });
    await this.do({ act: 'late', count: Number.POSITIVE_INFINITY });
    this.window.resync();
    for (let n = 0; n < 200; n += 1) {
      for (const answer of this.#answers.splice(0)) answer();
      await settled();
    }
  }

  #later<T>(make: () => T): Promise<T> {
    // What a reader gets is what stood there at some moment between asking and answering: here, when it was asked.
    let answer: () => T;
    if (this.truth.isMember) {
      const made = make();
      answer = () => made;
    } else {
      answer = () => {
        throw new QimClientError({ code: 'not_found', reason: 'NOT_MEMBER', message: 'no' });
      };
    }
    return new Promise((resolve, reject) => {
      this.#answers.push(() => {
        try {
          resolve(answer());
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      });
    });
  }

  #push(one: Message | undefined, fate: Fate): void {
    if (one === undefined || !this.truth.isMember || fate === 'lost') return;
    if (fate === 'late') this.#late.push(one);
    else this.window.push(one);
    if (fate === 'twice') this.window.push(one);
  }
}

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const fate = fc.constantFrom<Fate>('once', 'once', 'twice', 'late', 'lost');
const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ act: fc.constant('commit' as const), holes: fc.nat(2), fate }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constantFrom('amend' as const, 'react' as const), back: fc.nat(6), fate }) },
  { weight: 6, arbitrary: fc.record({ act: fc.constantFrom('answer' as const, 'late' as const), count: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ act: fc.constant('lose' as const), count: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('clear' as const), count: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constantFrom('resync' as const, 'remove' as const, 'rejoin' as const) }) },
);

const look: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ act: fc.constant('jump' as const), to: fc.integer({ min: 1, max: 2 * PAST }) }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constantFrom('older' as const, 'newer' as const) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('latest' as const) }) },
);

function converges(deeds: fc.Arbitrary<Deed>, runs: number): Promise<void> {
  const property = fc.asyncProperty(fc.array(deeds, { minLength: 1, maxLength: 40, size: 'max' }), async (story) => {
    const world = new World();
    world.window.resync();
    for (const one of story) await world.do(one);
    await world.finish();
    const { status, messages, error } = world.window.state.snapshot();
    expect([status, error]).toEqual(['ready', undefined]);
    expect(messages).toEqual(world.truth.messages);
  });
  return fc.assert(property, { seed: SEED, numRuns: runs });
}

test('lost, doubled and late pushes, amendments and reactions, holes, clearing, removal, other epochs, sequences given again', async () => {
  await converges(deed, 250);
});

test('and wherever in the past one has looked meanwhile: what is shown is a part of history without gaps, and the way back leads to its end', async () => {
  const property = fc.asyncProperty(
    fc.array(fc.oneof({ weight: 2, arbitrary: deed }, { weight: 1, arbitrary: look }), { minLength: 1, maxLength: 40, size: 'max' }),
    async (story) => {
      const world = new World();
      for (let n = 0; n < PAST; n += 1) world.truth.commit(n % 3 === 0 ? 1 : 0);
      world.window.resync();
      await world.do({ act: 'answer', count: 3 });
      for (const one of story) await world.do(one);
      await world.finish();
      const part = world.window.state.snapshot();
      expect([part.status, part.error]).toEqual(['ready', undefined]);
      const [from, to] = [part.messages[0]?.conversationSeq ?? 0, part.messages.at(-1)?.conversationSeq ?? 0];
      const isOfPart = ({ conversationSeq }: Message): boolean => conversationSeq >= from && (!part.hasNewer || conversationSeq <= to);
      expect(part.messages).toEqual(world.truth.messages.filter(isOfPart));
      await world.do({ act: 'latest' });
      await world.finish();
      const { messages, hasNewer } = world.window.state.snapshot();
      expect([messages.at(-1), hasNewer]).toEqual([world.truth.messages.at(-1), false]);
    },
  );
  await fc.assert(property, { seed: SEED, numRuns: 100 });
});
