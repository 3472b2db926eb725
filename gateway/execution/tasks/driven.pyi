from gateway.execution.tasks.steps import Steps as Steps
from gateway.execution.tasks.steps import start_all as start_all
