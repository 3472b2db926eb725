"""The command of a worker process, which the supervisor starts (gateway/server/worker.py)."""

import sys

from pinway.path import put_first


def main() -> None:
    """Run the worker and end the process."""
    put_first()
    from gateway.execution.collector import lasting

    with lasting():
        from gateway.server.worker import run

    run(sys.argv[1:])


if __name__ == "__main__":
    main()
