--[[
retain: remove the first records of a conversation, and delete the content of the newest when nothing else is left.

KEYS
  1  facts       hash    retainedFrom, previewSequence, amendmentNumber, epoch, lastSequence and reservedThrough
  2  history     zset    members of 8 bytes, the sequence big-endian
  3  amendments  zset    sequence in 8 bytes -> number of its newest amendment
  4  outbox      stream  as in commit
  5  records     hash    of the newest record's bucket
  6  bodies      hash    of the newest record's bucket
  7  records     hash    of the first planned bucket
  8  records     hash    of the second; as KEYS[7] where there is none, and so are the next
  9  records     hash    of the third
 10  records     hash    of the fourth
 11  records     hash    of the fifth
 12  bodies      hash    of the same buckets, in their order
 13  bodies      hash    of the second
 14  bodies      hash    of the third
 15  bodies      hash    of the fourth
 16  bodies      hash    of the fifth
 17  reactions   hash    sequence -> value as in message/reactions.ts
 18  reserved    hash    as in includes/partition-guard.lua
 19  partition   hash    the same

ARGV
  1  tenant
  2  conversation
  3  seq_max      greatest number
  4  bucket_size  sequences per bucket
  5  from         retainedFrom as the caller read it
  6  through      greatest sequence to remove; 0: none
  7  count        of the sequences up to it
  8  newest       sequence of the newest record, past `through`
  9  activity     16 bytes: its activity id as the caller read it; '' when it is left as it is
 10  record       the newest as it shall be, its body erased
 11  buckets      the numbers of the buckets of KEYS[7] to KEYS[11]; as many as are used

Returns  { 'takeOver' } as in includes/partition-guard.lua
         { 'done' }
         { 'changed' } others removed, committed or amended what this was planned on; nothing was written
         { 'corrupt', reason, sequence } as in commit

Errors     WRONGTYPE when a key has another type, and nothing was written
Atomicity  every key is read before the first write; after it nothing can fail (see commit)
Cost       O(count * log n), n the length of the conversation; a whole bucket is unlinked at once
Called by  retain.ts
]]
local facts_key, history_key, amendments_key, outbox_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local newest_records, newest_bodies = KEYS[5], KEYS[6]
local records_keys = { KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11] }
local bodies_keys = { KEYS[12], KEYS[13], KEYS[14], KEYS[15], KEYS[16] }
local reactions_key, reserved_key, partition_key = KEYS[17], KEYS[18], KEYS[19]
local tenant, conversation, seq_max, bucket_size = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local from, through, count, newest = ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8]
local activity, record = ARGV[9], ARGV[10]
local buckets = { unpack(ARGV, 11) }
local UNPACK_MAX = 1000 -- Lua's own limit is some 8 000
local asked = {}
-- include partition-guard

-- include numbers

local facts = redis.call(
  'HMGET', facts_key, 'retainedFrom', 'previewSequence', 'amendmentNumber', 'epoch', 'lastSequence', 'reservedThrough'
)
local last = redis.call('ZRANGE', history_key, -1, -1)[1]
redis.call('ZCARD', amendments_key)
redis.call('XLEN', outbox_key)
redis.call('HLEN', reactions_key)
local stored = redis.call('HGET', newest_records, newest)
redis.call('HLEN', newest_bodies)
for i = 1, #records_keys do
  redis.call('HLEN', records_keys[i])
  redis.call('HLEN', bodies_keys[i])
end
local doomed = {}
if through > 0 then
  doomed = redis.call('ZRANGEBYLEX', history_key, '-', '[' .. struct.pack('>I8', through), 'LIMIT', 0, count + 1)
end

local preview, number, epoch = decimal(facts[2]), decimal(facts[3]), decimal(facts[4])
local head, reserved = decimal(facts[5]), decimal(facts[6])
if not decimal(facts[1]) or not preview or not number or not epoch or not head or not reserved then
  return { 'corrupt', (facts[1] or facts[2] or facts[3] or facts[4]) and 'factsUnreadable' or 'factsMissing', '0' }
end
if facts[1] ~= from or #doomed ~= count then
  return { 'changed' }
end
if activity ~= '' and (last ~= struct.pack('>I8', tonumber(newest)) or not stored or string.sub(stored, 69, 84) ~= activity) then
  return { 'changed' }
end
local fields, sequences = {}, {}
for _, member in ipairs(doomed) do
  if #member ~= 8 then
    return { 'corrupt', 'indexMemberInvalid', '0' }
  end
  local sequence = struct.unpack('>I8', member)
  local bucket = text(math.floor(sequence / bucket_size))
  fields[bucket] = fields[bucket] or {}
  table.insert(fields[bucket], text(sequence))
  table.insert(sequences, text(sequence))
end

local new_epoch = renewal(head, reserved, epoch)

-- From here on: writes, of what was read above.
if new_epoch then
  renew(facts_key, new_epoch)
end
local function write(command, key, args)
  for first = 1, #args, UNPACK_MAX do
    redis.call(command, key, unpack(args, first, math.min(first + UNPACK_MAX - 1, #args)))
  end
end

if activity ~= '' then
  number = number + 1
  redis.call('XADD', outbox_key, '*', 'k', 'amended', 't', tenant, 'c', conversation, 's', newest)
  redis.call('HSET', newest_records, newest, record)
  redis.call('HDEL', newest_bodies, newest)
  redis.call('HDEL', reactions_key, newest)
  redis.call('ZADD', amendments_key, text(number), last)
  redis.call('HSET', facts_key, 'amendmentNumber', text(number))
end
if through > 0 then
  for i, bucket in ipairs(buckets) do
    if (tonumber(bucket) + 1) * bucket_size - 1 <= through then
      redis.call('UNLINK', records_keys[i], bodies_keys[i])
    else
      write('HDEL', records_keys[i], fields[bucket] or {})
      write('HDEL', bodies_keys[i], fields[bucket] or {})
    end
  end
  write('ZREM', history_key, doomed)
  write('ZREM', amendments_key, doomed)
  write('HDEL', reactions_key, sequences)
  redis.call('HSET', facts_key, 'retainedFrom', text(through + 1))
  if preview > 0 and preview <= through then
    redis.call('HSET', facts_key, 'previewSequence', '0')
  end
end
return { 'done' }
