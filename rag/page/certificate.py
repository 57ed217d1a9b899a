"""A certificate and its key for HTTPS, checked before anything else is loaded."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from cryptography import x509

from index.errors import ServerError


@dataclass(frozen=True)
class Certificate:
    """The files, and the names and addresses that the certificate is for."""

    file: Path
    key: Path
    names: tuple[str, ...]


def read_certificate(file: Path, key: Path) -> Certificate:
    """Read and check a certificate (PEM, with its chain) and its key. Raises `ServerError`."""
    try:
        chain = x509.load_pem_x509_certificates(file.read_bytes())
        key.read_bytes()
    except OSError as error:
        raise ServerError(f"{error.filename} cannot be read ({error.strerror}); give the files of --cert and --key.") from error
    except ValueError as error:
        raise ServerError(
            f"{file} is not a certificate in PEM form; give the file that begins with BEGIN CERTIFICATE."
        ) from error
    try:
        # The empty passphrase: a server that starts by itself has nobody to ask.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(file, key, password="")
    except (ssl.SSLError, ValueError) as error:
        raise ServerError(
            f"{key} is not the key of {file}, or is damaged or locked by a passphrase; give the two files that belong together."
        ) from error
    ends = chain[0].not_valid_after_utc
    if ends < datetime.now(timezone.utc):
        raise ServerError(f"The certificate {file} ended on {ends:%Y-%m-%d}; renew it, or leave --cert and --key out.")
    return Certificate(file, key, _names(chain[0]))


def _names(certificate: x509.Certificate) -> tuple[str, ...]:
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return ()
    addresses = [str(address) for address in found.get_values_for_type(x509.IPAddress)]
    return (*(name.lower() for name in found.get_values_for_type(x509.DNSName)), *addresses)
