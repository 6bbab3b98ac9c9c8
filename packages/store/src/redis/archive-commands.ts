/** The lines of an archive as Redis commands. */
import { ARCHIVE_CLOCKS_APART_MS, DEDUP_WEEK_MS } from '@qim/proto';
import { type ArchiveLine, type ConversationPart, isConversationPart, isUserPart, type OtherLine, type UserPart } from '../archive/line.js';
import { inImportedEpoch } from '../archive/sink.js';
import { sequenceToBytes } from '../message/bytes.js';
import { FACT_FIELDS, formatFacts, formatMember } from '../message/facts.js';
import type { Command } from './connection.js';
import {
  bucketOf,
  type ConversationKeys,
  dedupField,
  groupRequestKey,
  type KeySpace,
  reportsKey,
  type UserKeys,
  userKeys,
} from './keys.js';
import { quarantineKey } from './maintenance-keys.js';
import { toBuffer } from './replies.js';

/** In the order of the lines; each may be run twice, but for reports and what waits for delivery. */
export function commandsFor(lines: readonly ArchiveLine[], space: KeySpace, startedAtMs: number): Command[] {
  const commands: Command[] = [];
  const expiring = new Map<string, number>();
  let conversation: ConversationKeys | undefined;
  let user: UserKeys | undefined;
  for (const line of lines) {
    if (line.kind === 'conversation') {
      conversation = space.conversation(line.tenantId, line.conversationId);
      if (line.facts === undefined) continue;
      const facts = formatFacts(inImportedEpoch(line.facts, startedAtMs));
      commands.push(['HSET', conversation.facts, ...FACT_FIELDS.flatMap((name) => [name, facts[name]])]);
    } else if (line.kind === 'user') user = userKeys(line.tenantId, line.userId);
    else if (isConversationPart(line)) {
      if (conversation === undefined) continue;
      commands.push(...partCommands(conversation, line));
      if (line.kind === 'dedup') expiring.set(conversation.dedup(line.week), line.week);
    } else if (isUserPart(line)) {
      if (user !== undefined) commands.push(...userCommands(user, line));
    } else {
      commands.push(otherCommand(line, space, startedAtMs));
      if (line.kind === 'groupRequest') expiring.set(groupRequestKey(line.tenantId, line.userId, line.week), line.week);
    }
  }
  return [...commands, ...[...expiring].map(([key, week]): Command => ['PEXPIREAT', key, expiryOf(week)])];
}

/** Two weeks after the last moment of its week: no earlier than it would have been. */
function expiryOf(week: number): string {
  return String((week + 3) * DEDUP_WEEK_MS);
}

function partCommands(keys: ConversationKeys, line: ConversationPart): Command[] {
  switch (line.kind) {
    case 'record': {
      const { sequence, indexed, record, body } = line;
      const [bucket, field] = [bucketOf(sequence), String(sequence)];
      const commands: Command[] = [];
      if (record !== undefined) commands.push(['HSET', keys.records(bucket), field, toBuffer(record)]);
      if (body !== undefined) commands.push(['HSET', keys.bodies(bucket), field, toBuffer(body)]);
      if (indexed) commands.push(['ZADD', keys.history, '0', toBuffer(sequenceToBytes(sequence))]);
      return commands;
    }
    case 'member':
      return [['HSET', keys.members, line.userId, formatMember(line.entry)]];
    case 'amendment':
      return [['ZADD', keys.amendments, String(line.number), toBuffer(sequenceToBytes(line.sequence))]];
    case 'reactions':
      return [['HSET', keys.reactions, String(line.sequence), toBuffer(line.bytes)]];
    case 'dedup':
      return [['HSET', keys.dedup(line.week), dedupField(line.sender, line.clientMessageId), toBuffer(line.bytes)]];
    case 'skipped':
      return [['HSET', keys.reserved, String(line.epoch), `${line.from} ${line.through}`]];
    case 'aside':
      return [['HSET', quarantineKey(keys), line.id, toBuffer(line.bytes)]];
  }
}

function userCommands(keys: UserKeys, line: UserPart): Command[] {
  switch (line.kind) {
    case 'entry': {
      const { conversationId, view, listedAtMs, readMark, pinnedAtMs } = line;
      const commands: Command[] = [];
      if (view !== undefined) commands.push(['HSET', keys.view, conversationId, view]);
      if (readMark !== undefined) commands.push(['HSET', keys.read, conversationId, readMark]);
      if (listedAtMs !== undefined) commands.push(['ZADD', keys.conversations, String(listedAtMs), conversationId]);
      if (pinnedAtMs !== undefined) commands.push(['ZADD', keys.pins, String(pinnedAtMs), conversationId]);
      return commands;
    }
    case 'profile':
      return [['SET', keys.profile, line.text]];
    case 'blocked':
      return [['SADD', keys.blocks, line.userId]];
    case 'suspended':
      return [['SADD', keys.suspended, line.device]];
  }
}

function otherCommand(line: OtherLine, space: KeySpace, startedAtMs: number): Command {
  switch (line.kind) {
    case 'left':
      return ['ZADD', userKeys(line.tenantId, line.userId).left, String(line.atMs), line.conversationId];
    case 'groupRequest':
      return ['HSET', groupRequestKey(line.tenantId, line.userId, line.week), line.clientRequestId, line.conversationId];
    case 'report':
      return ['LPUSH', reportsKey(line.tenantId), line.text];
    case 'untold': {
      const { tenantId, conversationId, of, conversationSeq, committedAtMs } = line;
      const { hooks } = space.outbox(space.conversation(tenantId, conversationId).partition);
      // Below every id that the outbox will give, whatever the clocks say: the queue passes over what is not past its newest.
      const atMs = Math.min(committedAtMs, startedAtMs - ARCHIVE_CLOCKS_APART_MS);
      return ['XADD', hooks, `${atMs}-*`, 'k', of, 't', String(tenantId), 'c', conversationId, 's', String(conversationSeq)];
    }
    case 'undelivered': {
      const { tenantId, conversationId, of, conversationSeq } = line;
      const { outbox } = space.conversation(tenantId, conversationId);
      return ['XADD', outbox, '*', 'k', of, 't', String(tenantId), 'c', conversationId, 's', String(conversationSeq)];
    }
  }
}
