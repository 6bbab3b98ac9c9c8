--[[
user-leave: take a conversation out of a user's list and leave a tombstone, unless a later join was applied.

KEYS
  1  conversations  zset  conversation -> last activity in Unix milliseconds
  2  view           hash  conversation -> view entry (user-join)
  3  left           zset  conversation -> when its tombstone was written, in Unix milliseconds
  4  pins           zset  conversation -> when it was pinned, in Unix milliseconds

ARGV
  1  conversation
  2  sequence   of the leave's record: what memberSeq becomes
  3  offset_ms  added to the server's clock; 0 but in tests
  4  keep_ms    how long a tombstone is kept
  5  clear_max  old tombstones to clear away at most

Returns  1 when applied now or before, 0 when something later was

Errors     WRONGTYPE when a key has another type
Atomicity  all keys are read before the first write
Cost       O(log n + clear_max)
Called by  directory.ts, leave()
]]
local conversations, view_key, left_key, pins = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local conversation, sequence = ARGV[1], ARGV[2]
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[3])

local entry = redis.call('HGET', view_key, conversation)
redis.call('ZSCORE', conversations, conversation)
redis.call('ZSCORE', pins, conversation)
local since = string.format('%.0f', now_ms - tonumber(ARGV[4]))
local old = redis.call('ZRANGEBYSCORE', left_key, '-inf', '(' .. since, 'LIMIT', 0, ARGV[5])
local joined, visible, cleared, hidden, member, flags, state
if entry then
  joined, visible, cleared, hidden, member, flags, state = string.match(entry, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) ([01])$')
end
if state and tonumber(member) >= tonumber(sequence) then
  return tonumber(member) == tonumber(sequence) and 1 - tonumber(state) or 0
end

local tombstone = table.concat({ joined or '1', visible or '1', cleared or '0', hidden or '0', sequence, flags or '0', '0' }, ' ')
if #old > 0 then
  redis.call('HDEL', view_key, unpack(old))
  redis.call('ZREM', left_key, unpack(old))
end
redis.call('HSET', view_key, conversation, tombstone)
redis.call('ZREM', conversations, conversation)
redis.call('ZREM', pins, conversation)
redis.call('ZADD', left_key, string.format('%.0f', now_ms), conversation)
return 1
