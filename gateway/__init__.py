# PINWAY_COMPILED=0 has to be known before the first module that has compiled code is imported.
import loaders.compiled  # noqa: F401
