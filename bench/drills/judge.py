"""Judges answers: whether a request's answer was good.

An answer is good if it has no errors, is full, only has pins that the oracle allows, and came
before the deadline. A new visit without new pins is good, but degraded. A repeated page of a visit
must have the same pins, and the visit's next page none of them.
"""

from dataclasses import dataclass, field
from typing import Any

from bench.drills.world import World

FIRST = 10
_CARD = "id title image { url } owner { username } board { name }"
HOME = f"""query($visit: ID, $after: String) {{
  homeFeed(first: {FIRST}, visitId: $visit, after: $after) {{
    visitId edges {{ reason node {{ {_CARD} }} }} pageInfo {{ endCursor hasNextPage }}
    health {{ pools materialized mayBeStale }} }} }}"""
FOLLOWING = f"""{{ followingFeed(first: {FIRST}) {{
  edges {{ node {{ {_CARD} }} }} health {{ store mayBeStale }} }} }}"""


@dataclass(slots=True)
class Visit:
    """A visit that was begun, and the pins of its pages when they were first read."""

    viewer: str
    id: str
    first: list[str]
    next_cursor: str | None
    second: list[str] | None = None


@dataclass(slots=True)
class Seen:
    """One request. Times are in seconds from the drill's start; the latency is measured from when
    it was due."""

    due: float
    kind: str  # following, home, again, next
    latency: float = 0.0
    fault: str = ""  # the reason why it failed
    degraded: bool = False
    stale: bool = False
    sides: tuple[str, ...] = ()


@dataclass
class Judge:
    """Judges answers with the oracle. `deadline` is in seconds."""

    world: World
    deadline: float
    visits: list[Visit] = field(default_factory=list)

    def judge(self, seen: Seen, viewer: str, visit: Visit | None, status: int, body: Any) -> None:
        """Record the outcome of a request, from its answer."""
        if status != 200 or body.get("errors") or not body.get("data"):
            errors = body.get("errors") or [{"message": f"status {status}"}]
            seen.fault = str(errors[0].get("message"))
            return
        (feed,) = body["data"].values()
        health = feed["health"]
        seen.stale = health["mayBeStale"]
        if seen.kind == "following":
            seen.sides = (health["store"],)
        else:  # only a new visit reads the pools
            stores = ("pools", "materialized") if seen.kind == "home" else ("materialized",)
            seen.sides = tuple(health[store] or "NONE" for store in stores)
        ids = [edge["node"]["id"] for edge in feed["edges"]]
        seen.fault = self._cards(feed["edges"]) or (
            self._of_following(viewer, ids)
            if seen.kind == "following"
            else self._of_home(viewer, feed)
        )
        if seen.fault:
            return
        if seen.kind == "home":
            new = [e for e in feed["edges"] if e["reason"] != "SHOWN_BEFORE"]
            seen.degraded = not new
            after = feed["pageInfo"]["endCursor"] if feed["pageInfo"]["hasNextPage"] else None
            self.visits.append(Visit(viewer, feed["visitId"], ids, after))
        elif visit is not None:
            seen.fault = _of_visit(seen.kind, visit, ids)
        if seen.latency > self.deadline:
            seen.fault = f"answered after {seen.latency:.1f} s"

    def _cards(self, edges: list[Any]) -> str:
        for edge in edges:
            node = edge["node"]
            place = self.world.places.get(node["id"])
            owner = node["owner"]["username"].removeprefix(self.world.run)
            if place is None or (owner, node["board"]["name"]) != place[:2]:
                return f"pin {node['id']} is not the one imported"
        return ""

    def _of_following(self, viewer: str, ids: list[str]) -> str:
        expected = self.world.following[viewer]
        if len(ids) < min(FIRST, len(expected)) or len(set(ids)) < len(ids):
            return f"{len(ids)} pins of {len(expected)}"
        return "" if expected.issuperset(ids) else "a pin that is not followed"

    def _of_home(self, viewer: str, feed: Any) -> str:
        ids = [edge["node"]["id"] for edge in feed["edges"]]
        if len(set(ids)) < FIRST:
            stores = f"pools {feed['health']['pools']}, shown {feed['health']['materialized']}"
            return f"{len(set(ids))} pins in a home feed ({stores})"
        for edge in feed["edges"]:
            place = self.world.places[edge["node"]["id"]]
            if not self.world.oracle.allows(viewer, place, edge["reason"]):
                return f"a pin that may not be there ({edge['reason']})"
        return ""


def _of_visit(kind: str, visit: Visit, ids: list[str]) -> str:
    if kind == "again":
        return "" if ids == visit.first else "the visit's page changed"
    if set(ids) & set(visit.first):
        return "a pin twice in one visit"
    if visit.second is None:
        visit.second = ids
    return "" if ids == visit.second else "the visit's next page changed"
