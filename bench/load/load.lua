-- Sends the requests of a file in turn, and reports as one line of JSON.
-- Each line of the file: method, path, body and headers, with tabs in between.

-- What is put in the place of a mark. The marks and the number of rows must be those of article.ts.
local ROWS = 1000000
-- Has no divisor in common with the number of rows: so many steps further each time, every row comes once.
local STRIDE = 611953

local requests = {}
local turn = 0
local row = 0

local function part()
  return math.random(0, 2 ^ 31 - 1)
end

local marks = {
  -- Another number of as many digits.
  { text = "1999999", next = function() return math.random(1000000, 1999998) end },
  -- The id of another row.
  {
    text = "1888888",
    next = function()
      row = row + 1
      return row * STRIDE % ROWS + 1
    end,
  },
  -- Another key.
  {
    text = "{key}",
    next = function() return string.format("%08x-%08x-%08x-%08x", part(), part(), part(), part()) end,
  },
}

function init(arguments)
  for line in io.lines(arguments[1]) do
    local method, path, body, others = line:match("^(%u+)\t([^\t]*)\t([^\t]*)(.*)$")
    local headers = { Host = wrk.headers["Host"] }
    if body == "" then body = nil else headers["Content-Type"] = "application/json" end
    for name, value in others:gmatch("\t([^:]+): ([^\t]*)") do headers[name] = value end
    requests[#requests + 1] = split(wrk.format(method, path, headers, body))
  end
  -- A warm-up takes rows and requests of the first half, and a measurement those of the second.
  if arguments[2] ~= "warm-up" then
    row = ROWS / 2
    turn = math.floor(#requests / 2)
  end
  math.randomseed(os.time())
end

-- A text without marks; or its pieces, and where among them which marks are.
function split(text)
  local found = {}
  for number, mark in ipairs(marks) do
    local first, last = text:find(mark.text, 1, true)
    while first do
      found[#found + 1] = { first = first, last = last, mark = number }
      first, last = text:find(mark.text, last + 1, true)
    end
  end
  if #found == 0 then return text end
  table.sort(found, function(one, other) return one.first < other.first end)
  local pieces, places, from = {}, {}, 1
  for _, each in ipairs(found) do
    pieces[#pieces + 1] = text:sub(from, each.first - 1)
    pieces[#pieces + 1] = ""
    places[#places + 1] = { #pieces, each.mark }
    from = each.last + 1
  end
  pieces[#pieces + 1] = text:sub(from)
  return { pieces = pieces, places = places }
end

function request()
  turn = turn % #requests + 1
  local next = requests[turn]
  if type(next) == "string" then return next end
  for _, place in ipairs(next.places) do next.pieces[place[1]] = marks[place[2]].next() end
  return table.concat(next.pieces)
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"microseconds":%d,"p50":%d,"p90":%d,"p99":%d,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(90), latency:percentile(99),
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
