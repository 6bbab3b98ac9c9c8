/**
 * Badge rules that other systems document, as small models of the rule alone, written from what is public. A product may
 * do more beside its rule; where its documentation is silent, the reading that is kindest to the rule is taken. Thus, for
 * all of them: joins, edits and other grey lines never count, a new member begins at nothing unread, and all devices of a
 * person are told of each other's reading.
 */
import type { Happening, Viewer, Who } from './story.js';

export interface Rule {
  readonly name: string;
  /** What documents it. */
  readonly sources: readonly string[];
  happens(happening: Happening): void;
  badge(viewer: Viewer): number;
}

class Tally {
  readonly #of = new Map<Who, number>();
  get(who: Who): number {
    return this.#of.get(who) ?? 0;
  }
  set(who: Who, value: number): void {
    this.#of.set(who, value);
  }
  add(who: Who, value: number): void {
    this.set(who, this.get(who) + value);
  }
}

const ALL: readonly Who[] = ['alice', 'bob', 'carol'];

/**
 * Unread is the newest number less the number that was read.
 *
 * OpenIM, GetSortedConversationList of internal/rpc/conversation/conversation.go: the unread count of a conversation is
 * its maximum sequence minus the user's has-read sequence.
 *
 * `sendingReads`: Tinode's way, whose API document gives clients `seq` (the last message's id) and `read` (what the user
 * claims to have read), and whose server sets the sender's `read` to each message that they send (server/topic.go).
 */
export function subtraction(name: string, sources: readonly string[], sendingReads: boolean): Rule {
  const numbers = new Map<string, number>();
  const read = new Tally();
  const members = new Set<Who>(['alice', 'bob']);
  let newest = 0;
  return {
    name,
    sources,
    happens(happening) {
      switch (happening.kind) {
        case 'said':
        case 'saidAsProcessEnds':
          newest += 1;
          numbers.set(happening.name, newest);
          if (sendingReads) read.set(happening.by, newest);
          return;
        case 'read': {
          const { who } = happening.by;
          return read.set(who, Math.max(read.get(who), numbers.get(happening.name) ?? 0));
        }
        case 'numbersLost':
          newest += happening.count;
          return;
        case 'joined':
          members.add(happening.who);
          return read.set(happening.who, newest);
        default:
      }
    },
    badge: ({ who }) => (members.has(who) ? newest - read.get(who) : 0),
  };
}

/**
 * A counter that events move, kept beside the messages.
 *
 * MongooseIM, Inbox, "Read": the count is incremented upon receiving a new message, and set to zero upon receiving a
 * message by oneself or an appropriate chat marker. Nothing is said of retracted messages. mod_inbox documents for its
 * backend rdbms_async "the risk [of] messages being lost on an ungraceful shutdown": that is the crash of the story. A
 * marker that names an older message is read as documented: it sets zero. (Leaving the count as it was would be wrong too.)
 */
export function eventCounter(name: string, sources: readonly string[]): Rule {
  const count = new Tally();
  const members = new Set<Who>(['alice', 'bob']);
  return {
    name,
    sources,
    happens(happening) {
      if (happening.kind === 'joined') members.add(happening.who);
      if (happening.kind === 'read') count.set(happening.by.who, 0);
      if (happening.kind !== 'said') return;
      for (const who of ALL) if (members.has(who) && who !== happening.by) count.add(who, 1);
      count.set(happening.by, 0);
    },
    badge: ({ who }) => count.get(who),
  };
}

/**
 * A counter that also goes down by one when an unread message is recalled.
 *
 * NetEase NIM, with its options shouldConsiderRevokedMessageUnreadCount (a recalled message that is still unread here takes
 * one from the conversation's count) and shouldSyncUnreadCount (across devices) switched on; both are off by default. A
 * received message adds one (NIMCustomMessageConfig.enableUnreadCount); opening the conversation sets zero
 * (setChattingAccount). A deletion, and a removal as too old, are taken for recalls. How the count survives a crash is not said: taken to survive.
 */
export function decrementingCounter(name: string, sources: readonly string[]): Rule {
  const unread = new Map<Who, Set<string>>([
    ['alice', new Set()],
    ['bob', new Set()],
  ]);
  const said: string[] = [];
  return {
    name,
    sources,
    happens(happening) {
      switch (happening.kind) {
        case 'said':
        case 'saidAsProcessEnds':
          said.push(happening.name);
          for (const [who, names] of unread) if (who !== happening.by) names.add(happening.name);
          return;
        case 'recalled':
        case 'deleted':
          for (const names of unread.values()) names.delete(happening.name);
          return;
        case 'oldRemoved':
          for (const name of said.slice(0, -happening.keepNewest)) for (const names of unread.values()) names.delete(name);
          return;
        case 'read':
          return unread.get(happening.by.who)?.clear();
        case 'joined':
          unread.set(happening.who, new Set());
          return;
        default:
      }
    },
    badge: ({ who }) => unread.get(who)?.size ?? 0,
  };
}

export function otherRules(): readonly Rule[] {
  return [
    subtraction(
      'max - read',
      [
        'https://github.com/openimsdk/open-im-server/blob/04bac6ddb7ebe31a56b09b2a64001af3dc448445/internal/rpc/conversation/conversation.go',
      ],
      false,
    ),
    subtraction(
      'max - read, sending reads',
      ['https://github.com/tinode/chat (API document, {meta}: seq and read; server/topic.go, on publishing)'],
      true,
    ),
    eventCounter('counter, by events', [
      'https://esl.github.io/MongooseDocs/latest/open-extensions/inbox',
      'https://esl.github.io/MongooseDocs/latest/modules/mod_inbox/',
    ]),
    decrementingCounter('counter, less recalled', [
      'https://pub.dev/documentation/nim_core/1.0.0-rc.6/nim_core/NIMSDKOptions/shouldConsiderRevokedMessageUnreadCount.html',
      'https://pub.dev/documentation/nim_core_platform_interface/latest/nim_core_platform_interface/NIMSDKOptions/shouldSyncUnreadCount.html',
      'https://pub.dev/documentation/nim_core/1.0.0-rc.1/nim_core/MessageService/setChattingAccount.html',
    ]),
  ];
}
