"""Where the lake, the landing folder and the workers are."""

from __future__ import annotations

import logging
import os
import time
from typing import cast, get_args
from urllib.parse import urlsplit

import dagster as dg
from pydantic import Field

from robot_data_platform import __version__
from robot_data_platform.compute.episodes_map import Backend, Fanout
from robot_data_platform.compute.ingestion import Ingestion, Workplace
from robot_data_platform.compute.registration import find_ingestion
from robot_data_platform.core.run import RunInfo
from robot_data_platform.defs.run_subject import subject_of
from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.storage.uri import normalise_root
from robot_data_platform.telemetry.log_facts import adopt_facts
from robot_data_platform.telemetry.logs import configure_logging
from robot_data_platform.video.settings import GopProfile, GopSettings

LOG = logging.getLogger(__name__)

DEFAULT_LAKE = ".rdp/lake"
DEFAULT_LANDING = ".rdp/landing"


class Platform(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Locations and workers; empty fields take their variable of `RDP_*` when they are used."""

    lake: str = Field(default="", description="Local path or s3:// URI of the lake.")
    landing: str = Field(default="", description="Local path or s3:// URI of the landing folder.")
    backend: str = Field(default="", description="local (processes) or ray.")
    num_workers: int = Field(default=0, description="Workers at once; 0 = the machine's cores.")
    ray_address: str = Field(default="", description="Address of an existing Ray cluster.")
    gop_profile: str = Field(default="auto", description="auto, copy, anchored or chain.")
    gop_size: int = Field(default=8, description="Pictures in a GOP that is encoded here.")
    segmenter: str = Field(default="", description="Entry point of a model that segments robots.")
    pages_url: str = Field(default="", description="Where a server shows the lake's pages.")

    def setup_for_execution(self, context: dg.InitResourceContext) -> None:
        """Let every line that this process logs from here on say which run it is of."""
        configure_logging()
        run = context.run
        if run is not None:
            adopt_facts({"run_id": run.run_id, "job": run.job_name, **subject_of(run)})
            LOG.info("The run begins.")

    @property
    def workplace(self) -> Workplace:
        """The lake and the landing folder."""
        return Workplace(
            lake_root=normalise_root(self.lake or os.environ.get("RDP_LAKE", DEFAULT_LAKE)),
            landing_root=normalise_root(
                self.landing or os.environ.get("RDP_LANDING", DEFAULT_LANDING)
            ),
        )

    @property
    def writable(self) -> Workplace:
        """The same, once it is known that no commit is lost there.

        Raises
        ------
        StorageError
            ``store-unsafe``: the store ignores conditional PUT.
        """
        workplace = self.workplace
        workplace.lake.check_writable()
        return workplace

    @property
    def fanout(self) -> Fanout:
        """The workers."""
        return Fanout(
            backend=_checked_backend(self.backend or os.environ.get("RDP_BACKEND", "local")),
            num_workers=self.num_workers or None,
            ray_address=self.ray_address or os.environ.get("RAY_ADDRESS"),
        )

    @property
    def pages(self) -> str:
        """Address that links to the lake's pages start with; empty = there is no server."""
        return _checked_url(self.pages_url or os.environ.get("RDP_PAGES_URL", ""))

    @property
    def segmenter_name(self) -> str | None:
        """Model that segments robots where no masks are recorded; None = none."""
        return self.segmenter or os.environ.get("RDP_SEGMENTER") or None

    @property
    def settings(self) -> GopSettings:
        """How video is cut."""
        return GopSettings(profile=cast("GopProfile", self.gop_profile), gop_size=self.gop_size)

    def ingestion(self, upload: str) -> Ingestion:
        """Return the registered ingestion of an upload."""
        return find_ingestion(self.writable, upload, self.settings)


def _checked_url(url: str) -> str:
    """Return an address for links; it ends up in metadata, so it can't carry a credential."""
    parts = urlsplit(url)
    if not url or (parts.scheme in ("http", "https") and not (parts.query or "@" in parts.netloc)):
        return url.rstrip("/")
    raise InvalidInputError(
        "The address of the lake's pages is not usable: expected http(s)://host/path without user, "
        "password or query. Correct RDP_PAGES_URL or the platform resource's pages_url.",
        kind=ErrorKind.INVALID_URI,
    )


def _checked_backend(name: str) -> Backend:
    if name not in get_args(Backend):
        raise InvalidInputError(
            f"Backend {name!r} is not known: expected one of {sorted(get_args(Backend))}. Correct "
            "RDP_BACKEND or the platform resource's backend.",
            kind=ErrorKind.INVALID_ARGUMENT,
            backend=name,
        )
    return cast("Backend", name)


def run_info(context: dg.AssetExecutionContext) -> RunInfo:
    """Return what commits of this materialization say of themselves."""
    return RunInfo(
        run_id=context.run.run_id,
        asset=context.asset_key.to_user_string(),
        partition=context.partition_key if context.has_partition_key else None,
        code_version=__version__,
        created_ns=time.time_ns(),
    )


def op_run_info(context: dg.OpExecutionContext) -> RunInfo:
    """Return what commits of an op outside the asset graph say of themselves."""
    return RunInfo(
        run_id=context.run.run_id,
        asset=context.op.name,
        code_version=__version__,
        created_ns=time.time_ns(),
    )
