"""Makes screenshots of the web client for the README in docs/images: `make pictures`.

It runs a gateway with demo content on new stores.
"""

import tempfile
from pathlib import Path

from tests.outside.node_tools import ROOT, ensure_chromium, run_client
from tests.pinway_process import serving

FOLDER = ROOT / "docs" / "images"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "data") as served:
        chromium = str(ensure_chromium())
        made = run_client(
            *("pictures", served.url, served.token),
            CHROMIUM=chromium,
            PICTURES=str(FOLDER),
            DEMO_USER="demo",
        )
        served.stop()
    for name in made["pictures"]:
        print(FOLDER / f"{name}.webp")


if __name__ == "__main__":
    main()
