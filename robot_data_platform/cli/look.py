"""`rdp datasets`, `rdp episodes`, `rdp findings` and `rdp frame`: look at the lake."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from robot_data_platform.cli.options import lake_option, reading
from robot_data_platform.cli.output import print_json, print_table

if TYPE_CHECKING:
    from robot_data_platform.core.recording import AnyPicture


@click.command()
@reading
def datasets(lake: str, as_json: bool) -> None:
    """List the datasets of the lake."""
    from robot_data_platform.compute.listing import dataset_facts
    from robot_data_platform.storage.lake import Lake

    target = Lake(lake)
    # A dataset whose first upload is still on its way has nothing to show.
    names = [name for name in target.datasets() if target.find(name, "episodes") is not None]
    facts = [dataset_facts(target, name) for name in names]
    if as_json:
        print_json(facts)
        return
    print_table(
        f"Datasets of {target.root}",
        ["dataset", "episodes", "rows", "hours", "cameras", "flagged", "quarantined", "releases"],
        [
            [
                f["dataset"],
                f["episodes"],
                f["rows"],
                f"{f['seconds'] / 3600:.3f}",
                ", ".join(f["cameras"]),
                f["flagged"],
                f["quarantined"],
                ", ".join(f["releases"]),
            ]
            for f in facts
        ],
    )


@click.command()
@click.argument("dataset")
@click.option("--status", type=click.Choice(["ok", "flagged", "quarantined"]), help="Only these.")
@click.option("--task", help="Only of this task text.")
@click.option("--robot", help="Only of this robot.")
@click.option("--upload", help="Only of this upload.")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first so many.")
@reading
def episodes(
    dataset: str,
    status: str | None,
    task: str | None,
    robot: str | None,
    upload: str | None,
    limit: int | None,
    lake: str,
    as_json: bool,
) -> None:
    """List the published episodes of DATASET."""
    from robot_data_platform.compute.listing import list_episodes
    from robot_data_platform.storage.lake import Lake

    facts = list_episodes(
        Lake(lake), dataset, status=status, task=task, robot=robot, upload=upload, limit=limit
    )
    if as_json:
        print_json(facts)
        return
    print_table(
        f"Episodes of {dataset}",
        ["index", "source", "task", "rows", "s", "cameras", "status", "reason"],
        [
            [
                f["episode_index"],
                f["source"],
                f["task"],
                f["rows"],
                f"{f['seconds']:.2f}",
                " ".join(f"{n}:{c['frames']}({c['profile']})" for n, c in f["cameras"].items()),
                f["status"],
                f["reason"],
            ]
            for f in facts
        ],
    )


@click.command()
@click.argument("dataset")
@click.option("--episode", help="Only of this one, by id or index.")
@click.option("--rule", help="Only of this rule.")
@click.option("--severity", type=click.Choice(["info", "warn", "fail"]), help="Only of this one.")
@reading
def findings(
    dataset: str,
    episode: str | None,
    rule: str | None,
    severity: str | None,
    lake: str,
    as_json: bool,
) -> None:
    """List what the checks found in DATASET."""
    from robot_data_platform.compute.listed_findings import list_findings
    from robot_data_platform.compute.listing import find_episode
    from robot_data_platform.storage.lake import Lake

    target = Lake(lake)
    index = find_episode(target, dataset, episode)["episode_index"] if episode else None
    facts = list_findings(target, dataset, episode_index=index, rule=rule, severity=severity)
    if as_json:
        print_json(facts)
        return
    print_table(
        f"Findings of {dataset}",
        ["episode", "severity", "rule", "where", "message"],
        [[f["episode_index"], f["severity"], f["rule"], f["where"], f["message"]] for f in facts],
    )


@click.command()
@click.argument("dataset")
@click.argument("episode")
@click.option("--row", type=click.IntRange(min=0), required=True, help="Control step, 0-based.")
@click.option("--camera", required=True, help="Camera name.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    required=True,
    help="PNG file to write.",
)
@click.option("--overlay", is_flag=True, help="Draw in the robot as the calibration projects it.")
@lake_option
def frame(
    dataset: str, episode: str, row: int, camera: str, output: Path, overlay: bool, lake: str
) -> None:
    """Write the picture that a row of EPISODE (id or index) of DATASET points at."""
    from robot_data_platform.compute.listing import find_episode
    from robot_data_platform.reader import read_frame
    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.video.picture import encode_png

    target = Lake(lake)
    facts = find_episode(target, dataset, episode)
    if overlay:
        from robot_data_platform.compute.overlays import overlay_picture

        picture: AnyPicture = overlay_picture(target, dataset, facts["episode_index"], row, camera)
    else:
        picture = read_frame(lake, dataset, facts["episode_id"], row, camera)
    try:
        output.write_bytes(encode_png(picture))
    except OSError as err:
        raise click.FileError(str(output), hint=err.strerror) from err
    height, width = picture.shape[:2]
    click.echo(f"Wrote {output}: {width}x{height}, row {row} of {facts['episode_id']}.")
