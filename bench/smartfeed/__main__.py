"""The home feed's order, judged by simulated people.

make bench NAME=smartfeed [QUICK=1]       a small world, and four orders
python -m bench.smartfeed --population    a week of a population with a gateway, and three orders
"""

import argparse
import asyncio
from pathlib import Path

from bench.rows import replace, table
from bench.smartfeed import orders, run
from bench.smartfeed.population import Shape

QUICK = Shape(users=40, pins=500, viewers=3, days=1, history=9, topics=6)
SIZES = ("users", "pins", "viewers", "days")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.smartfeed",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="a tiny world; writes no file")
    parser.add_argument("--population", action="store_true", help="the week of a population")
    for name in SIZES:
        given = Shape._field_defaults[name]
        parser.add_argument(
            f"--{name}", type=int, help=f"{given:,} if not given; a given size writes no file"
        )
    parser.add_argument("--folder", type=Path, help="keeps the filled stores and outcomes")
    args = parser.parse_args()
    sizes = {name: value for name in SIZES if (value := getattr(args, name)) is not None}
    if args.population:
        shape = (QUICK if args.quick else Shape())._replace(**sizes)
        if min(shape) < 1 or shape.viewers > shape.users:
            parser.error(f"all sizes must be above 0, and viewers at most the users, got {shape}")
        rows, prefix = run.compared(shape, args.folder), run.MEASURE
    else:
        small = orders.Shape(6, 100) if args.quick else orders.Shape(24, 140)
        rows, prefix = asyncio.run(orders.compared(small)), orders.MEASURE
    print(table(rows))
    if not (args.quick or sizes):
        replace("smartfeed", (prefix,), rows)


if __name__ == "__main__":
    main()
