--[[
partition-guard: nothing is written to a partition before it is known which server takes its writes. Part of every script
that writes to one; the script names `reserved_key` and `partition_key` before it, and `asked`, a table that begins empty;
its caller runs the take-over when the answer is 'takeOver'.

  partition  hash  runId and replicationId of the server that took the last writes; epoch, which only rises; flush
                   ('always': each write was on disk before its answer), node (of a Cluster: its id and config epoch),
                   replicas (1: a replica was seen, so that another server may hold a part of what was written)
  reserved   hash  epoch -> 'from through': sequences that were skipped when the conversation came into this epoch

A server gets another replication id at each start and at each promotion, so this notices more than the run_id would: also
a primary that was a replica meanwhile. Costs one INFO for the script and one HMGET for each partition.
]]
local SKIPPED = 1048576 -- SEQUENCES_SKIPPED_AFTER_LOSS
local noted = asked[partition_key] or redis.call('HMGET', partition_key, 'replicationId', 'replicas', 'epoch')
if not asked.replication then
  local replication = redis.call('INFO', 'replication')
  asked.replication = string.match(replication, 'master_replid:(%x+)')
  asked.replicas = string.find(replication, 'repl_backlog_active:1', 1, true)
end
asked[partition_key] = noted
local partition_epoch = noted[3] and tonumber(noted[3])
if not partition_epoch or (asked.replicas and noted[2] ~= '1') or noted[1] ~= asked.replication then
  return { 'takeOver' }
end

-- The first write to a conversation since its partition got a new epoch: what others may have been told of is not given
-- again. Nil: it is of this epoch. Call it while nothing was written.
local function renewal(last, reserved, epoch)
  if epoch >= partition_epoch then
    return nil
  end
  redis.call('HLEN', reserved_key)
  return { epoch = partition_epoch, from = last + 1, through = math.max(reserved, math.min(last + SKIPPED, 9007199254740991)) }
end

-- Writes a renewal, before anything else of the conversation.
local function renew(facts_key, to)
  local epoch, through = string.format('%.0f', to.epoch), string.format('%.0f', to.through)
  redis.call('HSET', reserved_key, epoch, string.format('%.0f %.0f', to.from, to.through))
  redis.call('HSET', facts_key, 'epoch', epoch, 'reservedThrough', through)
end
