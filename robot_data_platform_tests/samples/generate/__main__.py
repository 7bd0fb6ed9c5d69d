"""Command line: makes the three uploads and TRUTH.json in a folder."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from robot_data_platform_tests.samples.generate import aloha_fold, aloha_insert, so101_pick, truth

DATA = Path(__file__).parents[1] / "data"
SEED = 20260225


def main() -> None:
    """Make the samples anew; what is in the way is removed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", nargs="?", type=Path, default=DATA, metavar="OUT")
    parser.add_argument("--seed", type=int, default=SEED)
    arguments = parser.parse_args()
    os.environ.setdefault("SVT_LOG", "1")  # else SVT-AV1 reports its settings for every file
    datasets = {}
    for dataset in (aloha_fold, so101_pick, aloha_insert):
        folder = arguments.out / dataset.NAME
        shutil.rmtree(folder, ignore_errors=True)
        datasets[dataset.NAME] = dataset.make(folder, arguments.seed)
        sys.stdout.write(f"{folder}: {_size_mb(folder):.2f} MB\n")
        sys.stdout.flush()
    truth.write_truth(arguments.out / "TRUTH.json", seed=arguments.seed, datasets=datasets)


def _size_mb(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


if __name__ == "__main__":
    main()
