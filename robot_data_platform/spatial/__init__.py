"""Spatial truth: whether the robot in the picture stands where joints and calibration put it."""
