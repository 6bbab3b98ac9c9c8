--[[
user-add: put a name into a bounded set of a user's.

KEYS
  1  names  set

ARGV
  1  name
  2  max   names that the set may have

Returns  1 when the set has it now, 0 when it is full and does not; then nothing was written

Errors     WRONGTYPE when the key has another type
Atomicity  the key is read before the write
Cost       O(1)
Called by  users.ts, block() and suspend()
]]
local names, name, max = KEYS[1], ARGV[1], tonumber(ARGV[2])

if redis.call('SISMEMBER', names, name) == 1 then
  return 1
end
if redis.call('SCARD', names) >= max then
  return 0
end
redis.call('SADD', names, name)
return 1
