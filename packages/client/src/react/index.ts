export {
  type ShownConversation,
  type ShownMembers,
  useConnection,
  useConversation,
  useConversations,
  useMembers,
  useObservable,
  useOutbox,
  usePresence,
  useProfile,
  useTotals,
  useTyping,
} from './hooks.js';
export { QimProvider, useQim } from './provider.js';
