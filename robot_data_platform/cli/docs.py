"""`rdp docs`: Data Docs of the Great Expectations suites, listed and shown to a browser."""

from __future__ import annotations

import click

from robot_data_platform.cli.options import lake_option, reading
from robot_data_platform.cli.output import print_json, print_table


@click.group()
def docs() -> None:
    """Pages that tell how uploads meet their Great Expectations suites."""


@docs.command("list")
@click.argument("dataset")
@reading
def list_docs(dataset: str, lake: str, as_json: bool) -> None:
    """List the pages of what DATASET publishes, with their paths or s3:// URIs."""
    from robot_data_platform.compute.data_docs import list_pages
    from robot_data_platform.storage.lake import Lake

    facts = list_pages(Lake(lake), dataset)
    if as_json:
        print_json(facts)
        return
    rows = [[each["upload"], each["suite"], each["uri"]] for each in facts]
    print_table(f"Data Docs of {dataset}", ["upload", "suite", "page"], rows)


@docs.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option("--port", type=int, default=3001, show_default=True, help="Port to listen at.")
@lake_option
def serve(host: str, port: int, lake: str) -> None:
    """Show the pages of every dataset over HTTP until stopped; nothing else of the lake.

    With RDP_PAGES_URL=http://HOST:PORT, Dagster's asset checks link here.
    """
    from robot_data_platform.cli.docs_server import docs_server
    from robot_data_platform.storage.lake import Lake

    try:
        server = docs_server(Lake(lake), host, port)
    except OSError as err:
        raise click.ClickException(
            f"{host}:{port} can't be listened at ({err.strerror}): choose another --port."
        ) from err
    click.echo(f"Pages of {lake} at http://{host}:{server.server_port}/DATASET/_data_docs/…")
    with server:
        server.serve_forever()
