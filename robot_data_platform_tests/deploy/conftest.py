"""The services of ``compose.yaml`` as they are with a filled-in ``.env``."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from robot_data_platform_tests.deploy.compose_file import Service, services
from robot_data_platform_tests.deploy.settings import make_settings


@pytest.fixture(scope="session")
def compose_services() -> Mapping[str, Service]:
    """Every service, with random secrets."""
    return services(make_settings("$2a$14$hash", "password").environment)
