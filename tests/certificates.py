"""Certificates for tests of TLS, made with openssl: of an authority, and of a server on
127.0.0.1."""

import subprocess
from pathlib import Path
from typing import NamedTuple

_DAYS = ("-days", "2")
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


class Certificates(NamedTuple):
    """Paths of PEM files. `other` is the certificate of an authority that signed nothing."""

    ca: Path
    certificate: Path
    key: Path
    other: Path


def made_in(folder: Path) -> Certificates:
    """New certificates in a folder."""
    paths = Certificates(*(folder / f"{name}.pem" for name in Certificates._fields))
    ca_key = folder / "ca.key"
    for ca, key in ((paths.ca, ca_key), (paths.other, folder / "other.key")):
        _openssl(
            *("req", "-x509", *_KEY, "-keyout", key, "-out", ca, *_DAYS, "-subj", f"/CN={ca.stem}"),
            *("-addext", "basicConstraints=critical,CA:TRUE"),
        )
    _openssl(
        *("req", "-x509", *_KEY, "-keyout", paths.key, "-out", paths.certificate, *_DAYS),
        *("-subj", "/CN=server", "-CA", paths.ca, "-CAkey", ca_key),
        *("-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=CA:FALSE"),
    )
    paths.key.chmod(0o644)  # the server may run as another user
    return paths


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)
