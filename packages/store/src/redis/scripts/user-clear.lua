--[[
user-clear: raise what a user has cleared of a conversation to the greater of itself and what is asked.

KEYS
  1  view  hash  conversation -> view entry (user-join)

ARGV
  1  conversation
  2  sequence  asked; the caller has bounded it by the head

Returns  the cleared sequence that now holds, as text

Errors     WRONGTYPE when the key has another type
Atomicity  the key is read before the first write
Cost       O(1)
Called by  directory.ts, clear()
]]
local view_key = KEYS[1]
local conversation, asked = ARGV[1], tonumber(ARGV[2])

local entry = redis.call('HGET', view_key, conversation)
local before, cleared, after
if entry then
  before, cleared, after = string.match(entry, '^(%d+ %d+) (%d+) (%d+ %d+ %d+ [01])$')
end
if not before then
  -- No view: a tombstone that any join replaces, and that keeps what was cleared. One that cannot be read is listed.
  before, cleared, after = '1 1', '0', entry and '0 0 0 1' or '0 0 0 0'
end
local held = math.max(asked, tonumber(cleared))
redis.call('HSET', view_key, conversation, table.concat({ before, string.format('%.0f', held), after }, ' '))
return string.format('%.0f', held)
