"""Code blocks, headings and links of the Markdown pages, and running a page from top to bottom.

A block in ``python``, ``bash`` or ``console`` runs, in order, in one process per page; Python
blocks share their names. In ``console``, lines after ``$`` are commands, and what the page shows
below a command must be what it prints, where ``...`` stands for anything. A block that can't run
says why in a comment right before it: ``<!-- not run: needs a cluster -->``.

``python -m robot_data_platform_tests.documents PAGE`` runs one page in the current folder.
"""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

RUN_LANGUAGES = ("bash", "console", "python")

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)$")
_REASON = re.compile(r"^\s*<!--\s*not run:\s*(?P<reason>.*?)\s*-->\s*$")
_LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^)\s]+)[^)]*\)")
_INLINE_CODE = re.compile(r"`[^`]*`")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block of a page."""

    page: Path
    line: int
    """Where its first line of code stands, 1-based."""
    language: str
    source: str
    reason_not_run: str | None

    @property
    def runs(self) -> bool:
        """Whether it is to be run."""
        return self.language in RUN_LANGUAGES and self.reason_not_run is None

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks_of(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page in their order."""
    lines = page.read_text().splitlines()
    position = 0
    while position < len(lines):
        opening = _FENCE.match(lines[position])
        if opening is None:
            position += 1
            continue
        stop = _closing(lines, position, opening["fence"])
        code = [line.removeprefix(opening["indent"]) for line in lines[position + 1 : stop]]
        yield Block(
            page=page,
            line=position + 2,
            language=opening["info"].strip().partition(" ")[0],
            source="\n".join(code) + "\n",
            reason_not_run=_reason_before(lines[:position]),
        )
        position = stop + 1


def prose_of(page: Path) -> str:
    """Return a page with its blocks blanked."""
    lines = page.read_text().splitlines()
    for block in blocks_of(page):
        start, length = block.line - 2, block.source.count("\n") + 2
        lines[start : start + length] = [""] * length
    return "\n".join(lines)


def links_of(page: Path) -> list[str]:
    """Return the targets of a page's links that lead into the repository."""
    targets = [match["target"] for match in _LINK.finditer(_INLINE_CODE.sub("", prose_of(page)))]
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def anchors_of(page: Path) -> set[str]:
    """Return the anchors that a page's headings make, as the usual renderers derive them."""
    headings = re.findall(r"^#+ +(.*?)\s*#*$", prose_of(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}


def run_page(page: Path) -> int:
    """Run a page's blocks in order in the current folder; return how many ran."""
    names: dict[str, object] = {"__name__": "__main__"}
    blocks = [block for block in blocks_of(page) if block.runs]
    for block in blocks:
        print(f"-- {block}", flush=True)  # noqa: T201
        if block.language == "python":
            # The empty lines make a traceback name the line of the page.
            padded = "\n" * (block.line - 1) + block.source
            exec(compile(padded, str(page), "exec"), names)
        elif block.language == "bash":
            _shell(block.source)
        else:
            _run_console(block)
    return len(blocks)


def _closing(lines: list[str], opening: int, fence: str) -> int:
    for position in range(opening + 1, len(lines)):
        line = lines[position].strip()
        if set(line) == {fence[0]} and len(line) >= len(fence):
            return position
    return len(lines)


def _reason_before(lines: list[str]) -> str | None:
    last = next((line for line in reversed(lines) if line.strip()), "")
    match = _REASON.match(last)
    return match["reason"] if match else None


def _shell(command: str) -> str:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    print(done.stdout, flush=True)  # noqa: T201
    if done.returncode != 0:
        sys.exit(f"exit code {done.returncode} of: {command}")
    return done.stdout


def _run_console(block: Block) -> None:
    for command, shown in _commands_of(block.source):
        printed = _shell(command)
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        if shown and not doctest.OutputChecker().check_output(shown, printed, flags):
            sys.exit(f"{block}: {command!r} prints other than the page shows:\n{shown}")


def _commands_of(source: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^\$ ", source, flags=re.MULTILINE)[1:]:
        command, *rest = re.split(r"(?<!\\)\n", part, maxsplit=1)
        yield command, "".join(rest)


if __name__ == "__main__":
    run_page(Path(sys.argv[1]))
