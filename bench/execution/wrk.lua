-- Each request is drawn uniformly from the file that BENCH_REQUESTS names: of each, a line with the
-- Authorization header and a line with the body.
local requests = {}

function init(args)
  math.randomseed(os.time())
  local authorization = nil
  for line in io.lines(os.getenv("BENCH_REQUESTS")) do
    if authorization == nil then
      authorization = line
    else
      local headers = {["Content-Type"] = "application/json", ["Authorization"] = authorization}
      requests[#requests + 1] = wrk.format("POST", "/graphql", headers, line)
      authorization = nil
    end
  end
end

function request()
  return requests[math.random(#requests)]
end
