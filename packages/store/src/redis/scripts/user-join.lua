--[[
user-join: put a conversation into a user's list, unless a later join or leave was applied.

KEYS
  1  conversations  zset  conversation -> last activity in Unix milliseconds
  2  view           hash  conversation -> 'joinedSeq visibleFrom clearedSeq hiddenSeq memberSeq flags state', decimal;
                          flags: 1 pinned, 2 muted, 4 hidden, 8 marked unread; state: 1 has it, 0 left it (tombstone)
  3  left           zset  conversation -> when its tombstone was written, in Unix milliseconds

ARGV
  1  conversation
  2  joined     sequence of the join's record: what memberSeq becomes
  3  visible    first sequence that the user may see
  4  activity   in Unix milliseconds

Returns  1 when applied now or before, 0 when something later was

Errors     WRONGTYPE when a key has another type
Atomicity  all keys are read before the first write
Cost       O(log n)
Called by  directory.ts, join()
]]
local conversations, view_key, left_key = KEYS[1], KEYS[2], KEYS[3]
local conversation, joined, visible, activity = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local HIDDEN = 4

local entry = redis.call('HGET', view_key, conversation)
redis.call('ZSCORE', conversations, conversation)
redis.call('ZSCORE', left_key, conversation)
local cleared, hidden, member, flags, state
if entry then
  cleared, hidden, member, flags, state = string.match(entry, '^%d+ %d+ (%d+) (%d+) (%d+) (%d+) ([01])$')
end
if state then
  local newer = tonumber(member) - tonumber(joined)
  if newer > 0 then
    return 0
  end
  if newer == 0 then
    -- The same join again.
    if state == '1' and math.floor(flags / HIDDEN) % 2 == 0 then
      redis.call('ZADD', conversations, 'GT', activity, conversation)
    end
    return tonumber(state)
  end
end

local kept = 0
if state then
  kept = tonumber(flags)
  if math.floor(kept / HIDDEN) % 2 == 1 then
    kept = kept - HIDDEN
  end
end
local shown = table.concat({ joined, visible, cleared or '0', hidden or '0', joined, string.format('%.0f', kept), '1' }, ' ')
redis.call('HSET', view_key, conversation, shown)
redis.call('ZREM', left_key, conversation)
redis.call('ZADD', conversations, 'GT', activity, conversation)
return 1
