--[[
user-touch: move a conversation up in the list of a user who has it.

KEYS
  1  conversations  zset  conversation -> last activity in Unix milliseconds
  2  view           hash  conversation -> view entry (user-join)

ARGV
  1  conversation
  2  sequence   of the message that is the activity
  3  activity   in Unix milliseconds

Returns  1 when the list has it now, 0 when the user does not have it or keeps it hidden

Errors     WRONGTYPE when a key has another type
Atomicity  both keys are read before the first write
Cost       O(log n). Never brings back what the user left, never moves down
Called by  directory.ts, touch()
]]
local conversations, view_key = KEYS[1], KEYS[2]
local conversation, sequence, activity = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local HIDDEN = 4

local entry = redis.call('HGET', view_key, conversation)
local listed = redis.call('ZSCORE', conversations, conversation)
local joined, visible, cleared, hidden, member, flags, state
if entry then
  joined, visible, cleared, hidden, member, flags, state = string.match(entry, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) ([01])$')
end
if state == '0' or (not state and not listed) then
  return 0
end
if state and math.floor(flags / HIDDEN) % 2 == 1 then
  if sequence <= tonumber(hidden) then
    return 0
  end
  local shown = table.concat({ joined, visible, cleared, hidden, member, string.format('%.0f', flags - HIDDEN), state }, ' ')
  redis.call('HSET', view_key, conversation, shown)
end
redis.call('ZADD', conversations, 'GT', activity, conversation)
return 1
