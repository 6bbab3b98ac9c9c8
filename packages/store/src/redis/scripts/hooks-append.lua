--[[
hooks-append: give entries of the outbox to the queue of the webhook, if the lease still stands.

KEYS
  1  lease  hash    as in outbox-acquire
  2  hooks  stream  entries that the webhook is still to be told of, under their ids in the outbox
  3  dead   stream  entries given up: their fields, and before them entryId and reason

ARGV
  1  token      of the lease
  2  offset_ms  added to the server's clock; 0 but in tests
  3  keep       how many may wait
  4  dead_max   about how many dead letters are kept, the newest
  5  reason     of those that no longer fit
  6… of each entry: id, k, t, c, s, as in the outbox; ids rise

Returns  1; 0 when the lease was lost, and nothing was added

Errors     WRONGTYPE when a key has another type
Atomicity  all keys are read before the first write
Cost       O(entries)
Called by  hooks.ts, append()
]]
local lease, hooks, dead = KEYS[1], KEYS[2], KEYS[3]
local keep, dead_max, reason = tonumber(ARGV[3]), ARGV[4], ARGV[5]
local given = { unpack(ARGV, 6) }
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[2])
redis.call('XLEN', dead)
local waiting = redis.call('XLEN', hooks)
local stored = redis.call('HMGET', lease, 'token', 'untilMs')
if stored[1] ~= ARGV[1] or (tonumber(stored[2] or '0') or 0) <= now_ms then
  return 0
end

-- The id of the newest entry that the stream ever had, whether it is still there or not.
local last_ms, last_number = -1, -1
if redis.call('EXISTS', hooks) == 1 then
  local info = redis.call('XINFO', 'STREAM', hooks)
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then
      local ms, number = string.match(info[i + 1], '^(%d+)-(%d+)$')
      last_ms, last_number = tonumber(ms), tonumber(number)
    end
  end
end

for i = 1, #given, 5 do
  local ms, number = string.match(given[i], '^(%d+)-(%d+)$')
  ms, number = tonumber(ms), tonumber(number)
  if ms > last_ms or (ms == last_ms and number > last_number) then
    redis.call('XADD', hooks, given[i], 'k', given[i + 1], 't', given[i + 2], 'c', given[i + 3], 's', given[i + 4])
    last_ms, last_number, waiting = ms, number, waiting + 1
  end
end

if waiting > keep then
  for _, entry in ipairs(redis.call('XRANGE', hooks, '-', '+', 'COUNT', waiting - keep)) do
    redis.call('XADD', dead, 'MAXLEN', '~', dead_max, '*', 'entryId', entry[1], 'reason', reason, unpack(entry[2]))
    redis.call('XDEL', hooks, entry[1])
  end
end
return 1
