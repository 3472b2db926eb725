"""The hints that say how long shared caches may keep what a stranger reads: `@cacheControl`, a
smaller form of Apollo's directive.

There is no scope: an answer to a signed-in viewer is never public
(`gateway/documents/caching.py`).
"""

import strawberry
from strawberry.schema_directive import Location


@strawberry.schema_directive(
    locations=[Location.FIELD_DEFINITION, Location.OBJECT],
    name="cacheControl",
    description="How long shared caches may keep a field, or each field that returns this type: "
    "`maxAge` seconds, or as long as the object that has the field (`inheritMaxAge`). An answer is "
    "kept as long as its field with the smallest age; a root field or an object without a hint is "
    "not kept. The setting `http.public_max_age` bounds all ages.",
)
class CacheControl:
    max_age: int = 0
    inherit_max_age: bool = False


INHERITED = CacheControl(inherit_max_age=True)
"""The hint for a type that belongs to the object that has it: a page, an edge."""
SECONDS = 60
"""The age of users, boards, pins and their lists."""
TOPIC_SECONDS = 300
"""The age of interests, which seldom change."""
KEPT, TOPIC_KEPT = CacheControl(max_age=SECONDS), CacheControl(max_age=TOPIC_SECONDS)
