--[[
commit: make messages of one or several conversations durable and visible, each once per (sender, client message id).

KEYS  of one conversation; those of the next one follow
  1  facts      hash    fields as in message/facts.ts; none of them: no such conversation
  2  members    hash    user -> 'role joinedSeq visibleFrom'
  3  history    zset    members of 8 bytes, the sequence big-endian; every score 0
  4  this_week  hash    de-duplication field -> 64-byte entry (message/dedup-entry.ts); expires
  5  last_week  hash    the same, of the week before
  6  outbox     stream  k kind, t tenant, c conversation, s sequence
  7  records    hash    sequence -> record; of the guessed bucket
  8  records    hash    the same, of the bucket after it
  9  bodies     hash    sequence -> body apart; of the guessed bucket
 10  bodies     hash    the same, of the bucket after it
 11  next_week  hash    as this_week, of the week after it: the clock may have been set back since
 12  reserved   hash    as in includes/partition-guard.lua
 13  partition  hash    the same

ARGV
  1  offset_ms    added to the server's clock; 0 but in tests
  2  week         of KEYS[4], guessed: whole weeks since the Unix epoch
  3  week_ms      length of a week
  4  bucket_size  sequences per bucket
  5  members_max  of a group
  6  seq_max      greatest sequence
  7  packed       values, each behind its length in 4 bytes, big-endian. Of each conversation: the guessed bucket of KEYS[7]
                  and KEYS[9], the tenant, the conversation, and its commits, packed. Of each commit:
      request    16 bytes of its fingerprint, then the record's first 2 bytes, without a length
      content    of the record, between its stamps
      body       apart, with zeros where it is stamped; '' when the record holds it
      field      of the de-duplication entry
      sender
      needs      least role as a number; 'post': what the settings ask of one who posts; 'system': not even to be a member
      kind       of the outbox entry, unless the conversation is made
      flags      1 when lists show this message, 0 for Control; then 1 when only a new conversation will do, otherwise 0
      creation   '' none; the 11 facts that a conversation begins with when there is none, and for each member user and
                 entry, packed
      change     '' none; packed: 'join' or 'leave', then the users; 'role', the new role and the users; 'title' and the
                 title; 'settings', as they must be, and as they shall be

Returns  { 'takeOver' } as in includes/partition-guard.lua
         { 'done', result, … } one for each commit:
           { 'committed', sequence, prevSequence, committedAtMs, created 0 or 1, epoch } numbers as text
           { 'duplicate', entry } committed before with the same content
           { 'conflict' } committed before with other content
           { 'refused', code } NotMember, Forbidden, Aborted, members (too many) or sequences (used up)
           { 'corrupt', reason, sequence } reasons as in CorruptReason; 0: not at one record
           { 'guess', bucket } its conversation's bucket was guessed wrong and nothing of it was done; the right one, as text
         { 'guess', week } the week was guessed wrong and nothing was done; the right one, as text

Errors     WRONGTYPE when one of KEYS 1 to 6 or 11 has another type, and nothing was done, of no conversation. A wrong type
           of a bucket is the result of the commits that it stops.
Atomicity  Redis does not roll a script back. So all commits are planned first, and planning reads every key that will
           be written: that meets each wrong type. After the first write nothing can fail: Redis refuses for memory,
           disk or role only a script that has not written yet, and the arguments are of the right form.
Cost       O(log n) for each commit, n the length of the conversation, O(users) for changes, and O(members) once when an
           owner leaves or steps down
Called by  commit.ts
]]
local KEYS_EACH = 13
local week_ms, bucket_size, members_max, seq_max = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local FIELDS = {
  'kind', 'title', 'settings', 'pair', 'lastSequence', 'reservedThrough', 'lastCommittedAt', 'retainedFrom',
  'previewSequence', 'amendmentNumber', 'epoch',
}
local ADMIN = 2 -- the least role of an admin
local UNPACK_MAX = 1000 -- even, so that pairs stay together; Lua's own limit is some 8 000

-- include numbers

local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[1])
local week = text(math.floor(now_ms / week_ms))
if week ~= ARGV[2] then
  return { 'guess', week }
end

-- include commit-arguments

local asked, settings_read = {}, {}
-- Nil when it is no JSON of settings. Read alone, so one table does for all that have the same.
local function decoded_settings(json)
  if settings_read[json] == nil then
    local sound, settings = pcall(cjson.decode, json)
    settings_read[json] = sound and type(settings) == 'table' and type(settings.onlyAdminsPost) == 'boolean' and settings
  end
  return settings_read[json] or nil
end

local function read_facts(values)
  local numbers = {}
  for i = 5, #FIELDS do
    numbers[i] = decimal(values[i])
    if not numbers[i] then
      return nil
    end
  end
  local settings = decoded_settings(values[3] or '')
  if (values[1] ~= '1' and values[1] ~= '2') or not values[2] or not values[4] or not settings then
    return nil
  end
  return {
    last = numbers[5], reserved = numbers[6], committed_at = numbers[7], preview = numbers[9], epoch = numbers[11],
    settings = settings, settings_text = values[3], title = values[2],
  }
end

-- The results of one conversation's commits, and what writes those that are committed; nil: none is.
local function plan_conversation(KEYS, bucket, tenant, conversation, commits)
  local facts_key, members_key, history_key, outbox_key = KEYS[1], KEYS[2], KEYS[3], KEYS[6]
  local this_week, last_week, next_week, reserved_key, partition_key = KEYS[4], KEYS[5], KEYS[11], KEYS[12], KEYS[13]

-- include partition-guard

  -- The conversation as it is, and then as the planned commits leave it.
  local stored = redis.call('HMGET', facts_key, unpack(FIELDS))
  local known = false
  for i = 1, #FIELDS do
    known = known or stored[i] ~= false
  end
  local newest = redis.call('ZRANGE', history_key, -1, -1, 'WITHSCORES')
  asked[outbox_key] = asked[outbox_key] or redis.call('XLEN', outbox_key)
  local entries, changed_users = {}, {}

  -- The facts in the partition's epoch; `new_epoch` says what changed for that.
  local new_epoch
  local function in_epoch(read)
    new_epoch = read and renewal(read.last, read.reserved, read.epoch)
    if new_epoch then
      read.epoch, read.reserved = new_epoch.epoch, new_epoch.through
    end
    return read
  end
  local facts = known and in_epoch(read_facts(stored)) or nil

  -- Why the newest member of the index is not `last`; nil when it is.
  local function index_fault(last)
    local member = newest[1]
    if not member then
      return last > 0 and { 'corrupt', 'indexMissing', text(last) } or nil
    end
    local sequence = #member == 8 and struct.unpack('>I8', member) or 0
    if tonumber(newest[2]) ~= 0 or sequence < 1 or sequence > seq_max then
      return { 'corrupt', 'indexMemberInvalid', '0' }
    end
    if sequence < last then
      return { 'corrupt', 'indexBehindFacts', text(last) }
    end
    return sequence > last and { 'corrupt', 'recordUnexpected', text(sequence) } or nil
  end
  local fault = facts and index_fault(facts.last)

-- include commit-change

  local planned_entries, created_facts = {}, nil
  local dedup_fields, earlier_entries = {}, {}
  for i, commit in ipairs(commits) do
    dedup_fields[i] = commit.field
  end
  for _, key in ipairs({ this_week, last_week, next_week }) do
    for i, entry in ipairs(redis.call('HMGET', key, unpack(dedup_fields))) do
      earlier_entries[dedup_fields[i]] = earlier_entries[dedup_fields[i]] or entry
    end
  end
  local function find_duplicate(commit)
    local entry = planned_entries[commit.field] or earlier_entries[commit.field]
    if not entry then
      return nil
    end
    if #entry ~= 64 then
      return { 'corrupt', 'dedupUnreadable', '0' }
    end
    return string.sub(entry, 49) == commit.fingerprint and { 'duplicate', entry } or { 'conflict' }
  end

  -- Refusal or damage; nil when the sender may do this to a conversation that exists.
  local function check_sender(commit)
    if commit.needs == 'system' then
      commit.role = OWNER
      return not facts and { 'corrupt', 'factsUnreadable', '0' } or nil
    end
    load_members({ commit.sender })
    local entry = entries[commit.sender]
    if not entry then
      return { 'refused', 'NotMember' }
    end
    local role = role_of(entry)
    if not role then
      return { 'corrupt', 'memberUnreadable', '0' }
    end
    if not facts then
      return { 'corrupt', 'factsUnreadable', '0' }
    end
    local needs = tonumber(commit.needs) or (facts.settings.onlyAdminsPost and ADMIN or 0)
    if role < needs then
      return { 'refused', 'Forbidden' }
    end
    commit.role = role
    return nil
  end

  local function check_exists(commit)
    if known then
      if commit.only_new then
        return { 'refused', 'Aborted' }
      end
      return check_sender(commit)
    end
    if commit.creation == '' and redis.call('HEXISTS', members_key, commit.sender) == 0 then
      return { 'refused', 'NotMember' }
    end
    if count_members() > 0 or newest[1] then
      return { 'corrupt', 'factsMissing', '0' }
    end
    commit.created, commit.initial = true, {}
    commit.facts, commit.members = unpack_creation(commit.creation, #FIELDS)
    for i = 1, #commit.members, 2 do
      commit.initial[commit.members[i]] = commit.members[i + 1]
    end
    local entry = commit.initial[commit.sender]
    if not entry and commit.needs ~= 'system' then
      return { 'refused', 'NotMember' }
    end
    commit.role = entry and role_of(entry) or OWNER
    return nil
  end

  -- Where the record goes, or why it cannot; `guess` when the keys are not those of its bucket. A batch is smaller than a
  -- bucket, so all of it fits when KEYS begin with the bucket of the first one.
  local first_bucket
  local function find_place(commit, last, reserved)
    local sequence = math.max(last, reserved) + 1
    if sequence > seq_max then
      return { 'refused', 'sequences' }
    end
    first_bucket = first_bucket or math.floor(sequence / bucket_size)
    local offset = math.floor(sequence / bucket_size) - bucket
    if offset ~= 0 and offset ~= 1 then
      return { 'guess', text(first_bucket) }
    end
    local digits = text(sequence)
    commit.sequence, commit.digits, commit.records_key, commit.bodies_key = sequence, digits, KEYS[7 + offset], KEYS[9 + offset]
    local taken = redis.pcall('HEXISTS', commit.records_key, digits)
    local body_taken = commit.body ~= '' and redis.pcall('HEXISTS', commit.bodies_key, digits) or 0
    if type(taken) == 'table' or type(body_taken) == 'table' then
      return { 'corrupt', 'wrongType', digits }
    end
    if taken == 1 or body_taken == 1 then
      return { 'corrupt', 'recordUnexpected', digits }
    end
    return nil
  end

  -- Takes the commit into the state that the next one is planned on.
  local function take(commit)
    if commit.created then
      facts, known, created_facts = commit.initial_facts, true, commit.facts
      for user, entry in pairs(commit.initial) do
        -- Counting starts with the first record, which is the first sequence only where none were lost.
        entries[user] = string.gsub(entry, '^(%d) 1 ', '%1 ' .. text(commit.sequence) .. ' ')
        changed_users[user] = true
      end
      member_count = #commit.members / 2
    end
    local previous, committed_at = facts.last, math.max(now_ms, facts.committed_at)
    commit.stamp = struct.pack('>I8I8I8', commit.sequence, previous, committed_at)
    take_change(commit)
    facts.last, facts.committed_at = commit.sequence, committed_at
    if commit.preview then
      facts.preview = commit.sequence
    end
    local ids = string.sub(commit.content, 27, 58) -- messageId and activityId
    planned_entries[commit.field] = struct.pack('>I8c32I8c16', commit.sequence, ids, committed_at, commit.fingerprint)
    return { 'committed', commit.digits, text(previous), text(committed_at), commit.created and '1' or '0', text(facts.epoch) }
  end

  local function plan(commit)
    local refused = find_duplicate(commit) or check_exists(commit) or check_change(commit, commit.initial)
    if refused then
      return refused
    end
    if commit.created then
      commit.initial_facts = in_epoch(read_facts(commit.facts))
      return find_place(commit, 0, commit.initial_facts.reserved) or take(commit)
    end
    return fault or find_place(commit, facts.last, facts.reserved) or take(commit)
  end

  local results, placed = {}, {}
  for i, commit in ipairs(commits) do
    local result = plan(commit)
    if result[1] == 'guess' then
      for each = 1, #commits do
        results[each] = result
      end
      return results, nil
    end
    if result[1] == 'committed' then
      placed[#placed + 1] = commit
    end
    results[i] = result
  end
  if #placed == 0 then
    return results, nil
  end

  -- Of what was read above.
  return results, function()
    local function write(command, key, args)
      for first = 1, #args, UNPACK_MAX do
        redis.call(command, key, unpack(args, first, math.min(first + UNPACK_MAX - 1, #args)))
      end
    end

    local members, dedup, hashes = {}, {}, {}
    local function add(key, field, value)
      local pairs_of_key = hashes[key] or {}
      hashes[key] = pairs_of_key
      pairs_of_key[#pairs_of_key + 1] = field
      pairs_of_key[#pairs_of_key + 1] = value
    end
    for _, commit in ipairs(placed) do
      local sequence, stamp = commit.digits, commit.stamp
      local packed = string.sub(stamp, 1, 8)
      local kind = commit.created and 'created' or commit.kind
      redis.call('XADD', outbox_key, '*', 'k', kind, 't', tenant, 'c', conversation, 's', sequence)
      add(commit.records_key, sequence, commit.version .. stamp .. commit.content .. stamp)
      if commit.body ~= '' then
        local body = commit.body
        add(commit.bodies_key, sequence, string.sub(body, 1, 6) .. packed .. string.sub(body, 15, -9) .. packed)
      end
      members[#members + 1] = 0
      members[#members + 1] = packed
      dedup[#dedup + 1] = commit.field
      dedup[#dedup + 1] = planned_entries[commit.field]
    end
    for key, args in pairs(hashes) do
      write('HSET', key, args)
    end
    write('ZADD', history_key, members)
    write('HSET', this_week, dedup)
    redis.call('PEXPIRE', this_week, 2 * week_ms, 'NX')
    local joined, gone = {}, {}
    for user in pairs(changed_users) do
      if entries[user] then
        joined[#joined + 1] = user
        joined[#joined + 1] = entries[user]
      else
        gone[#gone + 1] = user
      end
    end
    write('HSET', members_key, joined)
    write('HDEL', members_key, gone)
    local written = { 'lastSequence', text(facts.last), 'lastCommittedAt', text(facts.committed_at), 'previewSequence', text(facts.preview) }
    if created_facts then
      local first = {}
      for i, field in ipairs(FIELDS) do
        first[2 * i - 1], first[2 * i] = field, created_facts[i]
      end
      write('HSET', facts_key, first)
    end
    if new_epoch then
      renew(facts_key, new_epoch)
    end
    if title_changed then
      written[#written + 1], written[#written + 2] = 'title', facts.title
    end
    if settings_changed then
      written[#written + 1], written[#written + 2] = 'settings', facts.settings_text
    end
    write('HSET', facts_key, written)
  end
end

local answer, writes, packed, at = { 'done' }, {}, ARGV[7], 1
for first = 1, #KEYS, KEYS_EACH do
  local bucket, tenant, conversation, commits
  bucket, tenant, conversation, commits, at = struct.unpack('>I4c0I4c0I4c0I4c0', packed, at)
  local keys = { unpack(KEYS, first, first + KEYS_EACH - 1) }
  local results, write = plan_conversation(keys, tonumber(bucket), tenant, conversation, unpack_commits(commits))
  if results[1] == 'takeOver' then
    return results
  end
  for _, result in ipairs(results) do
    answer[#answer + 1] = result
  end
  writes[#writes + 1] = write
end

-- From here on: writes.
for _, write in ipairs(writes) do
  write()
end
return answer
