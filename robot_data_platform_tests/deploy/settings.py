"""A ``.env`` made from ``.env.example`` as README.md says: what is empty is filled in."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from robot_data_platform_tests.deploy.compose_file import ENV_EXAMPLE, parse_env

ROBOT_DATASET = "so101_pick"
STRANGER_DATASET = "aloha_insert"
"""A dataset that the robot has no right to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The variables, and the secrets that only their owners know."""

    environment: dict[str, str]
    web_password: str = field(repr=False)
    robot_secret_key: str = field(repr=False)

    @property
    def robot_keys(self) -> tuple[str, str]:
        """The access key and the secret key of the robot."""
        return f"robot-{ROBOT_DATASET}", self.robot_secret_key

    def keys(self, role: str) -> tuple[str, str]:
        """Return the access key and the secret key of a role."""
        prefix = f"RDP_{role.upper()}"
        return self.environment[f"{prefix}_ACCESS_KEY"], self.environment[f"{prefix}_SECRET_KEY"]

    @property
    def secrets(self) -> set[str]:
        """Everything that no log may show."""
        return {
            self.web_password,
            self.robot_secret_key,
            *(value for name, value in self.environment.items() if _is_secret(name)),
        }


def make_settings(web_password_hash: str, web_password: str) -> Settings:
    """Return settings with random secrets; the web password comes with its hash."""
    robot_secret_key = secrets.token_hex(24)
    given = {
        "RDP_ROBOTS": f"{ROBOT_DATASET}:robot-{ROBOT_DATASET}:{robot_secret_key}",
        "RDP_WEB_PASSWORD_HASH": web_password_hash,
        # Nothing of a test outlives it, so its uploads need not be locked.
        "RDP_LANDING_LOCK_DAYS": "1",
    }
    example = parse_env(ENV_EXAMPLE.read_text())
    filled = {name: value or secrets.token_hex(24) for name, value in example.items()}
    return Settings(
        environment=filled | given, web_password=web_password, robot_secret_key=robot_secret_key
    )


def _is_secret(name: str) -> bool:
    return name.endswith(("_PASSWORD", "_SECRET_KEY", "_TOKEN"))
