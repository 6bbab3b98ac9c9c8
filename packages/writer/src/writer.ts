/** The write side put together: one operation per method, all over the same ports. */
import { deleteMessage, editMessage, recallMessage } from './amend.js';
import type { Writer } from './contract.js';
import { deleteUser } from './delete-user.js';
import { DirectGate } from './direct-gate.js';
import { setRole, updateConversation } from './group-settings.js';
import { addMembers, createGroup, leaveGroup, removeMember } from './groups.js';
import type { WriterDeps } from './ports.js';
import { setReaction } from './react.js';
import { sendMessage } from './send.js';
import { createConversation, sendAsSystem } from './system.js';

export function createWriter(deps: WriterDeps): Writer {
  const gate = new DirectGate(deps);
  return {
    sendMessage: (caller, input) => sendMessage(deps, gate, caller, input),
    editMessage: (caller, input) => editMessage(deps, gate, caller, input),
    recallMessage: (caller, ref) => recallMessage(deps, caller, ref),
    deleteMessage: (caller, ref) => deleteMessage(deps, caller, ref),
    setReaction: (caller, input) => setReaction(deps, gate, caller, input),
    deleteUser: (caller, userId) => deleteUser(deps, caller, userId),
    createGroup: (caller, input) => createGroup(deps, caller, input),
    addMembers: (caller, conversationId, memberIds) => addMembers(deps, caller, conversationId, memberIds),
    removeMember: (caller, conversationId, userId) => removeMember(deps, caller, conversationId, userId),
    leaveGroup: (caller, conversationId) => leaveGroup(deps, caller, conversationId),
    createConversation: (caller, input) => createConversation(deps, caller, input),
    sendAsSystem: (caller, input) => sendAsSystem(deps, caller, input),
    setRole: (caller, conversationId, userId, role) => setRole(deps, caller, conversationId, userId, role),
    updateConversation: (caller, input) => updateConversation(deps, caller, input),
  };
}
