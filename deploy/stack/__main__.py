"""`python -m deploy.stack`: the same command group as `pinway stack`."""

from deploy.stack.cli import stack

stack(prog_name="python -m deploy.stack")
