"""Why a viewer's next visit shows a pin, or why it does not.

Nothing is stored: the next visit shows the same pins if nothing changes until then.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from datasources.records import Pin
from feed_engine.feeds import preferences, visits
from feed_engine.feeds.rows import Reason, Source
from feed_engine.feeds.settings import Feeds
from feed_engine.feeds.smart.candidates import Candidates, CountLikes, LoadBoards, next_chunk
from feed_engine.feeds.smart.generator import Candidate
from feed_engine.feeds.smart.ranking import Score
from feed_engine.feeds.smart.shares import Shares
from feed_engine.feeds.visible import Visible


class Verdict(StrEnum):
    """The fate of a pin in the next visit."""

    CHOSEN = "the next visit shows it"
    UNSEEN = (
        "the viewer can't see it: it does not exist, was deleted, is on a secret board, or a block"
        " keeps its owner and the viewer apart"
    )
    OWN = "it is the viewer's own"
    HIDDEN = "the viewer hid it, or another pin of its picture"
    MUTED = "the viewer mutes its owner"
    SHOWN = "an earlier visit showed it, or another pin of its picture"
    LEFT = "the viewer does not follow what brought it"
    LATER = "other pins come first; it stays for a later visit"
    ABSENT = "no pool that the visit reads has it"


class Explained(NamedTuple):
    """A candidate: its source, its reason, what brought it (0: nothing), and its score."""

    pin_id: int
    source: Source
    reason: Reason
    cause_id: int
    score: Score


class Explanation(NamedTuple):
    """The pins that a new visit would show, in their order, and the sources' shares. `verdict` and
    `asked` are about one pin: what happens to it, and its candidate, if it has one."""

    chosen: Sequence[Explained]
    shares: Shares
    verdict: Verdict | None = None
    asked: Explained | None = None


async def explain(
    feeds: Feeds,
    viewer_id: int,
    pin_id: int | None,
    *,
    visible: Visible,
    boards: LoadBoards | None = None,
    likes: CountLikes | None = None,
) -> Explanation:
    """Choose the chunk of a new visit without storing it, and say what happens to one pin, if one
    is asked for. Raises StoreError."""
    candidates = Candidates(feeds, viewer_id, visible, boards=boards, likes=likes)
    known = await visits.recent(feeds.stores, viewer_id, None)
    await candidates.read()
    candidates.prefer(candidates.preferred or preferences.NONE)
    size, taken, generation, spans = next_chunk(feeds.settings, known)
    candidates.go_on(generation, spans)
    candidates.mix(known)
    best = await candidates.choose(size, taken)
    chosen, _ = candidates.explored(best, taken, generation + 1)

    def explained(c: Candidate) -> Explained:
        return Explained(c.pin_id, c.source, c.reason, c.cause_id, candidates.ranking.score(c))

    told = [explained(c) for c in chosen]
    if pin_id is None:
        return Explanation(told, candidates.shares)
    of_pin = [*(c for c in chosen if c.pin_id == pin_id), *candidates.of(pin_id)]
    pin = (await visible([pin_id])).get(pin_id)
    verdict = await _verdict(candidates, viewer_id, pin, chosen, of_pin, taken)
    of_asked = explained(of_pin[0]) if of_pin else None
    return Explanation(told, candidates.shares, verdict, of_asked)


async def _verdict(
    candidates: Candidates,
    viewer_id: int,
    pin: Pin | None,
    chosen: Sequence[Candidate],
    of_pin: Sequence[Candidate],
    taken: set[int],
) -> Verdict:
    if pin is None:
        return Verdict.UNSEEN
    ids = {pin.id, pin.root}
    if any(c.pin_id == pin.id for c in chosen):
        return Verdict.CHOSEN
    if pin.owner_id == viewer_id:
        return Verdict.OWN
    if ids & candidates.ranking.preferences.hidden:
        return Verdict.HIDDEN
    if pin.owner_id in candidates.ranking.preferences.muted:
        return Verdict.MUTED
    if ids & taken or await candidates.were_shown(ids):
        return Verdict.SHOWN
    if not of_pin:
        return Verdict.ABSENT
    return Verdict.LEFT if all(candidates.is_left(c) for c in of_pin) else Verdict.LATER
