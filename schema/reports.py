"""Reports of pins, boards, users and comments to the operators."""

from enum import Enum

import strawberry


@strawberry.enum(description="Why something is reported.")
class ReportReason(Enum):
    SPAM = strawberry.enum_value("SPAM", description="Advertising, fraud, or endless repetition.")
    ADULT = strawberry.enum_value("ADULT", description="Nudity or sexual content.")
    HATE = strawberry.enum_value("HATE", description="Contempt for a group of people.")
    HARASSMENT = strawberry.enum_value("HARASSMENT", description="Attacks on a person.")
    VIOLENCE = strawberry.enum_value(
        "VIOLENCE", description="Cruelty, threats, or calls for violence."
    )
    MISINFORMATION = strawberry.enum_value(
        "MISINFORMATION", description="False claims that may do harm."
    )
    COPYRIGHT = strawberry.enum_value(
        "COPYRIGHT", description="Somebody's work without a permission."
    )
    OTHER = strawberry.enum_value("OTHER", description="Anything else: `text` says what.")
