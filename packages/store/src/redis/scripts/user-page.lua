--[[
user-page: one page of a user's list: order, read marks and views of the same moment. Pinned conversations come first.

KEYS
  1  conversations  zset  conversation -> last activity in Unix milliseconds
  2  read           hash  conversation -> read mark
  3  view           hash  conversation -> view entry (user-join)
  4  pins           zset  conversation -> when it was pinned, in Unix milliseconds; no two the same

ARGV
  1  limit         entries wanted, >= 1
  2  pinned        '1' when the entry that the page follows is a pinned one, else '0'
  3  activity      of that entry, or when it was pinned, in Unix milliseconds; '' for the first page
  4  conversation  of that entry; '' for the first page
  5  pins_through  pins made until then come first, and are left out of the others; '' for the first page: all
  6  pins_max      pins that are looked at

Returns  { more, pins_through, place, conversation, activity, read mark, view, place, … }: more is 1 when entries follow;
         place is 2 for one of the pinned ones (activity: when it was pinned), 1 for one that was pinned since, else 0;
         read mark and view are false when there is none

Errors     WRONGTYPE when a key has another type
Atomicity  reads only
Cost       O(log n + limit + pins_max); a cursor adds about 2 log2 of the entries with its activity
Called by  directory.ts, page()
]]
local conversations, read_key, view_key, pins_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local limit, after_pin, after_score, after_member = tonumber(ARGV[1]), ARGV[2] == '1', ARGV[3], ARGV[4]

local pins = redis.call('ZREVRANGE', pins_key, 0, ARGV[6] - 1, 'WITHSCORES')
local pins_through = ARGV[5] ~= '' and ARGV[5] or after_score == '' and pins[2] or '0'
local among_pins = after_score == '' or after_pin
local found, place, skipped = {}, {}, 0
for i = 1, #pins, 2 do
  local at = tonumber(pins[i + 1])
  if at > tonumber(pins_through) then
    place[pins[i]] = 1
  else
    place[pins[i]] = 2
    skipped = skipped + 1
    if among_pins and (after_score == '' or at < tonumber(after_score)) then
      found[#found + 1] = { pins[i], pins[i + 1], 2 }
    end
  end
end

-- The order is by activity and then by conversation, both descending. The entry of the cursor may have moved or gone,
-- so its place is searched among those of equal activity.
local first = 0
if not among_pins then
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
if #found <= limit then
  local entries = redis.call('ZREVRANGE', conversations, first, first + limit - #found + skipped, 'WITHSCORES')
  for i = 1, #entries, 2 do
    local at = place[entries[i]] or 0
    if at ~= 2 then
      found[#found + 1] = { entries[i], entries[i + 1], at }
    end
  end
end

local answer = { #found > limit and 1 or 0, pins_through }
local count = math.min(#found, limit)
if count == 0 then
  return answer
end
local names = {}
for i = 1, count do
  names[i] = found[i][1]
end
local marks = redis.call('HMGET', read_key, unpack(names))
local views = redis.call('HMGET', view_key, unpack(names))
for i = 1, count do
  answer[#answer + 1] = found[i][3]
  answer[#answer + 1] = names[i]
  answer[#answer + 1] = found[i][2]
  answer[#answer + 1] = marks[i]
  answer[#answer + 1] = views[i]
end
return answer
