"""The view of operators: metrics of the stores and of the process, their state, logs, traces.

`datasources/calls.py` measures the calls of stores, `datasources/recording.py` records what one
request or job does. The modules here tell it to people and to other systems.
"""
