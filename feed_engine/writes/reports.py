"""Reports a pin, a board, a user or a comment to the operators.

The report is on the shard of what is reported, together with its case. Nothing tells the owner, and
no read of clients finds it.
"""

from datasources.clocks import now_ms
from datasources.errors import BadInput, NotFound
from datasources.ids import InvalidId, Kind, kind_of
from datasources.protocols import Report, ReportReason, ShardTx, Stores
from datasources.records import Comment, User
from feed_engine.outbox.change import change
from feed_engine.transactions import access
from feed_engine.transactions.commit import Mutation, Outcome, Saved, mutate
from feed_engine.transactions.inputs import NewReport

REPORTED = (Kind.PIN, Kind.BOARD, Kind.USER, Kind.COMMENT)
"""The kinds of objects that can be reported."""


async def report(
    stores: Stores,
    viewer_id: int,
    new: NewReport,
    *,
    key: str | None = None,
    at: int | None = None,
) -> None:
    """Report an object that the viewer sees. A second report of the same object changes the reason
    and the text of the first. Raises BadInput for what the viewer owns or is, and NotFound."""
    new, kind = new.checked(), _kind_of(new.id)

    async def prepare() -> None:
        try:
            owner_id = await _owner_id(stores, viewer_id, kind, new.id)
        except NotFound:
            raise access.missing(kind, new.id, "id") from None
        if owner_id == viewer_id:
            raise BadInput(_OWN[kind], "id")

    async def work(tx: ShardTx, _: None) -> Outcome[None]:
        now = at if at is not None else now_ms()
        written = Report(new.id, viewer_id, ReportReason(new.reason), new.text, now)
        changed = await tx.report(written)
        return Outcome(None, Saved(id=new.id), change(), durable=changed)

    async def again(_: Saved) -> None:
        """The answer is empty."""

    shard = access.home(stores, kind, new.id, "id")
    await mutate(stores, Mutation("report", shard, viewer_id, key, new), prepare, work, again)


_OWN = {
    Kind.PIN: "Nobody can report their own pin: change or delete it.",
    Kind.BOARD: "Nobody can report their own board: change or delete it.",
    Kind.USER: "Nobody can report themselves: choose another user.",
    Kind.COMMENT: "Nobody can report their own comment: delete it.",
}


def _kind_of(id: int) -> Kind:
    """The kind of an object that can be reported. Raises BadInput."""
    try:
        kind = kind_of(id)
    except InvalidId as error:
        raise BadInput(str(error), "id") from None
    if kind not in REPORTED:
        raise BadInput(
            f"{id} is the id of an {kind.name.lower()}: only pins, boards, users and comments can "
            "be reported.",
            "id",
        )
    return kind


async def _owner_id(stores: Stores, viewer_id: int, kind: Kind, id: int) -> int:
    """The owner of an object that the viewer may see. Raises NotFound."""
    match kind:
        case Kind.PIN:
            pin, _ = await access.find_pin(stores, viewer_id, id)
            return pin.owner_id
        case Kind.BOARD:
            return (await access.find_board(stores, viewer_id, id)).owner_id
        case Kind.USER:
            return (await access.find_user(stores, viewer_id, id)).id
    comment = (await access.read(stores, Comment, [id])).get(id)
    await access.pin_of_comment(stores, viewer_id, id, comment)
    if comment is None or not await access.read(stores, User, [comment.author_id]):
        raise access.missing(kind, id)
    return comment.author_id
