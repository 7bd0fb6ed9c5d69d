"""A training script as a researcher writes it: reads a release, fits a policy, records the model.

python training_script.py DATASET RELEASE MODEL, with RDP_LAKE, DAGSTER_URL, AWS_* and RDP_DAGSTER_*
set. It runs where only the base install is, and asserts so.
"""

from __future__ import annotations

import importlib.util
import os
import sys

from robot_data_platform.cli.demo_policy import fit, read_samples
from robot_data_platform.lineage import training_run
from robot_data_platform.reader import RobotLanceDataset

PLATFORM_ONLY = ("dagster", "ray", "boto3", "great_expectations", "pandas", "click", "yaml")


def main() -> None:
    """Train on the release's training split."""
    dataset_name, release, model = sys.argv[1:]
    present = [name for name in PLATFORM_ONLY if importlib.util.find_spec(name)]
    assert not present, f"installed beside the reader: {present}"
    lake = os.environ["RDP_LAKE"]
    with training_run(
        lake, dataset_name, release, model=model, dagster_url=os.environ["DAGSTER_URL"]
    ) as run:
        samples = RobotLanceDataset(lake, dataset_name, release=release, split="train")
        features, actions = read_samples(samples)
        policy = fit(features, actions)
        error = ((policy.actions(features) - actions) ** 2).mean()
        run.log_metrics(training_error=error, num_samples=len(features))
    sys.stdout.write(f"{len(features)} samples, error {error:.4g}\n")


if __name__ == "__main__":
    main()
