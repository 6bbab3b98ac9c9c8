--[[
commit-change: what a commit changes beside its record: members, roles, the title or the settings. Part of commit, whose
locals it works on: `entries` and `facts` are as the planned commits leave them.
]]
local ALL, OWNER = 2, 3 -- historyVisibility: newcomers see the past; the greatest role
local title_changed, settings_changed, everyone, member_count = false, false, nil, nil

local function count_members()
  member_count = member_count or redis.call('HLEN', members_key)
  return member_count
end

-- Reads the entries of users, as text; false: no member.
local function load_members(users)
  local missing = {}
  for _, user in ipairs(users) do
    if entries[user] == nil then
      missing[#missing + 1] = user
    end
  end
  for first = 1, #missing, UNPACK_MAX do
    local last = math.min(first + UNPACK_MAX - 1, #missing)
    local found = redis.call('HMGET', members_key, unpack(missing, first, last))
    for i = first, last do
      entries[missing[i]] = found[i - first + 1]
    end
  end
end

local function role_of(entry)
  return tonumber(string.match(entry, '^([123]) [1-9]%d* [1-9]%d*$'))
end

-- Refusal or damage when the users' going or stepping down leaves a group without an owner. Everybody is read, once: an
-- owner goes seldom. The last member may leave; a role is changed only where somebody else is owner.
local function check_owners(commit, known_entries)
  local going, others = {}, commit.change == 'role'
  for _, user in ipairs(commit.users) do
    going[user] = true
  end
  everyone = everyone or redis.call('HGETALL', members_key)
  local all = {}
  for i = 1, #everyone, 2 do
    all[everyone[i]] = everyone[i + 1]
  end
  for user, entry in pairs(known_entries) do
    all[user] = entry
  end
  for user, entry in pairs(all) do
    if entry and not going[user] then
      local role = role_of(entry)
      if not role then
        return { 'corrupt', 'memberUnreadable', '0' }
      end
      if role == OWNER then
        return nil
      end
      others = true
    end
  end
  return others and { 'refused', 'Aborted' } or nil
end

-- `known_entries`: of the users, false or nil for one who is no member. `count`: of the members; nil: to be read.
local function check_members(commit, known_entries, count)
  local owner_goes = false
  for _, user in ipairs(commit.users) do
    local entry = known_entries[user]
    if (commit.change == 'join') == (entry and true or false) then
      return { 'refused', 'Aborted' }
    end
    local role = entry and role_of(entry)
    if entry and not role then
      return { 'corrupt', 'memberUnreadable', '0' }
    end
    if entry and user ~= commit.sender and role >= commit.role then
      return { 'refused', 'Aborted' }
    end
    owner_goes = owner_goes or (role == OWNER and commit.new_role ~= OWNER)
  end
  if commit.change == 'join' and (count or count_members()) + #commit.users > members_max then
    return { 'refused', 'members' }
  end
  return owner_goes and check_owners(commit, known_entries) or nil
end

-- `initial`: the entries of a conversation that this commit makes; otherwise nil.
local function check_change(commit, initial)
  if commit.change == 'settings' and facts and facts.settings_text ~= commit.expected then
    return { 'refused', 'Aborted' }
  end
  if not initial then
    load_members(commit.users)
  end
  return check_members(commit, initial or entries, initial and #commit.members / 2 or nil)
end

-- Once the commit has its place and nothing refuses it.
local function take_change(commit)
  local change, sequence = commit.change, text(commit.sequence)
  local visible = facts.settings.historyVisibility == ALL and '1' or sequence
  for _, user in ipairs(commit.users) do
    if change == 'join' then
      entries[user] = table.concat({ '1', sequence, visible }, ' ')
    else
      entries[user] = change == 'role' and text(commit.new_role) .. string.sub(entries[user], 2) or false
    end
    changed_users[user] = true
  end
  if change == 'join' or change == 'leave' then
    member_count = count_members() + (change == 'join' and #commit.users or -#commit.users)
  elseif change == 'title' then
    facts.title, title_changed = commit.title, true
  elseif change == 'settings' then
    facts.settings, facts.settings_text, settings_changed = cjson.decode(commit.settings), commit.settings, true
  end
end
