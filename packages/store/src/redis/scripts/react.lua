--[[
react: put one user's emoji on a message or take it off, beside its record, which stays as it is.

KEYS
  1  facts       hash    amendmentNumber, epoch, lastSequence and reservedThrough
  2  members     hash    user -> 'role joinedSeq visibleFrom'
  3  history     zset    members of 8 bytes, the sequence big-endian
  4  records     hash    sequence -> record; of the target's bucket
  5  reactions   hash    sequence -> value as in message/reactions.ts
  6  amendments  zset    sequence in 8 bytes -> number of its newest amendment
  7  outbox      stream  as in commit
  8  reserved    hash    as in includes/partition-guard.lua
  9  partition   hash    the same

ARGV
  1  sequence    of the target, decimal
  2  activity    16 bytes: the target's activity id as the caller read it
  3  actor
  4  emoji
  5  on          1, or 0 to take it off
  6  tenant
  7  conversation
  8  seq_max     greatest number
  9  kinds_max   different emoji of one message
 10  users_max   of one emoji
 11  bytes_max   of the value

Returns  { 'takeOver' } as in includes/partition-guard.lua
         { 'amended', epoch, value } the value as it is now; '' none
         { 'changed' } an amendment came first, or retention took the record; nothing was written
         { 'refused', code } NotMember, kinds, users or bytes (too many)
         { 'corrupt', reason, sequence } as in commit

Errors     WRONGTYPE when a key has another type, and nothing was written
Atomicity  every key is read before the first write; after it nothing can fail (see commit)
Cost       O(log n) and O(bytes of the value), n the number of amended messages
Called by  amend.ts
]]
local facts_key, members_key, history_key, records_key, reactions_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local amendments_key, outbox_key, reserved_key, partition_key = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local asked = {}
-- include partition-guard
local sequence, activity, actor, emoji, on = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5] == '1'
local tenant, conversation, seq_max = ARGV[6], ARGV[7], tonumber(ARGV[8])
local kinds_max, users_max, bytes_max = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
local needs = 1 -- any member
local UNREADABLE = { 'corrupt', 'reactionsUnreadable', sequence }
-- include numbers

local value = redis.call('HGET', reactions_key, sequence)
-- include amendment

-- The value: two bytes of version, eight of checksum, and the rest.
local HEAD, VERSION = 10, '\1\254'
local message_id = string.sub(stored, 53, 68)
local revision, kinds = 0, {}

local function read_text(at)
  local length = string.byte(value, at)
  return string.sub(value, at + 1, at + length), at + 1 + length
end

local function read_value()
  local rest = string.sub(value, HEAD + 1)
  local sound = string.sub(value, 1, 2) == VERSION and string.sub(value, 3, HEAD) == string.sub(redis.sha1hex(rest), 1, 8)
  if not sound or string.sub(rest, 1, 16) ~= message_id then
    return false
  end
  revision = struct.unpack('>I4', rest, 17)
  local at = HEAD + 22
  for i = 1, string.byte(value, at - 1) do
    local kind = { users = {} }
    kind.emoji, at = read_text(at)
    local count = string.byte(value, at)
    at = at + 1
    for j = 1, count do
      kind.users[j], at = read_text(at)
    end
    kinds[i] = kind
  end
  return true
end

local function text_of(text)
  return string.char(#text) .. text
end

local function value_of()
  local parts = { message_id, struct.pack('>I4', revision), string.char(#kinds) }
  for _, kind in ipairs(kinds) do
    parts[#parts + 1] = text_of(kind.emoji)
    parts[#parts + 1] = string.char(#kind.users)
    for _, user in ipairs(kind.users) do
      parts[#parts + 1] = text_of(user)
    end
  end
  local rest = table.concat(parts)
  return VERSION .. string.sub(redis.sha1hex(rest), 1, 8) .. rest
end

if value then
  if string.byte(value, 1) and string.byte(value, 1) + (string.byte(value, 2) or 0) == 255 and string.sub(value, 1, 2) ~= VERSION then
    return { 'corrupt', 'unsupportedVersion', sequence }
  end
  if not read_value() then
    return UNREADABLE
  end
end
local place, held
for i, kind in ipairs(kinds) do
  if kind.emoji == emoji then
    place = i
    for j, user in ipairs(kind.users) do
      held = user == actor and j or held
    end
  end
end
if on == (held ~= nil) then
  return { 'amended', facts[2], value or '' }
end
if on then
  if not place then
    place = #kinds + 1
    kinds[place] = { emoji = emoji, users = {} }
  end
  table.insert(kinds[place].users, actor)
  if #kinds > kinds_max or #kinds[place].users > users_max then
    return { 'refused', #kinds > kinds_max and 'kinds' or 'users' }
  end
else
  table.remove(kinds[place].users, held)
  if #kinds[place].users == 0 then
    table.remove(kinds, place)
  end
end
revision = revision + 1
local after = value_of()
if on and #after > bytes_max then
  return { 'refused', 'bytes' }
end

-- From here on: writes, of what was read above.
local epoch_now = note_amendment()
redis.call('HSET', reactions_key, sequence, after)
return { 'amended', epoch_now, after }
