"""`rdp metrics`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from robot_data_platform.cli.options import reading
from robot_data_platform.cli.output import print_json
from robot_data_platform.errors import ErrorKind, InvalidInputError

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


@click.command()
@click.option("--serve", "port", type=click.IntRange(0, 65535), help="Answer scrapes at this port.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@reading
def metrics(port: int | None, host: str, lake: str, as_json: bool) -> None:
    """Print the figures of the lake for Prometheus, or serve them until it is interrupted."""
    from prometheus_client import CollectorRegistry, generate_latest

    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.telemetry.metrics import LakeCollector

    registry = CollectorRegistry(auto_describe=False)
    registry.register(LakeCollector(Lake(lake)))
    if port is not None:
        _serve(registry, host, port)
    elif as_json:
        samples = [sample for metric in registry.collect() for sample in metric.samples]
        print_json([{"name": s.name, "labels": s.labels, "value": s.value} for s in samples])
    else:
        click.echo(generate_latest(registry).decode(), nl=False)


def _serve(registry: CollectorRegistry, host: str, port: int) -> None:
    from prometheus_client import start_http_server

    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as err:
        raise InvalidInputError(
            f"Address {host}:{port} can't be listened at: {err.strerror}. Choose another --serve.",
            kind=ErrorKind.INVALID_ARGUMENT,
            port=port,
        ) from err
    click.echo(f"Serving metrics at http://{host}:{server.server_port}/metrics", err=True)
    try:
        thread.join()
    finally:
        server.shutdown()
