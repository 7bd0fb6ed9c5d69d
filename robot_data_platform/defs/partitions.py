"""Partitions of the whole platform: one per upload, and one per dataset."""

from __future__ import annotations

import dagster as dg

UPLOADS = dg.DynamicPartitionsDefinition(name="uploads")
"""One partition an upload; episodes are rows and never become partitions."""

DATASETS = dg.DynamicPartitionsDefinition(name="datasets")
"""One partition a dataset, for what is curated and released as a whole."""
