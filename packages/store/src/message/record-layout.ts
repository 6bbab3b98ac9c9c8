/** Offsets and sizes of the stored record and body, version 1, in bytes. What they mean is told in codec.ts. */
export const RECORD_VERSION = 1;

export const Offset = {
  Version: 0,
  /** sequence, prevSequence, committedAtMs; also the last `Size.Stamp` bytes. */
  Stamp: 2,
  Checksum: 26,
  /** First byte under the checksum. */
  Checked: 30,
  TenantId: 30,
  Status: 34,
  Flags: 35,
  Type: 36,
  Revision: 40,
  AmendedAt: 44,
  MessageId: 52,
  ActivityId: 68,
  ConversationLength: 84,
  SenderLength: 85,
  MentionCount: 86,
  Reserved: 87,
  Texts: 88,
} as const;

export const Size = {
  FixedHead: 88,
  Stamp: 24,
  Fingerprint: 8,
  /** bodyLength, bodyChecksum and the snippet's length, in the place of a payload that is apart. */
  Apart: 10,
} as const;

export const BodyOffset = {
  Checksum: 2,
  /** The sequence; also the last `BodySize.Stamp` bytes. */
  Stamp: 6,
  Checked: 14,
  TenantId: 14,
  Revision: 18,
  ConversationLength: 22,
  Texts: 23,
} as const;

export const BodySize = { FixedHead: 23, Stamp: 8 } as const;

export const Flag = {
  MentionAll: 1,
  BodyApart: 2,
  SnippetTruncated: 4,
  SnippetIsContentType: 8,
  /** Only with BodyApart. */
  SnippetAny: 12,
  All: 15,
} as const;
