--[[
user-flags: change a user's flags of one conversation.

KEYS
  1  conversations  zset  conversation -> last activity in Unix milliseconds
  2  view           hash  conversation -> view entry (user-join)
  3  pins           zset  conversation -> when it was pinned, in Unix milliseconds; no two the same

ARGV
  1  conversation
  2  set        flags to set, of 2 muted, 4 hidden, 8 marked unread: their sum
  3  clear      flags to clear, likewise
  4  pin        '1' pin, '0' unpin, '' neither
  5  sequence   of the head: what hiddenSeq becomes
  6  activity   of the head, in Unix milliseconds
  7  pins_max   pins that a user may have
  8  offset_ms  added to the server's clock; 0 but in tests

Returns  { flags, 1 when it is pinned and else 0 }; 'absent' when the user does not have it; 'full' when there are
         pins_max pins already. Then nothing was written

Errors     WRONGTYPE when a key has another type
Atomicity  all keys are read before the first write
Cost       O(log n)
Called by  directory.ts, setFlags()
]]
local conversations, view_key, pins = KEYS[1], KEYS[2], KEYS[3]
local conversation, set, clear, pin = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local HIDDEN = 4

local entry = redis.call('HGET', view_key, conversation)
local listed = redis.call('ZSCORE', conversations, conversation)
local pinned = redis.call('ZSCORE', pins, conversation) and 1 or 0
local count = redis.call('ZCARD', pins)
local newest = tonumber(redis.call('ZREVRANGE', pins, 0, 0, 'WITHSCORES')[2] or 0)
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[8])

local before, hidden, member, flags, state
if entry then
  before, hidden, member, flags, state = string.match(entry, '^(%d+ %d+ %d+) (%d+) (%d+) (%d+) ([01])$')
end
if not state and listed then
  before, hidden, member, flags, state = '1 1 0', '0', '0', '0', '1'
end
if state ~= '1' then
  return 'absent'
end
if pin == '1' and pinned == 0 and count >= tonumber(ARGV[7]) then
  return 'full'
end

flags = tonumber(flags)
local was_hidden = math.floor(flags / HIDDEN) % 2 == 1
for _, flag in ipairs({ 2, 4, 8 }) do
  local has = math.floor(flags / flag) % 2
  local wanted = math.floor(set / flag) % 2 == 1 and 1 or math.floor(clear / flag) % 2 == 1 and 0 or has
  flags = flags + (wanted - has) * flag
end
local is_hidden = math.floor(flags / HIDDEN) % 2 == 1
if math.floor(set / HIDDEN) % 2 == 1 then
  hidden, pin = ARGV[5], '0'
end
redis.call('HSET', view_key, conversation, table.concat({ before, hidden, member, string.format('%.0f', flags), state }, ' '))
if is_hidden then
  redis.call('ZREM', conversations, conversation)
elseif was_hidden then
  redis.call('ZADD', conversations, 'GT', ARGV[6], conversation)
end
if pin == '1' and pinned == 0 then
  redis.call('ZADD', pins, string.format('%.0f', math.max(now_ms, newest + 1)), conversation)
  pinned = 1
elseif pin == '0' then
  redis.call('ZREM', pins, conversation)
  pinned = 0
end
return { flags, pinned }
