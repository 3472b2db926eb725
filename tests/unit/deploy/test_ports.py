"""`deploy/stack/ports.py`."""

import random
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.stack import ports


def test_a_port_that_somebody_listens_on_is_not_free() -> None:
    with socket.create_server((ports.HOST, 0)) as listener:
        assert not ports.is_free(listener.getsockname()[1])


def test_a_port_whose_listener_has_gone_is_free() -> None:
    with socket.create_server((ports.HOST, 0)) as listener:
        port = listener.getsockname()[1]
    assert ports.is_free(port)


def test_every_name_gets_a_port_of_its_own() -> None:
    names = [f"server{n}" for n in range(50)]
    chosen = ports.pick(names, {}, {})
    assert list(chosen) == names
    assert len(set(chosen.values())) == 50


def test_ports_lie_outside_the_range_of_outgoing_connections() -> None:
    chosen = ports.pick([f"server{n}" for n in range(50)], {}, {})
    assert set(chosen.values()) <= set(ports.port_range())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("32768\t60999\n", range(10_000, 32_768)),
        ("20000 60999\n", range(10_000, 20_000)),
        # Nothing worth mentioning lies below: then anything will do.
        ("1024\t65535\n", range(10_000, 65_536)),
        ("nonsense", range(10_000, 32_768)),
    ],
)
def test_the_kernel_says_where_outgoing_connections_begin(
    tmp_path: Path, text: str, expected: range
) -> None:
    file = tmp_path / "ip_local_port_range"
    file.write_text(text)
    assert ports.port_range(file) == expected


def test_a_port_of_an_earlier_run_is_kept_while_it_is_free() -> None:
    chosen = ports.pick(["a", "b"], {"a": 12_345}, {}, free=lambda _: True)
    assert chosen["a"] == 12_345
    assert chosen["b"] != 12_345


def test_a_port_of_an_earlier_run_that_somebody_took_is_replaced() -> None:
    chosen = ports.pick(["a"], {"a": 12_345}, {}, free=lambda port: port != 12_345)
    assert chosen["a"] != 12_345


def test_the_port_of_a_running_server_stays_though_it_is_not_free() -> None:
    chosen = ports.pick(["a", "b"], {"a": 12_345}, {"a": 12_345}, free=lambda port: port != 12_345)
    assert chosen["a"] == 12_345


class Draws(random.Random):
    """Chooses these ports."""

    def __init__(self, *ports: int) -> None:
        super().__init__()
        self._ports = iter(ports)

    def choice(self, seq: range) -> int:  # type: ignore[override]
        return next(self._ports)


def test_a_port_that_another_process_picked_is_not_picked_until_the_process_ends() -> None:
    picks = "from deploy.stack import ports; print(ports.pick(['a'], {}, {})['a'], flush=True)"
    with subprocess.Popen(
        [sys.executable, "-c", f"{picks}; input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout
        port = int(other.stdout.readline())
        assert ports.is_free(port)  # its server has not started
        assert ports.pick(["a"], {}, {}, rng=Draws(port, *ports.port_range())) != {"a": port}
        assert ports.pick(["a"], {"a": port}, {}) == {"a": port}  # its own stack starts again
        other.communicate("\n")
    assert ports.pick(["a"], {}, {}, rng=Draws(port)) == {"a": port}


def test_no_port_is_picked_twice() -> None:
    first = ports.pick(["a"], {}, {})
    assert ports.pick(["a"], {}, {}, rng=Draws(first["a"], *ports.port_range())) != first


def test_no_new_port_is_one_that_another_server_had() -> None:
    chosen = ports.pick(
        ["a", "b"], {"b": 12_345}, {}, free=lambda _: True, rng=Draws(12_345, 12_346)
    )
    assert chosen == {"a": 12_346, "b": 12_345}
