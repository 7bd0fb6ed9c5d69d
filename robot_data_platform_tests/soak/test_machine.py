"""Some 300 steps in any order leave what the model holds; `make soak` does 10,000."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from robot_data_platform_tests.soak.machine import AnyOrder

AnyOrder.TestCase.settings = settings(
    max_examples=8,
    stateful_step_count=40,
    deadline=None,
    derandomize=True,  # new orders are for `make soak`
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
test_a_lake_is_as_the_model_after_any_steps = AnyOrder.TestCase
