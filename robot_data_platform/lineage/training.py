"""What a training script tells of itself while it runs: metrics, and where its artifact is."""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import SupportsFloat
from urllib.parse import urlsplit

from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.storage.catalog import versions_of
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.objects import object_store
from robot_data_platform.storage.snapshot import ReleaseRow
from robot_data_platform.storage.uri import join

ARTIFACTS = "_artifacts"
"""Folder of the lake that saved artifacts go to, by model and run."""

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(slots=True, kw_only=True)
class TrainingRun:
    """One training of one model on one release."""

    lake: Lake
    release: ReleaseRow
    """The release that the model is trained on."""
    splits: tuple[str, ...]
    """The splits of it that the model is trained on."""
    model: str
    run_id: str
    """Id of this training."""
    parameters_json: str
    code_commit: str | None
    """Commit of the training code; None = not known."""
    started_ns: int
    """UTC time, ns since 1970."""
    metrics: dict[str, float] = field(default_factory=dict)
    artifact_uri: str | None = None
    artifact_sha256: str | None = None

    @property
    def versions(self) -> dict[str, int]:
        """The version of each table that the release pins."""
        return versions_of(self.release["tables"])

    def log_metrics(self, **metrics: SupportsFloat) -> None:
        """Keep numbers for the record; a later call with the same name replaces its number."""
        self.metrics |= {name: float(value) for name, value in metrics.items()}

    def metrics_as_json(self) -> dict[str, float | str]:
        """Return the metrics; one that is not finite as text (``nan``), which JSON can hold."""
        return {
            name: value if math.isfinite(value) else str(value)
            for name, value in self.metrics.items()
        }

    def save_artifact(self, path: str | Path) -> str:
        """Copy a file into the lake as the model's artifact, and return where it is.

        Raises
        ------
        InvalidInputError
            ``invalid-argument``: there is no such file; ``not-installed``: the lake is on S3 and
            boto3 is not installed.
        """
        file = Path(path)
        if not file.is_file():
            raise self._invalid(
                f"file {str(path)!r} is not there",
                "Give one file; pack a folder into an archive, or store it yourself and call "
                "set_artifact().",
            )
        key = f"{ARTIFACTS}/{self.model}/{self.run_id}/{file.name}"
        with file.open("rb") as opened:
            sha256 = hashlib.file_digest(opened, "sha256").hexdigest()
        self._copy(file, key)
        return self.set_artifact(join(self.lake.root, key), sha256)

    def set_artifact(self, uri: str, sha256: str) -> str:
        """Name an artifact that is stored elsewhere, and return where.

        Parameters
        ----------
        uri : str
            Where it is, without credentials.
        sha256 : str
            Hash of its bytes, 64 lower-case hex digits.

        Raises
        ------
        InvalidInputError
            ``invalid-argument``: another form of hash; ``invalid-uri``: a location that carries a
            password or a signature.
        """
        if not _SHA256.fullmatch(sha256):
            raise self._invalid(f"sha256 is {sha256!r}", "Give 64 lower-case hex digits.")
        parts = urlsplit(uri)
        if parts.password or parts.query:
            raise self._invalid(
                f"location on {parts.hostname!r} carries a password or a query",
                "Give it without; credentials don't belong in a record.",
                ErrorKind.INVALID_URI,
            )
        self.artifact_uri, self.artifact_sha256 = uri, sha256
        return uri

    def _copy(self, file: Path, key: str) -> None:
        try:
            object_store(self.lake.root).put_file(file, key)
        except ModuleNotFoundError as err:
            raise self._invalid(
                f"file {file.name!r} can't be copied to S3 without {err.name!r}",
                "Install it, or store the file yourself and call set_artifact().",
                ErrorKind.NOT_INSTALLED,
            ) from err

    def _invalid(
        self, what: str, advice: str, kind: ErrorKind = ErrorKind.INVALID_ARGUMENT
    ) -> InvalidInputError:
        return InvalidInputError(
            f"Model {self.model!r}: the artifact's {what}. {advice}", kind=kind, model=self.model
        )
