import type { MessageType as Stored } from '@qim/proto';

/** The types that have a name. Any other number may be sent and received, and counts as unread. */
export const MessageType = {
  Text: 1,
  Image: 2,
  File: 3,
  Audio: 4,
  Video: 5,
  Location: 6,
  Card: 7,
  Custom: 8,
  /** Shown in grey or not at all; never unread. */
  Control: 9,
} as const satisfies typeof Stored;
