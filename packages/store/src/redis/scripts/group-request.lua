--[[
group-request: remember which group a client request made; the id given first, for 7 to 14 days.

KEYS
  1  this_week  hash  client request id -> conversation; expires
  2  last_week  hash  the same, of the week before
  3  next_week  hash  the same, of the week after: the clock may have been set back since

ARGV
  1  request    the client's request id
  2  candidate  conversation to remember when there is none yet
  3  week       of KEYS[1]: whole weeks since the Unix epoch
  4  offset_ms  added to the server's clock; 0 but in tests
  5  week_ms    length of a week

Returns  { 'ok', conversation }
         { 'week', week } the week was guessed wrong and nothing was done; the right one, as text

Errors     WRONGTYPE when a key has another type
Atomicity  all keys are read before the first write
Cost       O(1)
Called by  directory.ts, groupForRequest()
]]
local this_week, last_week, next_week = KEYS[1], KEYS[2], KEYS[3]
local request, candidate, week_ms = ARGV[1], ARGV[2], tonumber(ARGV[5])
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[4])
local week = string.format('%.0f', math.floor(now_ms / week_ms))
if week ~= ARGV[3] then
  return { 'week', week }
end

local stored = redis.call('HGET', this_week, request) or redis.call('HGET', last_week, request)
  or redis.call('HGET', next_week, request)
if stored then
  return { 'ok', stored }
end
redis.call('HSET', this_week, request, candidate)
redis.call('PEXPIRE', this_week, 2 * week_ms, 'NX')
return { 'ok', candidate }
