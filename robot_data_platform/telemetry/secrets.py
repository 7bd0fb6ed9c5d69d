"""Nothing secret is told: values of secret variables, and what was signed, become ``***``."""

from __future__ import annotations

import os
import re
from urllib.parse import quote

from robot_data_platform.storage.faults import without_secrets

MIN_CHARS = 8
"""A shorter value is no secret, and hiding it would hide half of every line."""

_SECRET_NAME = re.compile(r"(SECRET|PASSWORD|TOKEN|ACCESS_KEY|API_KEY|CREDENTIAL|WEBHOOK)")
_NAMES_A_FILE = re.compile(r"_(FILE|PATH)$")


def redacted(text: str) -> str:
    """Return a text without any value of this process's secret variables, quoted ones included."""
    for value in secret_values():
        text = text.replace(value, "***").replace(quote(value, safe=""), "***")
    return without_secrets(text)


def secret_values() -> list[str]:
    """Return the values of variables whose name says that they are secret, longest first."""
    values = {value for name, value in os.environ.items() if _is_secret(name)}
    return sorted((v for v in values if len(v) >= MIN_CHARS), key=len, reverse=True)


def _is_secret(name: str) -> bool:
    return bool(_SECRET_NAME.search(name)) and not _NAMES_A_FILE.search(name)
