--[[
hooks-remove: take entries out of the queue of the webhook, if the lease still stands.

KEYS
  1  lease  hash    as in outbox-acquire
  2  hooks  stream  as in hooks-append
  3  dead   stream  as in hooks-append

ARGV
  1  token      of the lease
  2  offset_ms  added to the server's clock; 0 but in tests
  3  dead_max   about how many dead letters are kept, the newest
  4  reason     of their being given up; empty: they were told
  5… entry ids

Returns  1; 0 when the lease was lost, and nothing was removed

Errors     WRONGTYPE when a key has another type
Atomicity  all keys are read before the first write
Cost       O(entries)
Called by  hooks.ts, remove() and setAside()
]]
local lease, hooks, dead = KEYS[1], KEYS[2], KEYS[3]
local dead_max, reason = ARGV[3], ARGV[4]
local given = { unpack(ARGV, 5) }
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[2])
redis.call('XLEN', dead)
redis.call('XLEN', hooks)
local stored = redis.call('HMGET', lease, 'token', 'untilMs')
if stored[1] ~= ARGV[1] or (tonumber(stored[2] or '0') or 0) <= now_ms then
  return 0
end
if reason ~= '' then
  for _, id in ipairs(given) do
    local found = redis.call('XRANGE', hooks, id, id)[1]
    if found then
      redis.call('XADD', dead, 'MAXLEN', '~', dead_max, '*', 'entryId', id, 'reason', reason, unpack(found[2]))
    end
  end
end
redis.call('XDEL', hooks, unpack(given))
return 1
