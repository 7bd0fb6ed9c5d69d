"""What ``dagster dev`` loads: the asset graph, bound to RDP_LAKE and RDP_LANDING when it runs."""

from __future__ import annotations

from robot_data_platform.defs.graph import build_definitions

defs = build_definitions()
