"""Rules on what an episode says it is: its task, its instructions, its length among others."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.quality.rules.values import Floats
from robot_data_platform.quality.thresholds import Thresholds

_PLACEHOLDERS = """
default describe description dummy example here ipsum lorem na nan none null placeholder string task
tbd test testing todo unknown untitled your
"""
PLACEHOLDERS = frozenset(_PLACEHOLDERS.split())
"""Words that tools put where a task is to be written."""
_STEM = 4
"""Letters by which two words count as one: `fold` and `folding`."""
_SIGMA_PER_MEDIAN = 1.4826
"""Standard deviation of normal noise over the median of its absolute values."""


def task_is_stated(task: str | None, instructions: Sequence[str]) -> list[Finding]:
    """Inform of an episode that says nowhere what is done in it, or in a placeholder's words."""
    stated = [text for text in (task, *instructions) if text and text.strip()]
    if any(not _is_placeholder(text) for text in stated):
        return []
    said = f"the placeholder {stated[0]!r}" if stated else "no task and no instruction"
    return [
        Finding(
            rule="task_is_stated",
            severity=Severity.INFO,
            message=f"The episode has {said}: a policy that is told what to do can't learn from "
            "it. State `task` in the profile.",
            where="task",
        )
    ]


def instructions_fit_task(task: str | None, instructions: Sequence[str]) -> list[Finding]:
    """Inform of instructions that share no word with the task: one of them may be left over."""
    if not task or _is_placeholder(task) or not _stems(task):
        return []
    strange = [text for text in instructions if _stems(text) and not _stems(text) & _stems(task)]
    if not strange:
        return []
    return [
        Finding(
            rule="instructions_fit_task",
            severity=Severity.INFO,
            message=f"{len(strange)} of {len(instructions)} instructions share no word with the "
            f"task {task!r}, such as {strange[0]!r}: one of them may be left over from another "
            "episode.",
            where="language_instruction",
            value=len(strange),
            threshold=0,
            unit="instructions",
        )
    ]


def _is_placeholder(text: str) -> bool:
    return all(word in PLACEHOLDERS for word in _words(text))


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]{2,}", text.lower())


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in _words(text) if len(word) >= _STEM}


def length_is_usual(length_s: float, others_s: Floats, limits: Thresholds) -> list[Finding]:
    """Warn of an episode far shorter or longer than the others of its task.

    Parameters
    ----------
    length_s : float
        Its length.
    others_s : ndarray of float64, shape (n,)
        Lengths of the other episodes of the same task in the dataset.
    """
    if len(others_s) < limits.length_min_episodes.value or length_s <= 0:
        return []
    logs = np.log(np.maximum(others_s, 1e-9))
    usual = float(np.median(logs))
    sigma = _SIGMA_PER_MEDIAN * float(np.median(np.abs(logs - usual)))
    least = max(float(np.log(limits.length_ratio.value)), limits.length_sigma.value * sigma)
    away = float(np.log(length_s)) - usual
    if abs(away) <= least:
        return []
    return [
        Finding(
            rule="length_is_usual",
            severity=Severity.WARN,
            message=f"The episode lasts {length_s:.1f} s where {np.exp(usual):.1f} s is usual of "
            f"{len(others_s)} others with its task: {np.exp(abs(away)):.1f} times "
            f"{'longer' if away > 0 else 'shorter'}, expected less than {np.exp(least):.1f} times.",
            value=float(np.exp(abs(away))),
            threshold=float(np.exp(least)),
            unit=limits.length_ratio.unit,
        )
    ]
