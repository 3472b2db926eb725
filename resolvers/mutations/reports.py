"""Reports objects to the operators."""

from datasources.protocols import ReportReason
from feed_engine import writes
from resolvers.context import Context, object_id
from resolvers.mutations import inputs, payloads
from resolvers.payloads import mutation


@mutation
async def report(context: Context, input: inputs.Report) -> payloads.ReportPayload:
    viewer_id = context.require_viewer()
    reason = ReportReason[input.reason.name]
    new = writes.NewReport(id=object_id(input.id), reason=int(reason), text=input.text)
    await writes.report(context.stores, viewer_id, new, key=input.idempotency_key)
    return payloads.ReportPayload(reported_id=input.id)
