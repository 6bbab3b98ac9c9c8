--[[
user-web-push: keep where a browser of a user's takes notifications.

KEYS
  1  subscriptions  hash  name -> JSON; a name is device, line feed, digest of the endpoint

ARGV
  1  prefix        of names of the same device; empty: the device has no name
  2  suffix        of names of the same endpoint
  3  name
  4  subscription  JSON
  5  max           subscriptions that the user may have

Returns  1 when it is kept, in place of those with the prefix or the suffix; 0 when there are too many others, and then
         nothing was written

Errors     WRONGTYPE when the key has another type
Atomicity  the key is read before the write
Cost       O(max)
Called by  users.ts, addWebPush()
]]
local subscriptions, prefix, suffix = KEYS[1], ARGV[1], ARGV[2]
local name, subscription, max = ARGV[3], ARGV[4], tonumber(ARGV[5])

local replaced, others = {}, 0
for _, known in ipairs(redis.call('HKEYS', subscriptions)) do
  local same_device = prefix ~= '' and known:sub(1, #prefix) == prefix
  if same_device or known:sub(-#suffix) == suffix then
    replaced[#replaced + 1] = known
  else
    others = others + 1
  end
end
if others >= max then
  return 0
end
for _, known in ipairs(replaced) do
  redis.call('HDEL', subscriptions, known)
end
redis.call('HSET', subscriptions, name, subscription)
return 1
