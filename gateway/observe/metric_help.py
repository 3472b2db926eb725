"""The help texts of metrics that are fields of a class of counters: one text for each field."""

from typing import Final

NAMES: Final = {"bytes": "document_bytes", "cutoff": "cutoff_seconds", "trust": "trust_ratio"}
"""Metrics with another name than the field: their names include the unit."""

FEED: Final = {
    "calls": "Reads of the feed store.",
    "primary_answers": "Reads that the primary answered.",
    "standby_answers": "Reads that the standby answered.",
    "failed": "Reads that no side answered.",
    "late": "Reads whose first side had not answered at the cutoff.",
    "primary_failures": "Errors of the primary, also where the standby answered.",
    "standby_failures": "Errors of the standby, also where the primary answered.",
    "hedges": "Reads that asked the second side too.",
    "refused": "Late reads that did not ask the second side, because the budget was empty.",
    "run_ons": "Reads that lost the race and ran to their end, to be measured.",
    "warm": "Reads that also went to the standby to keep it warm.",
    "probes": "Reads sent to an avoided side, to see whether it recovered.",
    "shed": "Warm reads and probes that were not made, because there was no budget or no room.",
    "compared": "Warm reads whose answer was compared with the primary's.",
    "differing": "Compared answers that differed from the primary's.",
    "caught_up": "Differing standbys that gave the primary's answer within the deadline.",
    "left_behind": "Differing standbys that did not give the primary's answer within the deadline.",
    "lag_seconds": "The seconds that standbys took to catch up, summed.",
    "outages": "Times that the primary was avoided after failures.",
    "returns": "Times that the primary was fully trusted again.",
    "cutoff": "Seconds before a late read asks the second side, for the most frequent kind of "
    "read.",
    "trust": "The share of the reads that ask the primary first.",
}
"""By field of `feed_engine.speculation.Stats`."""

CIRCUIT: Final = {
    "openings": "Times that reads left the cache's server after failures, and went to the shards.",
    "passed": "Reads that did not ask the cache's server, and went to the shards at once.",
    "refused": "Removals that failed at once, because the cache's server hung. Their writes are "
    "kept, and answer UNAVAILABLE.",
    "owed": "Entries whose removal failed. This process reads them from the shards until they are "
    "removed.",
}
"""By field of `datasources.circuit.CircuitState`."""

GENERATION: Final = {
    "raised": "Times that this process shut the cache's server for all processes, because it could "
    "not remove an entry.",
    "shuts": "1 while this process keeps the cache's server shut: it can't remove entries from it.",
    "unleased": "Reads that went to the shards, because this process had no reader lease on the "
    "cache's server.",
}
"""By field of `datasources.protocols.GenerationState`."""

EXECUTOR: Final = {
    "hits": "Requests whose document was in the cache.",
    "misses": "Requests whose document was not in the cache.",
    "evictions": "Documents that were removed from the cache to make room.",
    "documents": "Documents in the cache.",
    "bytes": "The approximate memory of the documents in the cache.",
    "fallbacks": "Requests that graphql-core ran, because the executor does not compile them.",
    "refused": "Documents that were refused; a document that is refused again from the cache is "
    "not counted.",
}
"""By field of `gateway.documents.cache.Stats`."""
