from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.reader.gop_jobs import NO_PICTURE, PictureSlots, gop_jobs

REFERENCE = st.tuples(st.sampled_from([NO_PICTURE, 0, 3, 7]), st.integers(0, 5))


@given(references=st.lists(REFERENCE, max_size=40), num_columns=st.sampled_from([0, 1, 2]))
def test_every_slot_gets_its_own_frame_and_each_gop_is_decoded_once(
    references: list[tuple[int, int]], num_columns: int
) -> None:
    if num_columns:
        references = references[: len(references) // num_columns * num_columns]
    shape = (-1, num_columns) if num_columns else (-1,)
    gop_key = np.array([key for key, _ in references], dtype=np.int64).reshape(shape)
    frame = np.array([frame for _, frame in references], dtype=np.int64).reshape(shape)
    out = np.zeros((*gop_key.shape, 1, 1, 3), dtype=np.uint8)
    jobs = gop_jobs(PictureSlots(camera="env", gop_key=gop_key, frame=frame, out=out))
    for job in jobs:
        decoded = np.array([[job.gop_key, number, 1] for number in job.frames], dtype=np.uint8)
        job.fill(decoded[:, np.newaxis, np.newaxis])
    assert len({job.gop_key for job in jobs}) == len(jobs)
    assert all(len(set(job.frames.tolist())) == len(job.frames) for job in jobs)
    shown = out.reshape(-1, 3).tolist()
    assert shown == [[k, f, 1] if k != NO_PICTURE else [0, 0, 0] for k, f in references]
