--[[
outbox-owners: say that an owner lives, forget those that did not say so in time, and count.

KEYS
  1  owners  zset  owner -> until when it lives (Unix milliseconds by the server's clock)

ARGV
  1  owner      id of who says so
  2  for_ms     how long it counts from now
  3  offset_ms  added to the server's clock; 0 but in tests

Returns  how many live, this one included

Errors     WRONGTYPE when the key is no sorted set
Atomicity  ZCARD meets a wrong type before the first write
Cost       O(log n) for each owner that is forgotten
Called by  outbox.ts, announceOwner()
]]
local owners = KEYS[1]
redis.call('ZCARD', owners)
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[3])
redis.call('ZADD', owners, string.format('%.0f', now_ms + tonumber(ARGV[2])), ARGV[1])
redis.call('ZREMRANGEBYSCORE', owners, '-inf', string.format('%.0f', now_ms))
return redis.call('ZCARD', owners)
