"""Make the buckets of a new store; where they are there already, nothing changes.

The landing bucket keeps every version of every object, and for the first days nobody can remove
one: a raw upload is the only copy of robot time.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

LANDING = "rdp-landing"
OTHERS = ("rdp-lake", "rdp-logs")


def make_buckets(client: S3Client, lock_days: int) -> None:
    """Make what is missing, and set for how many days a raw file is locked; 0 = not at all."""
    there = {bucket["Name"] for bucket in client.list_buckets()["Buckets"]}
    for bucket in {LANDING, *OTHERS} - there:
        client.create_bucket(Bucket=bucket, ObjectLockEnabledForBucket=bucket == LANDING)
    client.put_bucket_versioning(Bucket=LANDING, VersioningConfiguration={"Status": "Enabled"})
    if lock_days:
        client.put_object_lock_configuration(
            Bucket=LANDING,
            ObjectLockConfiguration={
                "ObjectLockEnabled": "Enabled",
                "Rule": {"DefaultRetention": {"Mode": "GOVERNANCE", "Days": lock_days}},
            },
        )


def main() -> None:
    """Make the buckets of the store that the ``AWS_*`` variables name."""
    import boto3
    from botocore.config import Config

    client = boto3.client("s3", config=Config(s3={"addressing_style": "path"}))
    make_buckets(client, int(os.environ["RDP_LANDING_LOCK_DAYS"]))


if __name__ == "__main__":
    main()
