"""Trained models as materializations of the external asset ``trained_models``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg

from robot_data_platform.defs.curate.assets import trained_models

if TYPE_CHECKING:
    from collections.abc import Mapping


def report_model(
    instance: dg.DagsterInstance,
    model: str,
    release: str,
    digest: str,
    metrics: Mapping[str, float],
) -> None:
    """Tell an instance in this process of a model that the lake's catalog holds."""
    instance.report_runless_asset_event(
        dg.AssetMaterialization(
            asset_key=trained_models.key,
            metadata={"model": model, "release": release, "release_digest": digest, **metrics},
        )
    )
