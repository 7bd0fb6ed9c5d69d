"""Renders the golden recordings; run it as a module, with ``MUJOCO_GL=osmesa``."""
