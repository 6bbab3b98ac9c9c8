/** What can be done to a store, as plain values: they shrink, and each is one line for a reader. */
import { MessageStatus, type Role } from '@qim/proto';

/**
 * People and chats are named by number. Who acts in a chat (`by`) is one of its present members, the highest role first, when
 * the number is below MEMBERS, and anybody above it: most of what is tried is then allowed. Messages are counted back from
 * the newest, holes left out.
 */
export const MEMBERS = 8;
export const USERS = ['alice', 'bob', 'carol', 'dave'] as const;
export const CHATS = 3;

export interface Saying {
  readonly chat: number;
  readonly by: number;
  readonly type: number;
  readonly what: 'text' | 'data' | 'app' | 'title';
  /** Bytes of the content, or about so many. */
  readonly bytes: number;
  readonly mentions: readonly number[];
  readonly mentionsAll: boolean;
  /** So many before the newest; undefined: no reply. */
  readonly replyBack: number | undefined;
}

interface Changing {
  readonly chat: number;
  readonly by: number;
  readonly users: readonly number[];
}

/** Up to so many before the newest. */
interface Marking {
  readonly chat: number;
  readonly user: number;
  readonly back: number;
}

export type Command =
  | {
      readonly kind: 'create';
      readonly chat: number;
      readonly by: number;
      readonly others: readonly number[];
      readonly direct: boolean;
      readonly showsPast: boolean;
      readonly onlyAdminsPost: boolean;
    }
  | ({ readonly kind: 'say' } & Saying)
  | { readonly kind: 'burst'; readonly chat: number; readonly by: number; readonly count: number }
  | { readonly kind: 'retry'; readonly which: number; readonly otherContent: boolean }
  | {
      readonly kind: 'amend';
      readonly chat: number;
      readonly by: number;
      readonly asAdmin: boolean;
      readonly back: number;
      readonly status: typeof MessageStatus.Edited | typeof MessageStatus.Recalled | typeof MessageStatus.Deleted;
      readonly bytes: number;
      readonly mentions: readonly number[];
      /** The target as it was before its last amendment. */
      readonly stale: boolean;
    }
  | {
      readonly kind: 'react';
      readonly chat: number;
      readonly by: number;
      readonly back: number;
      readonly emoji: string;
      readonly on: boolean;
      /** The target as it was before its last amendment. */
      readonly stale: boolean;
    }
  | { readonly kind: 'role'; readonly chat: number; readonly by: number; readonly user: number; readonly role: Role }
  | {
      readonly kind: 'configure';
      readonly chat: number;
      readonly by: number;
      /** Undefined: the settings. */
      readonly title: string | undefined;
      readonly onlyAdminsPost: boolean;
      readonly showsPast: boolean;
      readonly readReceipts: boolean;
      /** Told by other settings than there are. */
      readonly stale: boolean;
    }
  | ({ readonly kind: 'join' } & Changing)
  | ({ readonly kind: 'leave' } & Changing)
  | ({ readonly kind: 'read' } & Marking)
  | ({ readonly kind: 'clear' } & Marking)
  | {
      readonly kind: 'flag';
      readonly chat: number;
      readonly user: number;
      readonly flag: 'pinned' | 'muted' | 'hidden' | 'markedUnread';
      readonly on: boolean;
    }
  /** List changes that wait are applied, from the last to the first when `reversed`. */
  | { readonly kind: 'deliver'; readonly reversed: boolean; readonly twice: boolean }
  | { readonly kind: 'skip'; readonly chat: number; readonly count: number }
  | { readonly kind: 'clock'; readonly ms: number }
  | { readonly kind: 'restart'; readonly during: Saying | undefined }
  | { readonly kind: 'retain'; readonly chat: number; readonly keepNewest: number | undefined; readonly olderThanBack: number | undefined }
  | {
      readonly kind: 'catchUp';
      readonly chat: number;
      readonly user: number;
      readonly epochOff: number;
      readonly back: number;
      readonly cursorBack: number;
      readonly limit: number;
    }
  | { readonly kind: 'enumerate'; readonly limit: number };

const STATUS = { [MessageStatus.Edited]: 'edits', [MessageStatus.Recalled]: 'recalls', [MessageStatus.Deleted]: 'deletes' } as const;

const name = (user: number): string => USERS[user] ?? '?';
/** Who acts in a chat. */
const actor = (by: number): string => (by < MEMBERS ? `member ${by}` : name(by - MEMBERS));
const names = (users: readonly number[]): string => users.map(name).join(', ') || 'nobody';
const back = (count: number): string =>
  count === 0 ? 'the newest' : count < 0 ? `${-count} past the newest` : `${count} before the newest`;

function saying({ chat, by, type, what, bytes, mentions, mentionsAll, replyBack }: Saying): string {
  const told = [...(mentionsAll ? ['all'] : []), ...mentions.map(name)];
  const reply = replyBack === undefined ? '' : `, a reply to ${back(replyBack)}`;
  const mentioning = told.length > 0 ? `, mentioning ${told.join(', ')}` : '';
  return `${actor(by)} says in chat ${chat}: ${what} of ${bytes} bytes, type ${type}${mentioning}${reply}`;
}

function configuring(command: Extract<Command, { kind: 'configure' }>): string {
  const { by, chat, title, onlyAdminsPost, showsPast, readReceipts, stale } = command;
  const traits = [onlyAdminsPost && 'admins post', showsPast && 'shows its past', readReceipts && 'receipts', stale && 'by others before'];
  const to = title === undefined ? `its settings: ${traits.filter(Boolean).join(', ') || 'none'}` : `its title: ${title}`;
  return `${actor(by)} gives chat ${chat} ${to}`;
}

/** One line. */
export function describe(command: Command): string {
  switch (command.kind) {
    case 'create': {
      const traits = [
        command.direct ? 'direct' : 'a group',
        command.showsPast && 'shows its past',
        command.onlyAdminsPost && 'admins post',
      ];
      return `${name(command.by)} makes chat ${command.chat} (${traits.filter(Boolean).join(', ')}) with ${names(command.others)}`;
    }
    case 'say':
      return saying(command);
    case 'burst':
      return `${actor(command.by)} says ${command.count} short texts in chat ${command.chat} at once`;
    case 'retry':
      return `request ${command.which} of those sent is sent again${command.otherContent ? ' with other content' : ''}`;
    case 'amend': {
      const how = `${command.asAdmin ? ' as an admin' : ''}${command.stale ? ', by what it was before' : ''}`;
      const to = command.status === MessageStatus.Edited ? ` to ${command.bytes} bytes mentioning ${names(command.mentions)}` : '';
      return `${actor(command.by)} ${STATUS[command.status]} ${back(command.back)} said in chat ${command.chat}${how}${to}`;
    }
    case 'react': {
      const how = command.stale ? ', by what it was before' : '';
      return `${actor(command.by)} ${command.on ? 'sets' : 'takes off'} ${command.emoji} on ${back(command.back)} said in chat ${command.chat}${how}`;
    }
    case 'role':
      return `${actor(command.by)} gives ${name(command.user)} the role ${command.role} in chat ${command.chat}`;
    case 'configure':
      return configuring(command);
    case 'join':
      return `${actor(command.by)} adds ${names(command.users)} to chat ${command.chat}`;
    case 'leave':
      return `${actor(command.by)} takes ${names(command.users)} out of chat ${command.chat}`;
    case 'flag':
      return `${name(command.user)} sets ${command.flag} of chat ${command.chat} to ${command.on}`;
    case 'read':
    case 'clear':
      return `${name(command.user)} ${command.kind}s chat ${command.chat} up to ${back(command.back)}`;
    case 'deliver':
      return `the list changes that wait are applied${command.reversed ? ', the last one first' : ''}${command.twice ? ', twice' : ''}`;
    case 'skip':
      return `${command.count} sequences of chat ${command.chat} are not given`;
    case 'clock':
      return `the clock moves by ${command.ms} ms`;
    case 'restart':
      return `the store ends and starts again${command.during === undefined ? '' : `, while ${saying(command.during)}, and tries again`}`;
    case 'retain': {
      const { keepNewest, olderThanBack } = command;
      const rules = [
        keepNewest !== undefined && `all but ${keepNewest}`,
        olderThanBack !== undefined && `what is older than ${back(olderThanBack)}`,
      ];
      return `retention of chat ${command.chat} removes ${rules.filter(Boolean).join(' and ') || 'nothing'}`;
    }
    case 'catchUp': {
      const { user, chat, epochOff, cursorBack, limit } = command;
      return `${name(user)} catches up in chat ${chat} after ${back(command.back)}, ${cursorBack} amendments behind, epoch ${epochOff} off, ${limit} at a time`;
    }
    case 'enumerate':
      return `all conversations are named, ${command.limit} at a time`;
  }
}
