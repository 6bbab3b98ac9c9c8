--[[
user-page: one page of a user's list: order, read marks and views of the same moment.

KEYS
  1  conversations  zset  conversation -> last activity in Unix milliseconds
  2  read           hash  conversation -> read mark
  3  view           hash  conversation -> view entry (user-join)

ARGV
  1  limit         entries wanted, >= 1
  2  activity      of the entry that the page follows, in Unix milliseconds; '' for the first page
  3  conversation  of that entry; '' for the first page

Returns  { more, conversation, activity, read mark, view, conversation, … }: more is 1 when entries follow; read mark
         and view are false when there is none

Errors     WRONGTYPE when a key has another type
Atomicity  reads only
Cost       O(log n + limit); a cursor adds about 2 log2 of the entries with its activity
Called by  directory.ts, page()
]]
local conversations, read_key, view_key = KEYS[1], KEYS[2], KEYS[3]
local limit, after_score, after_member = tonumber(ARGV[1]), ARGV[2], ARGV[3]

-- The order is by activity and then by conversation, both descending. The entry of the cursor may have moved or gone,
-- so its place is searched among those of equal activity.
local first = 0
if after_score ~= '' then
  first = redis.call('ZCOUNT', conversations, '(' .. after_score, '+inf')
  local past = redis.call('ZCOUNT', conversations, after_score, '+inf')
  while first < past do
    local middle = math.floor((first + past) / 2)
    if redis.call('ZREVRANGE', conversations, middle, middle)[1] >= after_member then
      first = middle + 1
    else
      past = middle
    end
  end
end

local entries = redis.call('ZREVRANGE', conversations, first, first + limit, 'WITHSCORES')
local count = math.min(#entries / 2, limit)
local answer = { #entries / 2 > limit and 1 or 0 }
if count == 0 then
  return answer
end
local names = {}
for i = 1, count do
  names[i] = entries[2 * i - 1]
end
local marks = redis.call('HMGET', read_key, unpack(names))
local views = redis.call('HMGET', view_key, unpack(names))
for i = 1, count do
  answer[#answer + 1] = names[i]
  answer[#answer + 1] = entries[2 * i]
  answer[#answer + 1] = marks[i]
  answer[#answer + 1] = views[i]
end
return answer
