"""From a model back to its source files, and from a source file on to every model."""

from robot_data_platform.lineage.models import training_run

__all__ = ["training_run"]
