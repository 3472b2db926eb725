"""The Lua scripts of the broadcasts. The log of a topic is a stream: the ids of its entries are the
places of messages, after the run id of the server (see `datasources.redis.scripts`)."""

# KEYS: a marker of the publication, then a log for each message. ARGV: ms to keep them, entries to
# keep in a log, then for each message its channel and its payload.
PUBLISH = """
if not redis.call('SET', KEYS[1], '', 'NX', 'PX', ARGV[1]) then return end
for i = 2, #KEYS do
  local channel, payload = ARGV[2 * i - 1], ARGV[2 * i]
  local id = redis.call('XADD', KEYS[i], 'MAXLEN', ARGV[2], '*', 'p', payload)
  redis.call('PEXPIRE', KEYS[i], ARGV[1])
  redis.call('PUBLISH', channel, RUN .. ':' .. id .. ' ' .. payload)
end
"""

# KEYS: a log. ARGV: ms to keep it. Answers the place of its newest entry. An empty log gets an
# entry without a payload: a place is only good for `SINCE` if its entry is still there.
PLACE = """
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local id = last and last[1]
if not id then
  id = redis.call('XADD', KEYS[1], '*', 'p', '')
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return RUN .. ':' .. id
"""

# KEYS: a log. ARGV: a place, as run id and entry. Answers the run id and the entries after the
# place, or nothing if the entry of the place is gone.
SINCE = """
if ARGV[1] ~= RUN then return false end
local found = redis.call('XRANGE', KEYS[1], ARGV[2], '+')
if not found[1] or found[1][1] ~= ARGV[2] then return false end
local answer = {RUN}
for i = 2, #found do
  answer[#answer + 1] = found[i][1]
  answer[#answer + 1] = found[i][2][2]
end
return answer
"""
