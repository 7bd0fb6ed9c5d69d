"""Write the identities that SeaweedFS starts with: keys from the environment, rights from policies.

    python identities.py OUTPUT

On AWS the same policies belong to IAM users or roles; this program is for the store of
compose.yaml.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

POLICIES = Path(__file__).parent / "policies"
ROLES = ("platform", "training", "reader")
"""Each has a policy of its name, and its keys in ``RDP_<ROLE>_ACCESS_KEY`` and ``_SECRET_KEY``."""


def identities(environment: Mapping[str, str]) -> dict[str, object]:
    """Return SeaweedFS's configuration of who may do what."""
    admin = _identity("admin", *_keys(environment, "admin"))
    return {
        "identities": [
            admin | {"actions": ["Admin"]},
            *(_identity(role, *_keys(environment, role)) | _policy(role) for role in ROLES),
            *(_identity(*robot) | _policy("robot") for robot in _robots(environment)),
        ],
        "policies": [
            {"name": name, "content": (POLICIES / f"{name}.json").read_text()}
            for name in (*ROLES, "robot")
        ],
    }


def _keys(environment: Mapping[str, str], role: str) -> tuple[str, str]:
    access_key, secret_key = (
        environment.get(f"RDP_{role.upper()}_{part}_KEY", "") for part in ("ACCESS", "SECRET")
    )
    if not access_key or not secret_key:
        sys.exit(f"RDP_{role.upper()}_ACCESS_KEY and _SECRET_KEY are empty: set them in .env.")
    return access_key, secret_key


def _robots(environment: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield name, access key and secret key of each robot; its name is that of its dataset."""
    for number, robot in enumerate(environment.get("RDP_ROBOTS", "").split()):
        parts = robot.split(":")
        if len(parts) != 3 or not all(parts):
            sys.exit(f"Entry {number} of RDP_ROBOTS is not dataset:access-key:secret-key.")
        yield parts[0], parts[1], parts[2]


def _identity(name: str, access_key: str, secret_key: str) -> dict[str, object]:
    return {"name": name, "credentials": [{"accessKey": access_key, "secretKey": secret_key}]}


def _policy(name: str) -> dict[str, object]:
    return {"policyNames": [name]}


def main() -> None:
    """Write the file that the first argument names, for its owner's eyes only."""
    text = json.dumps(identities(os.environ))
    path = Path(sys.argv[1])
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_text(text)


if __name__ == "__main__":
    main()
