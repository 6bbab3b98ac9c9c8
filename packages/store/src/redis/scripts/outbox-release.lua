--[[
outbox-release: give a lease back before its time. The token stays, so that it goes on rising.

KEYS
  1  lease  hash  as in outbox-acquire

ARGV
  1  token  of the lease

Returns  1; 0 when it was lost before

Errors     WRONGTYPE when the key is no hash
Atomicity  HGET meets a wrong type before the only write
Cost       O(1)
Called by  outbox.ts, release()
]]
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then
  return 0
end
redis.call('HSET', KEYS[1], 'owner', '', 'untilMs', '0')
return 1
