"""What maintenance did, or would do, table by table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robot_data_platform.compute.scrub import DamagedGop


@dataclass(slots=True, kw_only=True)
class TableUpkeep:
    """One table: what was removed and rewritten, or would be."""

    superseded_rows: int = 0
    """Rows of ingestions that nothing publishes; their bytes go with the versions that name
    them, or when their fragment is rewritten."""
    superseded_bytes: int = 0
    """Their share of the table's data, by rows."""
    compacted_fragments: int = 0
    compacted_bytes: int = 0
    """Of the fragments that are rewritten."""
    versions_removed: int = 0
    version_bytes: int = 0
    """Of files that only these versions name."""
    orphan_files: int = 0
    """Data files that no version names."""
    orphan_bytes: int = 0
    tags_removed: int = 0
    """Of releases that died before their row was written."""
    tags_mended: int = 0
    """Of releases, set again."""
    index_created: bool = False


@dataclass(slots=True, kw_only=True)
class UpkeepReport:
    """One dataset, or the catalog."""

    dataset: str
    dry_run: bool = False
    """True where nothing was changed."""
    tables: dict[str, TableUpkeep] = field(default_factory=dict)
    num_gops_scrubbed: int = 0
    damaged: list[DamagedGop] = field(default_factory=list)
    """GOPs whose bytes differ from their checksum."""

    @property
    def num_superseded_rows(self) -> int:
        """Superseded rows of all tables."""
        return sum(table.superseded_rows for table in self.tables.values())

    @property
    def num_versions_removed(self) -> int:
        """Old versions of all tables."""
        return sum(table.versions_removed for table in self.tables.values())

    @property
    def num_bytes_removed(self) -> int:
        """Bytes of old versions and of files of dead tasks."""
        return sum(table.version_bytes + table.orphan_bytes for table in self.tables.values())

    @property
    def compacted(self) -> list[str]:
        """Tables of which fragments were rewritten."""
        return [name for name, table in self.tables.items() if table.compacted_fragments]

    @property
    def damaged_gops(self) -> list[int]:
        """``gop_key`` of each damaged GOP."""
        return [gop.gop_key for gop in self.damaged]
