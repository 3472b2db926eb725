"""Pictures in the inputs of mutations."""

from datasources.records import Image
from resolvers.mutations.inputs import PinImage


def stored_image(given: PinImage | None) -> Image | None:
    """A picture of an input in its stored form."""
    if given is None:
        return None
    return Image(url=given.url, width=given.width, height=given.height, color=given.dominant_color)
