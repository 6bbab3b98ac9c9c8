/** The read side put together: one operation per method, all over the same context. */
import { catchUp } from './catch-up.js';
import { clearHistory } from './clear-history.js';
import type { SessionContext } from './context.js';
import type { Session } from './contract.js';
import { getConversation, listConversations } from './conversation-list.js';
import { setConversationFlags } from './flags.js';
import { readHistory } from './history.js';
import { listMembers } from './members.js';
import { blockUser, listBlocked, listReports, reportMessage } from './moderation.js';
import { getProfiles, setProfile } from './profiles.js';
import { markAllRead, markRead } from './read-marks.js';
import { othersRead } from './read-receipts.js';
import { suspendUser } from './suspension.js';
import { getTotals } from './totals.js';
import { setTyping } from './typing.js';
import { registerWebPush, unregisterWebPush } from './web-push.js';

export function createSession(context: SessionContext): Session {
  return {
    listConversations: (caller, input) => listConversations(context, caller, input),
    getConversation: (caller, conversationId, explain) => getConversation(context, caller, conversationId, explain),
    markRead: (caller, conversationId, readConversationSeq) => markRead(context, caller, conversationId, readConversationSeq),
    markAllRead: (caller, upTo) => markAllRead(context, caller, upTo),
    getTotals: (caller) => getTotals(context, caller),
    setConversationFlags: (caller, conversationId, change) => setConversationFlags(context, caller, conversationId, change),
    readHistory: (caller, input) => readHistory(context, caller, input),
    catchUp: (caller, input) => catchUp(context, caller, input),
    clearHistory: (caller, conversationId, upToSeq) => clearHistory(context, caller, conversationId, upToSeq),
    setProfile: (caller, profile) => setProfile(context, caller, profile),
    getProfiles: (caller, userIds) => getProfiles(context, caller, userIds),
    blockUser: (caller, userId) => blockUser(context, caller, userId),
    unblockUser: ({ tenantId, userId }, other) => context.users.unblock(tenantId, userId, other),
    listBlocked: (caller, pageToken) => listBlocked(context, caller, pageToken),
    webPushKey: () => context.config.webPush?.publicKey,
    registerWebPush: (caller, subscription) => registerWebPush(context, caller, subscription),
    unregisterWebPush: (caller, endpoint) => unregisterWebPush(context, caller, endpoint),
    setTyping: (caller, conversationId, on) => setTyping(context, caller, conversationId, on),
    suspendUser: (caller, userId, deviceId, suspended) => suspendUser(context, caller, userId, deviceId, suspended),
    reportMessage: (caller, ref, comment) => reportMessage(context, caller, ref, comment),
    listReports: (caller, pageSize) => listReports(context, caller, pageSize),
    listMembers: (caller, conversationId, pageToken) => listMembers(context, caller, conversationId, pageToken),
    othersRead: (caller, conversationId) => othersRead(context, caller, conversationId),
  };
}
