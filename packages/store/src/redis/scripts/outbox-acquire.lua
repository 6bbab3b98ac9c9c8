--[[
outbox-acquire: take the lease of a partition that nobody holds.

KEYS
  1  lease  hash  owner, token (decimal, rises with each owner; a time in Unix milliseconds, or one more than the last),
                  untilMs (Unix milliseconds by the server's clock)

ARGV
  1  owner      id of who asks
  2  lease_ms   how long it lasts
  3  offset_ms  added to the server's clock; 0 but in tests

Returns  the token, as text; false while somebody else holds it

Errors     WRONGTYPE when the key is no hash
Atomicity  HMGET meets a wrong type before the only write
Cost       O(1)
Called by  outbox.ts, acquire()
]]
local lease, owner = KEYS[1], ARGV[1]
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[3])
local stored = redis.call('HMGET', lease, 'owner', 'token', 'untilMs')
local token = tonumber(stored[2] or '0') or 0
local held = (tonumber(stored[3] or '0') or 0) > now_ms
if held and stored[1] ~= owner then
  return false
end
if not held or token == 0 then
  -- A counter alone would give a token again when a failover lost the last change of owner.
  token = math.max(token + 1, now_ms)
end
local until_ms = string.format('%.0f', now_ms + tonumber(ARGV[2]))
redis.call('HSET', lease, 'owner', owner, 'token', string.format('%.0f', token), 'untilMs', until_ms)
return string.format('%.0f', token)
