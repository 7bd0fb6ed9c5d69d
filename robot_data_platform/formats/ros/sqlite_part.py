"""SQLite files of rosbag2: messages in the order in which they were recorded.

References
----------
ros2/rosbag2, rosbag2_storage_sqlite3, ``sqlite_storage.cpp`` (tables of the schema versions).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from urllib.parse import quote

from robot_data_platform.core.recording import Int64Array
from robot_data_platform.formats.ros.chunks import MAX_RECORD_BYTES
from robot_data_platform.formats.ros.messages import (
    Channel,
    IsWanted,
    Message,
    ReadLog,
    is_transient_local,
)


def connect(path: Path) -> sqlite3.Connection:
    """Open a file read-only, without lock or journal, refusing values of absurd size.

    Raises
    ------
    sqlite3.Error
        It can't be opened.
    """
    connection = sqlite3.connect(f"file:{quote(str(path))}?immutable=1", uri=True)
    connection.text_factory = partial(str, encoding="utf-8", errors="replace")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_RECORD_BYTES)
    return connection


class SqlitePart:
    """One open SQLite file.

    Parameters
    ----------
    connection : sqlite3.Connection
        The file.
    name : str
        How losses name it.

    Raises
    ------
    sqlite3.Error
        It has no tables of a bag, or is damaged.
    """

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._connection = connection
        self._name = name
        # No views: one may yield rows for ever.
        query = "SELECT name FROM sqlite_master WHERE type = 'table'"
        self._tables = {row[0] for row in self._rows(query)}
        if not {"messages", "topics"} <= self._tables:
            raise sqlite3.DatabaseError(f"tables {sorted(map(str, self._tables))}")
        self._channels = self._read_channels()

    def messages(self, is_wanted: IsWanted, log: ReadLog) -> Iterator[Message]:
        """Yield the messages of wanted channels in the order of their ids; note what is lost."""
        log.ros_distro = log.ros_distro or self._distro()
        wanted = {number for number, channel in self._channels.items() if is_wanted(channel)}
        listed = ", ".join(str(number) for number in sorted(wanted))
        data = f"CASE WHEN topic_id IN ({listed}) THEN data ELSE x'' END"
        last = "the start"
        try:
            for row in self._rows(f"SELECT id, topic_id, timestamp, {data} FROM messages"):
                last = f"message {row[0]}"
                message = self._message(row)
                if message is None:
                    log.lose(f"{self._name!r} {last}", "a row is no message", 0)
                    continue
                log.count(message.channel.topic, message.log_ns)
                if row[1] in wanted:
                    yield message
        except sqlite3.Error as err:
            what = f"the file is cut off or damaged there: {err}"
            log.lose(f"{self._name!r} after {last}", what, 0)

    def fetch(self, places: Int64Array) -> Iterator[bytes]:
        """Yield the payload at each place: the message's id."""
        for number in places[:, 0].tolist():
            rows = self._rows("SELECT data FROM messages WHERE id = ?", (number,))
            data = next((row[0] for row in rows), b"")
            yield data if isinstance(data, bytes) else b""

    def _message(self, row: tuple[object, ...]) -> Message | None:
        number, topic, log_ns, data = row
        channel = self._channels.get(topic) if isinstance(topic, int) else None
        is_timed = isinstance(number, int) and isinstance(log_ns, int)
        if channel is None or not is_timed or not isinstance(data, bytes):
            return None
        return Message(channel, int(str(log_ns)), None, data, (int(str(number)), 0, 0))

    def _rows(self, query: str, values: tuple[int, ...] = ()) -> Iterator[tuple[object, ...]]:
        with closing(self._connection.cursor()) as cursor:
            yield from cursor.execute(query, values)

    def _distro(self) -> str | None:
        if "schema" not in self._tables:
            return None
        rows = list(self._rows("SELECT ros_distro FROM schema"))
        return str(rows[0][0]) if rows else None

    def _read_channels(self) -> dict[int, Channel]:
        definitions: dict[str, tuple[str, bytes]] = {}
        if "message_definitions" in self._tables:
            query = "SELECT topic_type, encoding, encoded_message_definition "
            for name, encoding, text in self._rows(query + "FROM message_definitions"):
                definitions[str(name)] = (str(encoding), str(text).encode())
        columns = {row[1] for row in self._rows("PRAGMA table_info(topics)")}
        qos = "offered_qos_profiles" if "offered_qos_profiles" in columns else "''"
        rows = self._rows(f"SELECT id, name, type, serialization_format, {qos} FROM topics")
        return {row[0]: _channel(row, definitions) for row in rows if isinstance(row[0], int)}


def _channel(row: tuple[object, ...], definitions: dict[str, tuple[str, bytes]]) -> Channel:
    _, topic, type_name, encoding, qos = (str(value) for value in row)
    definition_encoding, definition = definitions.get(type_name, ("", b""))
    return Channel(
        topic=topic,
        type_name=type_name,
        encoding=encoding,
        definition_encoding=definition_encoding,
        definition=definition,
        is_latched=is_transient_local(qos),
    )
