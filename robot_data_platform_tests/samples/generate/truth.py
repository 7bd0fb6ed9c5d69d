"""What is known of the samples because they were made: written beside them as TRUTH.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import yaml

Facts = dict[str, object]


def write_truth(path: Path, *, seed: int, datasets: Mapping[str, Facts]) -> None:
    """Write all facts as one JSON file."""
    content = {"seed": seed, "datasets": datasets}
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def write_profile(folder: Path, content: Facts) -> None:
    """Write ``profile.yaml``: what the data itself doesn't say."""
    folder.mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump(
        {"version": 1, **content}, sort_keys=False, default_flow_style=None, width=96
    )
    (folder / "profile.yaml").write_text(text, encoding="utf-8")
