from gateway.execution.steps import Steps as Steps
from gateway.execution.steps import start_all as start_all
