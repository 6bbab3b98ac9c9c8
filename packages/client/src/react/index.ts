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
  useReadMarks,
  useTotals,
  useTyping,
} from './hooks.js';
export { QimProvider, useQim } from './provider.js';
