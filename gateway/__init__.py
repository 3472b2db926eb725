# PINWAY_COMPILED=0 must be known before the first import of a compiled module.
import loaders.compiled  # noqa: F401
