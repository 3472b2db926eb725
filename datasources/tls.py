"""The TLS of connections to stores: certificates and host names are always checked."""

import ssl


class BadCertificate(ValueError):
    """A file of certificates can't be used; the message names the file."""


def context(ca: str = "", certificate: str = "", key: str = "") -> ssl.SSLContext:
    """The context that trusts the certificates in the file `ca` (the default: the system's
    authorities), and shows the client's certificate, if there is one. Raises BadCertificate."""
    try:
        made = ssl.create_default_context(cafile=ca or None)
    except (OSError, ssl.SSLError) as error:
        raise BadCertificate(f"{ca} has no certificates: {_reason(error)}") from None
    if certificate or key:
        try:
            made.load_cert_chain(certificate, key or None)
        except (OSError, ssl.SSLError) as error:
            raise BadCertificate(
                f"{certificate} and {key or certificate} are no certificate with its key: "
                f"{_reason(error)}"
            ) from None
    return made


def _reason(error: OSError) -> str:
    return error.strerror or (error.reason if isinstance(error, ssl.SSLError) else "") or "unknown"
