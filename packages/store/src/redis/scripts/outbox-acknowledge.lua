--[[
outbox-acknowledge: remove entries that were delivered, if the lease still stands.

KEYS
  1  lease   hash    as in outbox-acquire
  2  outbox  stream  entries of the partition, read through a consumer group

ARGV
  1  token      of the lease
  2  offset_ms  added to the server's clock; 0 but in tests
  3  group      name of the consumer group
  4… entry ids

Returns  1; 0 when the lease was lost, and nothing was removed

Errors     WRONGTYPE when a key has another type; NOGROUP never: XACK of a group that is not there acknowledges nothing
Atomicity  both keys are read before the first write
Cost       O(entries)
Called by  outbox.ts, acknowledge()
]]
local lease, outbox = KEYS[1], KEYS[2]
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[2])
redis.call('XLEN', outbox)
local stored = redis.call('HMGET', lease, 'token', 'untilMs')
if stored[1] ~= ARGV[1] or (tonumber(stored[2] or '0') or 0) <= now_ms then
  return 0
end
redis.call('XACK', outbox, ARGV[3], unpack(ARGV, 4))
redis.call('XDEL', outbox, unpack(ARGV, 4))
return 1
