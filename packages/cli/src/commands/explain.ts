/** `qim explain`: where a user's unread number for one conversation comes from, in sentences. */
import { type Caller, EXACT_UNREAD_SCAN_LIMIT, parseConversationId, parseUserId } from '@qim/proto';
import { type ConversationExplanation, openReadSide, readSettings, type SoundExplanation, STORE_SETTINGS } from '@qim/server';
import { type Command, EXIT_DONE, EXIT_FAILED, required } from '../command.js';
import { tenantOf } from './token.js';

export const explain: Command = {
  name: 'explain',
  summary: "say where a user's unread number for one conversation comes from",
  settings: STORE_SETTINGS,
  options: [
    { name: 'user', value: 'ID', doc: 'whose number (required)' },
    { name: 'conversation', value: 'ID', doc: 'of which conversation (required)' },
    { name: 'tenant', value: 'N', doc: 'tenant of the user (default: 0, the legacy tenant)' },
    { name: 'json', value: undefined, doc: 'one JSON object in place of sentences' },
  ],

  async run(args, io) {
    const location = readSettings(STORE_SETTINGS, { flags: args.settings, environment: io.environment });
    const userId = parseUserId(required(args, 'user'), 'user');
    const conversationId = parseConversationId(required(args, 'conversation'), 'conversation');
    const caller: Caller = { tenantId: tenantOf(args), userId, deviceId: undefined, admin: false };

    const readSide = await openReadSide(location, io);
    try {
      const found = await readSide.explain(caller, conversationId);
      if (args.options.json === true) io.out(JSON.stringify({ tenant: caller.tenantId, user: userId, conversationId, ...found }));
      else for (const line of sentences(userId, conversationId, found)) io.out(line);
      return found.kind === 'sound' ? EXIT_DONE : EXIT_FAILED;
    } finally {
      await readSide.close();
    }
  },
};

function sentences(user: string, conversation: string, found: ConversationExplanation): readonly string[] {
  switch (found.kind) {
    case 'noSuchConversation':
      return [`There is no conversation ${conversation} in this tenant.`];
    case 'notMember':
      return [`${user} is not a member of ${conversation}: it is not in the list, and nothing of it can be read.`];
    case 'damaged':
      return [
        `${conversation} is damaged: ${found.reason}${found.conversationSeq === 0 ? '' : ` at sequence ${found.conversationSeq}`}.`,
        `${user} sees it in the list marked as damaged, without any number. No number was guessed.`,
      ];
    case 'sound':
      return soundSentences(user, conversation, found);
  }
}

function soundSentences(user: string, conversation: string, found: SoundExplanation): readonly string[] {
  const { headConversationSeq: head, readConversationSeq: read, unreadFloor: floor } = found;
  return [
    `${user} sees ${badge(found)} for ${conversation}${found.title === '' ? '' : ` ("${found.title}")`}.`,
    head === 0 ? 'There is no message yet.' : `The newest record has sequence ${head}.`,
    read === 0 ? `${user} has marked nothing as read.` : `${user} has read up to sequence ${read}.`,
    floor === read
      ? `Counting starts after sequence ${floor}.`
      : `Counting starts after sequence ${floor}: ${user} joined there, or cleared the history up to there.`,
    ...counting(user, found),
    ...(found.previewDamage === null
      ? []
      : [`The record of the preview is damaged (${found.previewDamage}); the number does not depend on it.`]),
  ];
}

function badge({ unreadCount, unreadExact, watermarkAhead }: SoundExplanation): string {
  if (watermarkAhead) return `${unreadCount} unread, marked as not exact,`;
  return unreadExact ? `${unreadCount} unread` : `${unreadCount}+ unread`;
}

function counting(user: string, found: SoundExplanation): readonly string[] {
  const { headConversationSeq: head, unreadFloor: floor, scanned, leftOut, mentionCount } = found;
  if (found.watermarkAhead) return ['The read mark is past the newest record, as after a restore: what is unread cannot be known.'];
  if (!found.unreadExact) {
    return [
      `That is a distance of more than ${EXACT_UNREAD_SCAN_LIMIT} sequences, so the number is that limit and not exact; nothing was counted.`,
    ];
  }
  if (head <= floor) return ['Nothing lies after it.'];
  const reasons = [
    [leftOut.own, `sent by ${user}`],
    [leftOut.control, 'Control'],
    [leftOut.recalled, 'recalled'],
    [leftOut.deleted, 'deleted'],
  ] as const;
  const named = reasons.filter(([count]) => count > 0).map(([count, why]) => `${count} ${why}`);
  return [
    `${scanned} ${scanned === 1 ? 'record lies' : 'records lie'} after it; each was read and checked.`,
    named.length === 0 ? 'All of them count.' : `Left out: ${named.join(', ')}.`,
    `${mentionCount ?? 0} of those that count mention ${user}.`,
    found.chainUnbroken ? 'The records form an unbroken chain, so none is missing.' : 'The chain of the records was not checked.',
  ];
}
