--[[
deployment: tell how the deployment was made, or make it.

KEYS
  1  deployment  hash  partitions, format, createdAtMs as decimal text

ARGV
  1  partitions  of a new deployment
  2  format      of a new deployment

Returns  { partitions, format } as stored, each a text or false when the hash lacks it

Errors     WRONGTYPE when the key is no hash
Atomicity  two processes that start at once get the same answer; HMGET meets a wrong type before the only write
Cost       O(1)
Called by  deployment.ts, joinDeployment()
]]
local stored = redis.call('HMGET', KEYS[1], 'partitions', 'format')
if stored[1] or stored[2] then
  return stored
end
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], 'partitions', ARGV[1], 'format', ARGV[2], 'createdAtMs', string.format('%.0f', now_ms))
return { ARGV[1], ARGV[2] }
