"""The documents: links lead somewhere, and every code block runs or says why it doesn't."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from robot_data_platform_tests.conftest import REPOSITORY
from robot_data_platform_tests.documents import anchors_of, blocks_of, links_of

NAMES = ("*.md", "docs/**/*.md", "infra/**/*.md", "robot_data_platform_tests/README.md")
PAGES = sorted(page for name in NAMES for page in REPOSITORY.glob(name))

NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__")
"""Environments, caches, the developer's own lake."""

NOT_A_READERS = ("AWS_", "DAGSTER_", "MAKE", "MFLAGS", "RDP_")
"""Variables of this test run that a reader's shell doesn't have."""

each_page = pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: page.relative_to(REPOSITORY).as_posix()
)


def run_in(folder: Path, page: Path) -> subprocess.CompletedProcess[str]:
    """Run a page as a reader would who stands in ``folder`` with the environment activated."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(NOT_A_READERS)}
    environment = kept | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(REPOSITORY),
        "RDP_VENV": sys.prefix,
    }
    return subprocess.run(
        [sys.executable, "-m", "robot_data_platform_tests.documents", str(page)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@each_page
@pytest.mark.runs_blocks
@pytest.mark.timeout(900)
def test_every_block_of_the_page_runs(page: Path, tmp_path: Path) -> None:
    if not any(block.runs for block in blocks_of(page)):
        return
    copy = tmp_path / "repository"
    shutil.copytree(REPOSITORY, copy, ignore=NOT_COPIED)
    done = run_in(copy, page)
    assert done.returncode == 0, done.stdout + done.stderr


@each_page
def test_every_block_names_a_language_that_says_whether_it_runs(page: Path) -> None:
    aliases = {"", "py", "python3", "pycon", "sh", "shell", "zsh"}
    assert [str(block) for block in blocks_of(page) if block.language in aliases] == []


@each_page
def test_a_block_that_does_not_run_says_why(page: Path) -> None:
    assert [str(block) for block in blocks_of(page) if block.reason_not_run == ""] == []


@each_page
def test_links_lead_to_files_and_headings(page: Path) -> None:
    broken = []
    for link in links_of(page):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors_of(target)):
            broken.append(link)
    assert broken == []


SAMPLE = """
# A page, with `code`

```python
import pathlib
values = [1, 2]
```

Some text with a [link](other.md#a-page-with-code) and [another](https://example.org).

```bash
echo "from the shell" > written.txt
```

1. In a list:

   ```python
   values.append(pathlib.Path("written.txt").read_text().strip())
   assert values == [1, 2, "from the shell"]
   ```

<!-- not run: there is no such machine -->

```bash
ssh robot.invalid
```

```console
$ cat written.txt && \\
  echo 12345
from the shell
1...5
$ true
```

```yaml
not: [a program](nor-a-link)
```
"""


def sample_page(folder: Path, text: str = SAMPLE) -> Path:
    """Write a page to run and return its path."""
    page = folder / "page.md"
    page.write_text(text)
    return page


def test_blocks_run_in_order_and_share_names_and_files(tmp_path: Path) -> None:
    done = run_in(tmp_path, sample_page(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr


def test_blocks_are_told_apart_by_language_and_reason(tmp_path: Path) -> None:
    found = [(block.language, block.runs) for block in blocks_of(sample_page(tmp_path))]
    assert found == [
        ("python", True),
        ("bash", True),
        ("python", True),
        ("bash", False),
        ("console", True),
        ("yaml", False),
    ]


def test_a_reason_belongs_to_the_next_block_alone(tmp_path: Path) -> None:
    reasons = [block.reason_not_run for block in blocks_of(sample_page(tmp_path))]
    assert reasons == [None, None, None, "there is no such machine", None, None]


def test_links_are_found_outside_of_code(tmp_path: Path) -> None:
    page = sample_page(tmp_path)
    assert links_of(page) == ["other.md#a-page-with-code"]
    assert anchors_of(page) == {"a-page-with-code"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\n```python\nvalue = 1\nassert value == 2\n```\n", 'page.md", line 4'),
        ("```bash\nfalse\ntrue\n```\n", "exit code 1 of: false"),
        ("```bash\nfalse | true\n```\n", "exit code 1"),
        ("```console\n$ echo one\ntwo\n```\n", "prints other than the page shows"),
    ],
    ids=["python", "bash", "pipe", "console"],
)
def test_a_block_that_fails_is_told(text: str, told: str, tmp_path: Path) -> None:
    done = run_in(tmp_path, sample_page(tmp_path, text))
    assert done.returncode != 0
    assert told in done.stderr
