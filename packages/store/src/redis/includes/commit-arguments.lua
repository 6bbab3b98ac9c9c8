--[[
commit-arguments: the commits of one conversation, from the form that the header of commit tells of.
]]
-- All values of what is packed; `at`: where the first one begins.
local function unpack_all(packed, at)
  local values, count = {}, 0
  while at <= #packed do
    count = count + 1
    values[count], at = struct.unpack('>I4c0', packed, at)
  end
  return values
end

-- The facts, and user and entry of each member.
local function unpack_creation(packed, fact_count)
  local facts, members = unpack_all(packed, 1), {}
  for i = fact_count + 1, #facts do
    members[i - fact_count], facts[i] = facts[i], nil
  end
  return facts, members
end

local function add_change(commit)
  local values = unpack_all(commit.packed_change, 1)
  local first_user = 2
  commit.change = values[1]
  if commit.change == 'title' then
    commit.title = values[2]
  elseif commit.change == 'settings' then
    commit.expected, commit.settings = values[2], values[3]
  else
    if commit.change == 'role' then
      commit.new_role, first_user = tonumber(values[2]), 3
    end
    for i = first_user, #values do
      commit.users[i - first_user + 1] = values[i]
    end
  end
end

local function unpack_commits(packed)
  local commits, at = {}, 1
  while at <= #packed do
    local fingerprint, version, content, body, field, sender, needs, kind, flags, creation, packed_change
    fingerprint, version, content, body, field, sender, needs, kind, flags, creation, packed_change, at =
      struct.unpack('>c16c2I4c0I4c0I4c0I4c0I4c0I4c0I4c0I4c0I4c0', packed, at)
    -- Whole at once: a table that grows field by field is laid out anew again and again.
    local commit = {
      fingerprint = fingerprint, version = version, content = content, body = body, field = field, sender = sender,
      needs = needs, kind = kind, preview = string.sub(flags, 1, 1) == '1', only_new = string.sub(flags, 2) == '1',
      creation = creation, users = {}, change = '', packed_change = packed_change, role = 0, sequence = 0, digits = '', stamp = '',
      records_key = '', bodies_key = '',
    }
    if commit.packed_change ~= '' then
      add_change(commit)
    end
    commits[#commits + 1] = commit
  end
  return commits
end
