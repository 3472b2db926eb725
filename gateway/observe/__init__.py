"""The operators' view: metrics of the stores and of the process, their state, logs, traces.

`datasources/calls.py` measures the calls of stores, and `datasources/recording.py` records the work
of a request or job. The modules here pass these on to people and to other systems.
"""
