"""The Lua scripts of the mapping cache, bound to one run of the server.

A window is one sorted set `pinway:{code:from_id}:w`. All scores are 0, so it is sorted by member. A
row is the member `sequence:to_id`, zero-padded, so that text order is the order of (sequence,
to_id). One more member, which sorts before all rows, is the state:

    !L<run><token>           leased: the holder of the token may fill it
    !C<run><era>:<version>   filled with all rows of the list, in this era of the list
    !P<run><era>:<version>   filled with the newest rows only

The state and the rows in one key expire and are evicted together: a state without rows would look
like an empty list. A head is one string `pinway:{code:from_id}:h`: `L<run><token>` or
`H<run><size>:<version>`. Both keys of a list share a hash slot.

`<run>` is the server's run id. A server that restarts with data from its disk may have lost its
last seconds, including a drop. So entries of an earlier run (or of another server, after a
failover) count as absent. Each script has the run id in its text, and so in its digest. In a new
run the digest is unknown, and the client learns of the restart from NOSCRIPT; until then this costs
nothing. Entries of another generation (`datasources.protocols.generations`) count as absent, too:
`<run>` starts with the generation in 8 hexadecimal digits, as each token does.
"""

from typing import NamedTuple

from datasources.redis import broadcast_scripts

RUN_CHARS = 16
NO_GENERATION = "x" * 8

# KEYS: windows. ARGV: token, lease ms, then for each window limit and upper bound. Answers for each
# window: L (leased to the caller), - (not for the caller), or = and era:version|rows (rows in one
# string).
_PAGES = """
RUN = string.sub(ARGV[1], 1, 8) .. RUN
local answers = {}
for i, key in ipairs(KEYS) do
  local state = redis.call('ZRANGE', key, 0, 0)[1]
  if state and string.sub(state, 3, 2 + #RUN) ~= RUN then
    redis.call('UNLINK', key)
    state = nil
  end
  if not state then
    redis.call('ZADD', key, 0, '!L' .. RUN .. ARGV[1])
    redis.call('PEXPIRE', key, ARGV[2])
    answers[i] = 'L'
  elseif string.sub(state, 2, 2) == 'L' then
    answers[i] = '-'
  else
    local limit = tonumber(ARGV[2 * i + 1])
    local rows = redis.call('ZREVRANGEBYLEX', key, ARGV[2 * i + 2], '[0', 'LIMIT', 0, limit)
    if #rows == limit or string.sub(state, 2, 2) == 'C' then
      answers[i] = '=' .. string.sub(state, 3 + #RUN) .. '|' .. table.concat(rows)
    else
      answers[i] = '-'
    end
  end
end
return answers
"""

# KEYS: windows. ARGV: width of a row, then for each window its time to live in ms, token, C or P,
# its era:version, and its rows in one string.
_FILL_PAGES = """
local width = tonumber(ARGV[1])
for i, key in ipairs(KEYS) do
  local life, token, state, era, rows = unpack(ARGV, 5 * i - 3, 5 * i + 1)
  local run = string.sub(token, 1, 8) .. RUN
  if redis.call('ZSCORE', key, '!L' .. run .. token) then
    redis.call('DEL', key)
    local members = {0, '!' .. state .. run .. era}
    for at = 1, #rows, width do
      members[#members + 1] = 0
      members[#members + 1] = string.sub(rows, at, at + width - 1)
      if #members >= 2000 then
        redis.call('ZADD', key, unpack(members))
        members = {}
      end
    end
    if #members > 0 then
      redis.call('ZADD', key, unpack(members))
    end
    redis.call('PEXPIRE', key, life)
  end
end
"""

# KEYS: heads. ARGV: token, lease ms. Answers for each head: L, -, or = and size:version.
_HEADS = """
RUN = string.sub(ARGV[1], 1, 8) .. RUN
local answers = {}
for i, key in ipairs(KEYS) do
  local state = redis.call('GET', key)
  if not state or string.sub(state, 2, 1 + #RUN) ~= RUN then
    redis.call('SET', key, 'L' .. RUN .. ARGV[1], 'PX', ARGV[2])
    answers[i] = 'L'
  elseif string.sub(state, 1, 1) == 'L' then
    answers[i] = '-'
  else
    answers[i] = '=' .. string.sub(state, 2 + #RUN)
  end
end
return answers
"""

# KEYS: heads. ARGV: for each head the time to live in ms, token and size:version.
_FILL_HEADS = """
for i, key in ipairs(KEYS) do
  local life, token, head = unpack(ARGV, 3 * i - 2, 3 * i)
  local run = string.sub(token, 1, 8) .. RUN
  if redis.call('GET', key) == 'L' .. run .. token then
    redis.call('SET', key, 'H' .. run .. head, 'PX', life)
  end
end
"""

# KEYS: windows. ARGV: rows that a window keeps, then for each move the list's version before and
# after it, and the row's old and new member; last the generation. A window that has few rows left
# is dropped, and a reader fills it again.
_MOVE = """
RUN = ARGV[#ARGV] .. RUN

local function newer(version, than)
  return tonumber(version) >= tonumber(than)
end

local function move(key, most, before, after, old, new)
  local state = redis.call('ZRANGE', key, 0, 0)[1]
  if not state then
    return true
  end
  local kind = string.sub(state, 2, 2)
  local era, version = string.match(string.sub(state, 3 + #RUN), '^(%d+):(%d+)$')
  if kind == 'L' or not version or string.sub(state, 3, 2 + #RUN) ~= RUN then
    return false
  elseif version ~= before then
    return newer(version, after)
  end
  local removed = redis.call('ZREM', key, old)
  local lowest = redis.call('ZRANGE', key, 1, 1)[1]
  if kind == 'C' then
    if removed == 0 then
      return false
    end
    redis.call('ZADD', key, 0, new)
  else
    if not lowest or (removed == 0 and old > lowest) then
      return false
    end
    if new > lowest then
      redis.call('ZADD', key, 0, new)
    end
    local rows = redis.call('ZCARD', key) - 1
    if rows > most then
      redis.call('ZREMRANGEBYRANK', key, 1, rows - most)
    elseif rows < most / 2 then
      return false
    end
  end
  redis.call('ZREM', key, state)
  redis.call('ZADD', key, 0, '!' .. kind .. RUN .. era .. ':' .. after)
  return true
end

for i, key in ipairs(KEYS) do
  local before, after, old, new = unpack(ARGV, 4 * i - 2, 4 * i + 1)
  if not move(key, tonumber(ARGV[1]), before, after, old, new) then
    redis.call('UNLINK', key)
  end
  local headkey = string.sub(key, 1, -2) .. 'h'
  local head = redis.call('GET', headkey)
  if head then
    local size, version = string.match(head, '^H' .. RUN .. '(%d+):(%d+)$')
    if version == before then
      redis.call('SET', headkey, 'H' .. RUN .. size .. ':' .. after, 'KEEPTTL')
    elseif not version or not newer(version, after) then
      redis.call('UNLINK', headkey)
    end
  end
end
"""

# KEYS: a bucket. ARGV: least, most, burst, tokens a second. Answers the tokens taken, and the ms to
# wait. The bucket is one string `tokens:ms`, which expires when it would be full again.
_TAKE = """
local least, most = tonumber(ARGV[1]), tonumber(ARGV[2])
local burst, refill = tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local state = redis.call('GET', KEYS[1])
local tokens = burst
if state then
  local left, at = string.match(state, '^(%d+):(%d+)$')
  tokens = math.min(burst, tonumber(left) + math.max(0, now - tonumber(at)) * refill / 1000)
end
if tokens < least then
  return {0, math.ceil((least - tokens) * 1000 / refill)}
end
local taken = math.floor(math.min(tokens, most))
local left = math.floor(tokens - taken)
local full = math.ceil((burst - left) * 1000 / refill) + 1000
redis.call('SET', KEYS[1], string.format('%.0f:%.0f', left, now), 'PX', full)
return {taken, 0}
"""


class Scripts(NamedTuple):
    """The scripts' sources for one run of the server, or their digests after they were loaded."""

    pages: str
    fill_pages: str
    heads: str
    fill_heads: str
    move: str
    take: str
    publish: str
    place: str
    since: str


def scripts_of(run_id: str) -> Scripts:
    """The sources for the server's run. Raises ValueError for an invalid run id."""
    if not run_id.isalnum() or len(run_id) < RUN_CHARS:
        raise ValueError(f"{run_id!r} is not the run id of a server")
    head = f"local RUN = '{run_id[:RUN_CHARS]}'\n"
    broadcasts = (broadcast_scripts.PUBLISH, broadcast_scripts.PLACE, broadcast_scripts.SINCE)
    scripts = (_PAGES, _FILL_PAGES, _HEADS, _FILL_HEADS, _MOVE, _TAKE, *broadcasts)
    return Scripts(*(head + script for script in scripts))
