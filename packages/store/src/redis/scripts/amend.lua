--[[
amend: rewrite one record in place, if it is still the one that the caller judged.

KEYS
  1  facts       hash    amendmentNumber, epoch, lastSequence and reservedThrough
  2  members     hash    user -> 'role joinedSeq visibleFrom'
  3  history     zset    members of 8 bytes, the sequence big-endian
  4  records     hash    sequence -> record; of the target's bucket
  5  bodies      hash    sequence -> body apart; the same bucket
  6  amendments  zset    sequence in 8 bytes -> number of its newest amendment
  7  outbox      stream  as in commit
  8  reactions   hash    sequence -> value as in message/reactions.ts
  9  reserved    hash    as in includes/partition-guard.lua
 10  partition   hash    the same

ARGV
  1  sequence     of the target, decimal
  2  activity     16 bytes: the target's activity id as the caller read it
  3  actor
  4  needs        least role as a number
  5  record       as it shall be; '' to check only
  6  body         apart; '' when the record holds it or it is erased
  7  tenant
  8  conversation
  9  seq_max      greatest number
 10  erased       1 when the reactions go with the content, else 0

Returns  { 'takeOver' } as in includes/partition-guard.lua
         { 'amended', epoch, reactions } the value of the reactions; '' none
         { 'changed' } another amendment came first, or retention took the record; nothing was written
         { 'refused', code } NotMember or Forbidden
         { 'corrupt', reason, sequence } as in commit

Errors     WRONGTYPE when a key has another type, and nothing was written
Atomicity  every key is read before the first write; after it nothing can fail (see commit)
Cost       O(log n), n the number of amended records
Called by  amend.ts
]]
local facts_key, members_key, history_key, records_key, bodies_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local amendments_key, outbox_key, reactions_key, reserved_key, partition_key = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local asked = {}
-- include partition-guard
local sequence, activity, actor, needs, record, body = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6]
local tenant, conversation, seq_max, erased = ARGV[7], ARGV[8], tonumber(ARGV[9]), ARGV[10] == '1'
-- include numbers

redis.call('HEXISTS', bodies_key, sequence)
local reactions = redis.call('HGET', reactions_key, sequence) or ''
-- include amendment

if record == '' then
  return { 'amended', facts[2], reactions }
end

-- From here on: writes, of what was read above.
local epoch_now = note_amendment()
redis.call('HSET', records_key, sequence, record)
if body == '' then
  redis.call('HDEL', bodies_key, sequence)
else
  redis.call('HSET', bodies_key, sequence, body)
end
if erased then
  redis.call('HDEL', reactions_key, sequence)
  reactions = ''
end
return { 'amended', epoch_now, reactions }
