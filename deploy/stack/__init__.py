"""`pinway stack`: the real servers on a Linux host without a container engine."""

from deploy.stack.errors import StackError
from deploy.stack.service import Health, Service, State
from deploy.stack.stack import Stack

__all__ = ["Health", "Service", "Stack", "StackError", "State"]
