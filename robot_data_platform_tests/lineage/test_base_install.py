from __future__ import annotations

from pathlib import Path

from robot_data_platform_tests.test_import_rules import (
    HIDE,
    IMPORT_ALL_OF,
    NEVER_LOADED,
    NOT_IN_THE_BASE_INSTALL,
    in_fresh_interpreter,
)


def test_a_training_script_needs_the_base_install_alone(repository: Path) -> None:
    code = f"""
{IMPORT_ALL_OF}
{HIDE}
hide({NOT_IN_THE_BASE_INSTALL!r})
import_all_of("robot_data_platform.lineage")
print("imported")
"""
    assert in_fresh_interpreter(code, repository) == "imported"


def test_a_training_script_loads_nothing_of_the_platform(repository: Path) -> None:
    code = f"""
import sys
{IMPORT_ALL_OF}
import_all_of("robot_data_platform.lineage")
print([name for name in {(*NEVER_LOADED, "pydantic", "yaml")!r} if name in sys.modules])
"""
    assert in_fresh_interpreter(code, repository) == "[]"
