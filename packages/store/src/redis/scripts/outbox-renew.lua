--[[
outbox-renew: hold a lease for longer.

KEYS
  1  lease  hash  as in outbox-acquire

ARGV
  1  token      of the lease
  2  lease_ms   how long it lasts from now
  3  offset_ms  added to the server's clock; 0 but in tests

Returns  1; 0 when it has run out, was given back, or another owner has come since

Errors     WRONGTYPE when the key is no hash
Atomicity  HMGET meets a wrong type before the only write
Cost       O(1)
Called by  outbox.ts, renew()
]]
local lease = KEYS[1]
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[3])
local stored = redis.call('HMGET', lease, 'token', 'untilMs')
if stored[1] ~= ARGV[1] or (tonumber(stored[2] or '0') or 0) <= now_ms then
  return 0
end
redis.call('HSET', lease, 'untilMs', string.format('%.0f', now_ms + tonumber(ARGV[2])))
return 1
