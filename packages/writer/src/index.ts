export type * from './contract.js';
export { directConversationId } from './conversation-ids.js';
export type { BeforeSend, DirectMessages, Draft, WriterDeps, WriterObserver } from './ports.js';
export { createWriter } from './writer.js';
