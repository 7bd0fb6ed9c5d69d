"""Renders the sample uploads; run it as a module, with ``MUJOCO_GL=osmesa`` and OUT if not here."""
