from gateway.execution.tasks.stepped import SteppedTask as SteppedTask
from gateway.execution.tasks.stepped import start_all as start_all
