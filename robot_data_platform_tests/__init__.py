"""Tests of robot_data_platform; not part of the wheel."""
