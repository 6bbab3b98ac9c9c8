--[[
amendment: what the scripts that amend one message share, after partition-guard and numbers. They name the keys, `sequence`,
`activity` and `actor`, `needs` (the least role as a number), `tenant` and `conversation` before it, and read keys of
their own. It returns early as their headers say; after it `stored` is the record that the caller judged, and `facts` can
be read.
]]
local packed = struct.pack('>I8', tonumber(sequence))
local facts = redis.call('HMGET', facts_key, 'amendmentNumber', 'epoch', 'lastSequence', 'reservedThrough')
local entry = redis.call('HGET', members_key, actor)
local indexed = redis.call('ZSCORE', history_key, packed)
local stored = redis.call('HGET', records_key, sequence)
redis.call('ZSCORE', amendments_key, packed)
redis.call('XLEN', outbox_key)

if not entry then
  return { 'refused', 'NotMember' }
end
local role = tonumber(string.match(entry, '^([123]) [1-9]%d* [1-9]%d*$'))
if not role then
  return { 'corrupt', 'memberUnreadable', '0' }
end
local number, epoch, last, reserved = decimal(facts[1]), decimal(facts[2]), decimal(facts[3]), decimal(facts[4])
if not number or not epoch or not last or not reserved then
  return { 'corrupt', (facts[1] or facts[2]) and 'factsUnreadable' or 'factsMissing', '0' }
end
if role < needs then
  return { 'refused', 'Forbidden' }
end
if not stored then
  return indexed and { 'corrupt', 'recordMissing', sequence } or { 'changed' }
end
if string.sub(stored, 69, 84) ~= activity then
  return { 'changed' }
end

-- Numbers the amendment, and tells of it; the epoch, as text. The first write, after which the script writes its own.
local function note_amendment()
  local new_epoch = renewal(last, reserved, epoch)
  if new_epoch then
    renew(facts_key, new_epoch)
  end
  local amendment = text(number + 1)
  redis.call('XADD', outbox_key, '*', 'k', 'amended', 't', tenant, 'c', conversation, 's', sequence)
  redis.call('ZADD', amendments_key, amendment, packed)
  redis.call('HSET', facts_key, 'amendmentNumber', amendment)
  return text(new_epoch and new_epoch.epoch or epoch)
end
