/** What a list of messages shows, and how one stands to its neighbours. */
import type { ConversationSnapshot, Message, OutgoingMessage } from '@qim/client';
import { isSameDay } from '../shared/times.js';

export type Item =
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'outgoing'; readonly message: OutgoingMessage };

/** Of the same sender within this long: one block. */
const BLOCK_MS = 5 * 60_000;

/** Held by the message itself, so that an unchanged one stays the same item. */
const made = new WeakMap<Message | OutgoingMessage, Item>();

export function itemsOf({ messages, outgoing }: Pick<ConversationSnapshot, 'messages' | 'outgoing'>): Item[] {
  const items: Item[] = messages.map((message) => held(message, () => ({ kind: 'message', message })));
  for (const message of outgoing) items.push(held(message, () => ({ kind: 'outgoing', message })));
  return items;
}

function held(message: Message | OutgoingMessage, make: () => Item): Item {
  const before = made.get(message);
  if (before !== undefined) return before;
  const item = make();
  made.set(message, item);
  return item;
}

/** One's own message keeps its key when it arrives: what was on its way becomes what is there. */
export function keyOf(item: Item, userId: string): string {
  const sender = item.kind === 'message' ? item.message.senderUserId : userId;
  return `${sender} ${item.message.clientMessageId}`;
}

function atMsOf(item: Item): number {
  return item.kind === 'message' ? item.message.committedAtMs : item.message.createdAtMs;
}

/** Unix milliseconds of a day that begins with this item; undefined: it is the day of the one before. */
export function dayBefore(item: Item, before: Item | undefined): number | undefined {
  const at = atMsOf(item);
  return before !== undefined && isSameDay(atMsOf(before), at) ? undefined : at;
}

/** Whether it goes on with the block of the one before. */
export function continues(item: Item, before: Item | undefined, userId: string): boolean {
  if (before === undefined || isControl(before) || isControl(item)) return false;
  const senderOf = (one: Item): string => (one.kind === 'message' ? one.message.senderUserId : userId);
  return senderOf(item) === senderOf(before) && atMsOf(item) - atMsOf(before) < BLOCK_MS && dayBefore(item, before) === undefined;
}

function isControl(item: Item): boolean {
  return item.kind === 'message' && item.message.content.kind === 'control';
}

/** The place of the first message past this sequence; the length when there is none. Ascending by sequence. */
export function placeAfter(messages: readonly Message[], conversationSeq: number): number {
  let [low, high] = [0, messages.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((messages[middle]?.conversationSeq ?? 0) <= conversationSeq) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first that somebody else wrote past this sequence; -1: none. */
export function firstUnreadPlace(messages: readonly Message[], readSeq: number, userId: string): number {
  for (let at = placeAfter(messages, readSeq); at < messages.length; at += 1) {
    const message = messages[at];
    if (message !== undefined && message.senderUserId !== userId && message.content.kind !== 'control') return at;
  }
  return -1;
}
