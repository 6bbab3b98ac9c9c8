export type * from './bus/bus.js';
export type * from './directory/directory.js';
export { corrupt, type DamageError, isDamage, MessageStoreError, unavailable } from './errors.js';
export { decodeMessage, encodeMessage } from './message/message-bytes.js';
export type * from './message/message-store.js';
export type * from './message/summary.js';
export { countsAsUnread } from './message/unread.js';
export type * from './outbox/outbox.js';
export type { Store, StoreObserver, StoreOptions } from './store.js';
