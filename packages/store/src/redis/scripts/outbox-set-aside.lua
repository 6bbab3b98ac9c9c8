--[[
outbox-set-aside: move an entry that cannot be handled out of the way, if the lease still stands.

KEYS
  1  lease   hash    as in outbox-acquire
  2  outbox  stream  entries of the partition, read through a consumer group
  3  poison  stream  entries set aside: their fields, and before them entryId and reason

ARGV
  1  token       of the lease
  2  offset_ms   added to the server's clock; 0 but in tests
  3  group       name of the consumer group
  4  entry       id of the entry
  5  reason      for people
  6  poison_max  about how many are kept, the newest

Returns  1; 0 when the lease was lost, and nothing was moved

Errors     WRONGTYPE when a key has another type
Atomicity  all keys are read before the first write
Cost       O(fields of the entry)
Called by  outbox.ts, setAside()
]]
local lease, outbox, poison = KEYS[1], KEYS[2], KEYS[3]
local group, entry, reason, poison_max = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[2])
redis.call('XLEN', poison)
local found = redis.call('XRANGE', outbox, entry, entry)[1]
local stored = redis.call('HMGET', lease, 'token', 'untilMs')
if stored[1] ~= ARGV[1] or (tonumber(stored[2] or '0') or 0) <= now_ms then
  return 0
end
local fields = found and found[2] or {}
redis.call('XADD', poison, 'MAXLEN', '~', poison_max, '*', 'entryId', entry, 'reason', reason, unpack(fields))
redis.call('XACK', outbox, group, entry)
redis.call('XDEL', outbox, entry)
return 1
