"""The commands of an installed Pinway: `pinway`, which is `python -m pinway`, and its workers.

A wheel installs Pinway's packages (`gateway`, `schema` ...) in this folder, because other projects
have packages of the same names. The commands put the folder first on the path of modules.
"""
