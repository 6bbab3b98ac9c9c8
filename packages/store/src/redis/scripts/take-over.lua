--[[
take-over: note the server that takes the writes of a partition from now on; its epoch rises unless nothing can be lost.

KEYS
  1  partition  hash  as in includes/partition-guard.lua

ARGV
  1  run    run_id of the server that the next two were asked of
  2  flush  'always' when each write is on disk before its answer; otherwise ''
  3  node   of a Cluster: id of the server and its config epoch, which a promotion changes; '' where there is no Cluster
  4  fresh  1 when nothing can have been written to the partition yet; otherwise 0

Returns  { 'noted', epoch } the epoch stands
         { 'risen', epoch } it rose; numbers as text
         { 'again' } another server runs this than the one that was asked; nothing was written

Errors     WRONGTYPE when the key has another type
Atomicity  the key is read before the only write
Cost       O(1)
Called by  scripts.ts
]]
local run, flush, node, fresh = ARGV[1], ARGV[2], ARGV[3], ARGV[4] == '1'
local NOBODY = string.rep('0', 40)

local stored = redis.call('HMGET', KEYS[1], 'runId', 'replicationId', 'epoch', 'flush', 'node', 'replicas')
local known = { run = stored[1], replication = stored[2], flush = stored[4], node = stored[5], replicas = stored[6] }
local epoch = stored[3] and string.match(stored[3], '^%d+$') and tonumber(stored[3])
local server, replication = redis.call('INFO', 'server'), redis.call('INFO', 'replication')
if string.match(server, 'run_id:(%x+)') ~= run then
  return { 'again' }
end
local replication_id = string.match(replication, 'master_replid:(%x+)')
local promoted = string.match(replication, 'master_replid2:(%x+)') ~= NOBODY
local has_replicas = string.find(replication, 'repl_backlog_active:1', 1, true) and true or false

-- Without a Cluster a server has no name that its replicas do not get with the data. So it is taken for the same one only
-- while no replica can exist; and the first replica begins a new epoch, because one that gets no further than its first
-- copy could not be told from the server that it was copied from.
local lone = node == '' and known.node == '' and known.replicas == '0'

local function same_server_restarted()
  if known.flush ~= 'always' or flush ~= 'always' then
    return false
  end
  return (node ~= '' and node == known.node) or (lone and not promoted and not has_replicas)
end

local function nothing_lost()
  if not epoch then
    return fresh
  end
  if known.run == run and known.replication == replication_id then
    return not (lone and has_replicas and known.flush == 'always')
  end
  return same_server_restarted()
end

local answer = 'noted'
if not nothing_lost() then
  -- A time, so that no other server that takes over in another way ever chooses the same one.
  local time = redis.call('TIME')
  epoch, answer = math.max((epoch or 0) + 1, time[1] * 1000 + math.floor(time[2] / 1000)), 'risen'
end
local text = string.format('%.0f', epoch or 1)
redis.call(
  'HSET', KEYS[1], 'runId', run, 'replicationId', replication_id, 'epoch', text, 'flush', flush, 'node', node,
  'replicas', (known.replicas == '1' or has_replicas) and '1' or '0'
)
return { answer, text }
