"""The data of an operation and of a request: selections, response positions, and the interface of
a run. Nothing here executes anything."""
