"""A Ray cluster to work on: one that runs elsewhere, by its address, or one on this machine.

The token of a cluster comes from ``RAY_AUTH_TOKEN`` or ``RAY_AUTH_TOKEN_PATH``, which Ray reads.
Credentials of the store are never sent through the cluster, where its dashboard would show them:
each node has its own. Only settings that are no secret travel.
"""

from __future__ import annotations

import logging
import os
import warnings

from robot_data_platform.errors import ErrorKind, StorageError

SENT_VARIABLES = (
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_ALLOW_HTTP",
)
"""Settings of this process that the workers of another cluster get: none of them is a secret."""

MAX_ATTEMPTS = 2
"""A busy head gives up on a client that it takes over 30 s to start a process for."""

_LOG = logging.getLogger(__name__)


def connect(address: str | None) -> None:
    """Connect this process to a cluster, once.

    Parameters
    ----------
    address : str, optional
        ``host:6379`` from a node of the cluster, ``ray://host:10001`` from anywhere else, or
        ``auto``; None = start a cluster on this machine, which ends with this process.

    Raises
    ------
    StorageError
        ``cluster-unreachable``: nothing answers there, it takes another token, or it has another
        version of Ray or Python.
    """
    import ray

    if ray.is_initialized():
        return
    for attempt in range(1, MAX_ATTEMPTS + 1):
        try:
            _init(address)
        except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as err:
            if attempt == MAX_ATTEMPTS or not isinstance(err, ConnectionAbortedError):
                raise _unreachable(address, err) from err
            _LOG.warning("connecting to Ray: attempt %d of %d failed", attempt, MAX_ATTEMPTS)
        else:
            return


def _init(address: str | None) -> None:
    import ray

    if address is None:
        with warnings.catch_warnings():
            # Ray forks only to start other programs, which share no Lance handle.
            warnings.filterwarnings("ignore", "lance is not fork-safe", UserWarning)
            # Without an address Ray would join whatever cluster was started on this machine last.
            ray.init(address="local", include_dashboard=False, log_to_driver=False)
        return
    variables = {name: os.environ[name] for name in SENT_VARIABLES if name in os.environ}
    ray.init(address=address, log_to_driver=False, runtime_env={"env_vars": variables})


def num_cpus(address: str | None) -> int:
    """Return the cores of the cluster, connecting to it first; at least 1.

    Raises
    ------
    StorageError
        As `connect`.
    """
    import ray

    connect(address)
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def task_memory_bytes(wanted: int) -> int | None:
    """Return what a task may ask for: ``wanted``, or None where no node has as much."""
    import ray

    largest = max(
        (node["Resources"].get("memory", 0.0) for node in ray.nodes() if node["Alive"]), default=0.0
    )
    return wanted if largest >= wanted else None


def _unreachable(address: str | None, err: Exception) -> StorageError:
    place = "started on this machine" if address is None else f"at {address}"
    return StorageError(
        f"The Ray cluster {place} can't be used: {type(err).__name__}: {err}. Check that it runs "
        "this version of Ray and Python, that RAY_AUTH_MODE and RAY_AUTH_TOKEN are those of its "
        "head, and that the address is ray://HOST:10001 from outside of its nodes.",
        kind=ErrorKind.CLUSTER_UNREACHABLE,
        address=address,
    )
