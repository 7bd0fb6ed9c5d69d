"""Jobs: ingest one upload, check it again, release one dataset."""

import dagster as dg

INGEST_ASSETS = (
    *("raw_episodes", "gop_video", "frames", "episodes", "quality_results", "spatial_results"),
)
RELEASE_ASSETS = ("curated_splits", "dataset_release")

ingest_upload = dg.define_asset_job(
    "ingest_upload",
    selection=dg.AssetSelection.assets(*INGEST_ASSETS),
    description="Everything that one upload goes through, up to its checks.",
)

check_upload = dg.define_asset_job(
    "check_upload",
    selection=dg.AssetSelection.assets("spatial_results"),
    description="The spatial checks of one upload again, as after a calibration was accepted.",
)

release_dataset = dg.define_asset_job(
    "release_dataset",
    selection=dg.AssetSelection.assets(*RELEASE_ASSETS),
    description="Splits and a release of one dataset as it is now.",
)
