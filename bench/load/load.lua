-- Sends the requests of a file in turn, and reports as one line of JSON.
-- Each line of the file: method, path and body, with tabs in between.

-- Must be the FRESH_NUMBER of article.ts: each time, another number of as many digits is sent in its place.
local FRESH = "1999999"

local requests = {}
local turn = 0

function init(arguments)
  for line in io.lines(arguments[1]) do
    local method, path, body = line:match("^(%u+)\t([^\t]*)\t(.*)$")
    local headers = { Host = wrk.headers["Host"] }
    if body == "" then body = nil else headers["Content-Type"] = "application/json" end
    requests[#requests + 1] = split(wrk.format(method, path, headers, body))
  end
  math.randomseed(os.time())
end

-- A text, or the two texts around the number.
function split(text)
  local first, last = text:find(FRESH, 1, true)
  if not first then return text end
  return { text:sub(1, first - 1), text:sub(last + 1) }
end

function request()
  turn = turn % #requests + 1
  local next = requests[turn]
  if type(next) == "string" then return next end
  return next[1] .. math.random(1000000, 1999998) .. next[2]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), errors.status,
    errors.connect + errors.read + errors.write + errors.timeout))
end
