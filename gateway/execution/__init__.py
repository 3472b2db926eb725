"""Runs GraphQL operations: parsed and validated once, executed, errors made fit to be seen."""

from gateway.execution.executor import Executor, Result

__all__ = ["Executor", "Result"]
