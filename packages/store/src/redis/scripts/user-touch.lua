--[[
user-touch: move a conversation up in the lists of users who have it.

KEYS  of one user; those of the next one follow
  1  conversations  zset  conversation -> last activity in Unix milliseconds
  2  view           hash  conversation -> view entry (user-join)

ARGV
  1  conversation
  2  sequence   of the message that is the activity
  3  activity   in Unix milliseconds

Returns  how many of the lists have it now: not those of users who do not have it or keep it hidden

Errors     WRONGTYPE when a key has another type; the users before that one are done, those after it are not
Atomicity  both keys of a user are read before that user's first write
Cost       O(log n) for each user. Never brings back what the user left, never moves down, and may be done again
Called by  directory.ts, touch()
]]
local conversation, sequence, activity = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local HIDDEN = 4

local function touch(conversations, view_key)
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
end

local count = touch(KEYS[1], KEYS[2])
for i = 3, #KEYS, 2 do
  count = count + touch(KEYS[i], KEYS[i + 1])
end
return count
