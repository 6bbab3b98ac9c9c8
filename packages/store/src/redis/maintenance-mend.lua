--[[
maintenance-mend: write changes to one slot, if what they were decided on still stands.

KEYS
  …  every key that is read or written

ARGV
  1  count of guards; for each of them follow
       kind      'hash', 'zset' or 'type'
       key       its number in KEYS
       field     or member; '' for 'type'
       expected  '-' when there must be nothing, else '=' and the value; for 'type' the type
  …  count of writes; for each of them follow
       command   HSET, HDEL, ZADD, ZREM, SREM or DEL
       key       its number in KEYS
       count     of its arguments, and the arguments

Returns  1 when everything was written, 0 when something does not stand any more and nothing was

Errors     none: a guard that meets another type does not stand
Atomicity  types of all keys that are written are read before the first write; after it nothing can fail
Cost       O(writes * log n)
Called by  maintenance-mend.ts
]]
local at = 0
local function take()
  at = at + 1
  return ARGV[at]
end

local function stands(kind, key, field, expected)
  local actual_type = redis.call('TYPE', key).ok
  if kind == 'type' then
    return actual_type == expected
  end
  if actual_type ~= 'none' and actual_type ~= kind then
    return false
  end
  local value = redis.call(kind == 'zset' and 'ZSCORE' or 'HGET', key, field)
  return (value and '=' .. value or '-') == expected
end

for _ = 1, tonumber(take()) do
  local kind, key, field, expected = take(), KEYS[tonumber(take())], take(), take()
  if not stands(kind, key, field, expected) then
    return 0
  end
end

local TYPES = { HSET = 'hash', HDEL = 'hash', ZADD = 'zset', ZREM = 'zset', SREM = 'set' }
local writes, deleted = {}, {}
for i = 1, tonumber(take()) do
  local command, key, count = take(), KEYS[tonumber(take())], tonumber(take())
  local args = {}
  for j = 1, count do
    args[j] = take()
  end
  local actual_type = redis.call('TYPE', key).ok
  local fits = deleted[key] or not TYPES[command] or actual_type == 'none' or actual_type == TYPES[command]
  if not fits then
    return 0
  end
  deleted[key] = deleted[key] or command == 'DEL'
  writes[i] = { command, key, args }
end
for _, write in ipairs(writes) do
  redis.call(write[1], write[2], unpack(write[3]))
end
return 1
