"""The RLDS format behind the ``Format`` protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import EpisodeRef, Recording
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.protocol import EpisodeListing
from robot_data_platform.formats.rlds.cameras import camera_keys, read_cameras
from robot_data_platform.formats.rlds.features import (
    FEATURES_FILE,
    STEPS,
    Feature,
    guessed_features,
    read_features,
)
from robot_data_platform.formats.rlds.labels import read_labels
from robot_data_platform.formats.rlds.messages import Example, open_example
from robot_data_platform.formats.rlds.shard_findings import folder_findings, shard_damage
from robot_data_platform.formats.rlds.shards import DatasetFolder, dataset_folders, split_of
from robot_data_platform.formats.rlds.signals import (
    read_matrices,
    signal_keys,
    signals_of,
    why_no_signal,
)
from robot_data_platform.formats.row_rate import times_at_rate
from robot_data_platform.formats.statements import apply_profile
from robot_data_platform.formats.timing import check_rows


class RldsFormat:
    """Tfrecord files of ``tf.train.Example`` records, one episode each."""

    name = "rlds"
    marker = "*.tfrecord-00000-of-00001"

    def sniff(self, source: Source) -> bool:
        """Return whether a file has a tfrecord's name."""
        return bool(dataset_folders(source.list_files()))

    def list_episodes(self, source: Source, profile: Profile) -> EpisodeListing:
        """Return one episode per record, shard by shard; only the records' headers are read."""
        folders = dataset_folders(source.list_files())
        return EpisodeListing(
            episodes=tuple(ref for folder in folders for ref in _refs(source, folder)),
            findings=tuple(f for folder in folders for f in folder_findings(source, folder)),
        )

    def read(self, source: Source, ref: EpisodeRef, profile: Profile) -> Recording:
        """Return one record's episode; step k lies at ``k / control_hz``.

        Raises
        ------
        DataFaultError
            ``unreadable-file``, ``missing-file``, ``no-rows``; ``row-mismatch``: features of
            different lengths; ``shape-mismatch``.
        InvalidInputError
            ``invalid-profile``: the profile states no ``control_hz``.
        """
        relative, _, number = ref.source_key.rpartition(":")
        with open_example(source, relative, int(number)) as example:
            return apply_profile(_read(source, ref, relative, example, profile), profile)


def _refs(source: Source, folder: DatasetFolder) -> Iterator[EpisodeRef]:
    for shard in folder.shards:
        _, num_records = shard_damage(source, shard)
        for number in range(num_records):
            yield EpisodeRef(
                source_key=f"{shard}:{number}",
                files=tuple(sorted([shard, *folder.metadata])),
            )


def _read(
    source: Source, ref: EpisodeRef, relative: str, example: Example, profile: Profile
) -> Recording:
    subject = f"Episode {ref.source_key!r} of {source.label!r}"
    features, guessed = _features(source, ref, example, subject)
    matrices = read_matrices(example, signal_keys(example, features), subject)
    if not matrices:
        raise _no_steps(example, subject)
    num_rows = len(next(iter(matrices.values())))
    single = check_rows(num_rows, subject)
    rows = times_at_rate(num_rows, profile, None, "a time or a rate", subject)
    keys = camera_keys(features)
    cameras, unseen = read_cameras(source, relative, example, keys, profile, rows.timestamp_ns)
    labels = read_labels(example, features, rows.timestamp_ns, subject)
    used = {*matrices, *keys, *labels.keys}
    return Recording(
        ref=ref,
        signals=signals_of(matrices, rows.timestamp_ns, subject),
        cameras=cameras,
        task=labels.task,
        robot=None,
        instructions=labels.instructions,
        findings=(*single, *guessed, *unseen, *_left_out(example, features, used, subject)),
        metadata={**labels.metadata, "clock": rows.clock, "split": split_of(relative)},
    )


def _features(
    source: Source, ref: EpisodeRef, example: Example, subject: str
) -> tuple[Mapping[str, Feature], tuple[Finding, ...]]:
    stated = [path for path in ref.files if PurePosixPath(path).name == FEATURES_FILE]
    features = read_features(source, stated[0]) if stated else None
    if features is not None:
        return features, ()
    finding = Finding(
        rule="structure_is_stated",
        severity=Severity.WARN,
        message=f"{subject}: no {FEATURES_FILE} says what its features are; that was taken from "
        "their names and content.",
        where=FEATURES_FILE,
    )
    return guessed_features(example), (finding,)


def _left_out(
    example: Example, features: Mapping[str, Feature], used: set[str], subject: str
) -> Iterator[Finding]:
    # Of a sequence within each step there are `key/ragged_flat_values` and the like.
    stored = {key for key in example.features if key.rpartition("/")[0] not in features}
    for key in sorted((stored | features.keys()) - used):
        yield Finding(
            rule="columns_are_read",
            severity=Severity.INFO,
            message=f"{subject}: feature {key!r} was left out: "
            f"{why_no_signal(example, key, features.get(key))}.",
            where=key,
        )


def _no_steps(example: Example, subject: str) -> DataFaultError:
    return DataFaultError(
        f"{subject} has no rows: got features {sorted(example.features)[:8]}, expected numbers by "
        f"step below {STEPS!r}. Drop the episode, or name another format.",
        kind=ErrorKind.NO_ROWS,
    )
