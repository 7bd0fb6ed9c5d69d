"""The S3 server and the recording proxy that other tests stand on."""

from __future__ import annotations

import lance
import pyarrow as pa
import pytest
from botocore.exceptions import ClientError

from robot_data_platform_tests.counting_proxy import CountingProxy, Request
from robot_data_platform_tests.servers import S3Server


@pytest.fixture(scope="module")
def bucket(s3_server: S3Server) -> str:
    """A bucket of this module's own."""
    s3_server.make_bucket("servers")
    return "servers"


def through(proxy: CountingProxy, server: S3Server) -> S3Server:
    """Return the same server reached through the proxy."""
    return S3Server(
        endpoint_url=proxy.endpoint_url,
        access_key=server.access_key,
        secret_key=server.secret_key,
    )


def test_an_object_comes_back_as_it_was_put(s3_server: S3Server, bucket: str) -> None:
    payload = bytes(range(256)) * 4096
    s3_server.client.put_object(Bucket=bucket, Key="a/b", Body=payload)
    assert s3_server.client.get_object(Bucket=bucket, Key="a/b")["Body"].read() == payload


def test_a_second_conditional_put_of_one_key_is_refused(s3_server: S3Server, bucket: str) -> None:
    s3_server.client.put_object(Bucket=bucket, Key="once", Body=b"first", IfNoneMatch="*")
    with pytest.raises(ClientError, match="PreconditionFailed"):
        s3_server.client.put_object(Bucket=bucket, Key="once", Body=b"second", IfNoneMatch="*")
    assert s3_server.client.get_object(Bucket=bucket, Key="once")["Body"].read() == b"first"


def test_a_wrong_secret_is_refused(s3_server: S3Server, bucket: str) -> None:
    stranger = S3Server(
        endpoint_url=s3_server.endpoint_url, access_key=s3_server.access_key, secret_key="wrong"
    )
    with pytest.raises(ClientError, match="SignatureDoesNotMatch"):
        stranger.client.list_objects_v2(Bucket=bucket)


def test_lance_writes_and_reads_a_table_with_storage_options(
    s3_server: S3Server, bucket: str
) -> None:
    table = pa.table({"row": pa.array(range(1000), pa.int64())})
    uri = f"s3://{bucket}/options.lance"
    lance.write_dataset(table, uri, storage_options=s3_server.storage_options)
    assert lance.dataset(uri, storage_options=s3_server.storage_options).to_table().equals(table)


def test_lance_takes_the_environment_alone(s3_environment: S3Server, bucket: str) -> None:
    table = pa.table({"row": pa.array([1, 2, 3], pa.int64())})
    uri = f"s3://{bucket}/environment.lance"
    lance.write_dataset(table, uri)
    assert lance.dataset(uri).count_rows() == 3


def test_the_proxy_writes_down_method_path_range_and_length(
    s3_server: S3Server, s3_proxy: CountingProxy, bucket: str
) -> None:
    client = through(s3_proxy, s3_server).client
    client.put_object(Bucket=bucket, Key="ranged", Body=b"0123456789")
    s3_proxy.clear()
    body = client.get_object(Bucket=bucket, Key="ranged", Range="bytes=2-5")["Body"].read()
    assert body == b"2345"
    assert s3_proxy.requests == [
        Request(
            method="GET",
            path=f"/{bucket}/ranged",
            query="",
            byte_range="bytes=2-5",
            status=206,
            num_bytes=4,
        )
    ]


def test_the_proxy_passes_a_head_request_with_the_object_s_length(
    s3_server: S3Server, s3_proxy: CountingProxy, bucket: str
) -> None:
    s3_server.client.put_object(Bucket=bucket, Key="headed", Body=bytes(12345))
    head = through(s3_proxy, s3_server).client.head_object(Bucket=bucket, Key="headed")
    assert head["ContentLength"] == 12345


def test_lance_reads_through_the_proxy(
    s3_server: S3Server, s3_proxy: CountingProxy, bucket: str
) -> None:
    options = through(s3_proxy, s3_server).storage_options
    uri = f"s3://{bucket}/proxied.lance"
    table = pa.table({"row": pa.array(range(100), pa.int64())})
    lance.write_dataset(table, uri, storage_options=options)
    s3_proxy.clear()
    assert lance.dataset(uri, storage_options=options).to_table().equals(table)
    assert any("/proxied.lance/data/" in request.path for request in s3_proxy.requests)
