/** What the facts of a conversation must say, taken from its records as they pass by in ascending order. */
import { ControlKind, type ConversationSeq, type ConversationSettings, type MessageRecord, MessageType, SEQ_ZERO } from '@qim/proto';

export class RecordDigest {
  first: ConversationSeq | undefined;
  /** Where the conversation begins: what the first record names as the one before it. */
  firstPrev: ConversationSeq | undefined;
  newest: ConversationSeq = SEQ_ZERO;
  /** Of the newest that can be read; 0: none. */
  committedAtMs = 0;
  /** The newest can be read. */
  newestKnown = false;
  /** The newest that is not Control; 0: none. */
  newestShown: ConversationSeq = SEQ_ZERO;
  /** A record that cannot be read may be a newer one that lists show. */
  shownUnknown = false;
  /** Control records of a group: by the server, and none of them in a direct conversation. */
  groupControls = 0;
  title: string | undefined;
  settings: ConversationSettings | undefined;

  take(record: MessageRecord): void {
    this.first ??= record.conversationSeq;
    this.firstPrev ??= record.prevSequence;
    this.newest = record.conversationSeq;
    this.newestKnown = true;
    this.committedAtMs = record.committedAtMs;
    if (record.type !== MessageType.Control) {
      this.newestShown = record.conversationSeq;
      this.shownUnknown = false;
    } else if (record.content.kind === 'control' && record.content.control.kind !== ControlKind.App) {
      this.groupControls += 1;
      const { control } = record.content;
      if (control.kind === ControlKind.Created || control.kind === ControlKind.Title) this.title = control.title;
      if (control.kind === ControlKind.Settings) this.settings = control.settings;
    }
  }

  takeUnknown(sequence: ConversationSeq): void {
    this.first ??= sequence;
    this.firstPrev ??= SEQ_ZERO;
    this.newest = sequence;
    this.newestKnown = false;
    this.shownUnknown = true;
  }
}
