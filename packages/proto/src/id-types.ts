/** The types of `ids.ts`, apart from its parse functions: errors name these types, and the parse functions throw errors. */
declare const brand: unique symbol;
type Brand<Base, Name extends string> = Base & { readonly [brand]: Name };

/** Isolation domain, an integer 0..2^32-1. */
export type TenantId = Brand<number, 'TenantId'>;
/** The host application's own id of an account: 1..64 bytes of UTF-8 without control characters, compared byte for byte. */
export type UserId = Brand<string, 'UserId'>;
/** The host application's own id of a device; the same form as a `UserId`. */
export type DeviceId = Brand<string, 'DeviceId'>;
/** 1..64 of `A-Z a-z 0-9 _ -`. Direct ones begin with `d_`, groups with `g_`. */
export type ConversationId = Brand<string, 'ConversationId'>;
/**
 * Place of a message in its conversation, 1..2^53-1; 0 means 'nothing yet'. Strictly increasing; HOLES ARE LEGAL:
 * the difference of two of them is a distance and never a count of messages.
 */
export type ConversationSeq = Brand<number, 'ConversationSeq'>;
/** UUIDv7 in lower-case text. Never changes. */
export type MessageId = Brand<string, 'MessageId'>;
/** UUIDv7 in lower-case text. Changes whenever the record changes, and never equals the record's `MessageId`. */
export type ActivityId = Brand<string, 'ActivityId'>;
/** The sender's idempotency key: 1..64 bytes of UTF-8 without control characters; unique per sender and conversation. */
export type ClientMessageId = Brand<string, 'ClientMessageId'>;
