--[[
numbers: between numbers and their stored text. The script names `seq_max`, the greatest number, before it.
]]
local function text(number)
  return string.format('%.0f', number)
end

-- nil unless it is a decimal number of an allowed size.
local function decimal(value)
  local number = value and #value <= 16 and string.find(value, '^%d+$') and tonumber(value)
  return number and number <= seq_max and number or nil
end
