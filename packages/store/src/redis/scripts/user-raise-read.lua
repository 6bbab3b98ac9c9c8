--[[
user-raise-read: raise a read mark to the greater of itself and what is asked, and take away 'marked unread'.

KEYS
  1  read  hash  conversation -> read mark, decimal
  2  view  hash  conversation -> view entry (user-join)

ARGV
  1  conversation
  2  sequence  asked; the caller has bounded it by the head

Returns  the read mark that now holds, as text

Errors     WRONGTYPE when a key has another type
Atomicity  both keys are read before the first write
Cost       O(1)
Called by  directory.ts, raiseRead()
]]
local read_key, view_key = KEYS[1], KEYS[2]
local conversation, asked = ARGV[1], tonumber(ARGV[2])
local MARKED_UNREAD = 8

-- A mark that is no number counts as none: unread messages then show again, and none is hidden.
local stored = redis.call('HGET', read_key, conversation)
local mark = stored and tonumber(string.match(stored, '^%d+$')) or 0
local entry = redis.call('HGET', view_key, conversation)
local before, flags, state
if entry then
  before, flags, state = string.match(entry, '^(%d+ %d+ %d+ %d+ %d+) (%d+) ([01])$')
end
if asked > mark then
  mark = asked
  redis.call('HSET', read_key, conversation, string.format('%.0f', asked))
end
if state and math.floor(flags / MARKED_UNREAD) % 2 == 1 then
  local cleared = table.concat({ before, string.format('%.0f', flags - MARKED_UNREAD), state }, ' ')
  redis.call('HSET', view_key, conversation, cleared)
end
return string.format('%.0f', mark)
