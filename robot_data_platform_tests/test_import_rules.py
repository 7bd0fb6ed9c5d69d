"""Who may import whom: the contracts of pyproject.toml, and what an import really loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

NEVER_LOADED = ("boto3", "dagster", "great_expectations", "ray", "torch")

NOT_IN_THE_BASE_INSTALL = (
    *("PIL", "boto3", "botocore", "click", "dagster", "dagster_aws", "great_expectations", "h5py"),
    *("mujoco", "numba", "pandas", "prometheus_client", "ray", "rerun", "rich", "torch", "yaml"),
)

IMPORT_ALL_OF = """
import importlib, pkgutil

def import_all_of(name):
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, name + "."):
        importlib.import_module(module.name)
"""

HIDE = """
import sys

class Hidden:
    def __init__(self, names):
        self.names = names

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

def hide(names):
    sys.meta_path.insert(0, Hidden(names))
"""


def in_fresh_interpreter(code: str, cwd: Path) -> str:
    """Run code in a new interpreter, where nothing is loaded yet, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("layer", ["core", "video", "storage", "reader"])
def test_an_import_loads_nothing_of_the_platform(layer: str, repository: Path) -> None:
    code = f"""
import sys
{IMPORT_ALL_OF}
import_all_of("robot_data_platform.{layer}")
print([name for name in {NEVER_LOADED!r} if name in sys.modules])
"""
    assert in_fresh_interpreter(code, repository) == "[]"


def test_the_reader_needs_the_base_install_alone(repository: Path) -> None:
    # pyarrow.dataset, which lance loads, takes pandas along where it is installed. So nothing can
    # keep it out of sys.modules there; that the reader doesn't need it is what can be shown.
    code = f"""
{IMPORT_ALL_OF}
{HIDE}
hide({NOT_IN_THE_BASE_INSTALL!r})
import_all_of("robot_data_platform.reader")
print("imported")
"""
    assert in_fresh_interpreter(code, repository) == "imported"


def test_importing_the_package_loads_nothing_but_itself(repository: Path) -> None:
    code = """
import sys
before = set(sys.modules)
import robot_data_platform
print(sorted(set(sys.modules) - before))
"""
    assert in_fresh_interpreter(code, repository) == "['robot_data_platform']"


def test_the_import_contracts_hold(repository: Path) -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-logo", "--no-cache"],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
