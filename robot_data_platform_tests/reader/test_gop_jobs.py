from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.reader.gop_jobs import NO_PICTURE, PictureSlots, gop_jobs

REFERENCE = st.tuples(st.sampled_from([NO_PICTURE, 0, 3, 7]), st.integers(0, 5))


@given(references=st.lists(REFERENCE, max_size=40), num_columns=st.sampled_from([0, 1, 2]))
def test_every_slot_gets_its_own_frame_and_each_frame_is_written_once(
    references: list[tuple[int, int]], num_columns: int
) -> None:
    if num_columns:
        references = references[: len(references) // num_columns * num_columns]
    shape = (-1, num_columns) if num_columns else (-1,)
    gop_key = np.array([key for key, _ in references], dtype=np.int64).reshape(shape)
    frame = np.array([frame for _, frame in references], dtype=np.int64).reshape(shape)
    out = np.zeros((*gop_key.shape, 1, 1, 3), dtype=np.uint8)
    jobs = gop_jobs(PictureSlots(camera="env", gop_key=gop_key, frame=frame, out=out))
    written = []
    for job in jobs:

        def write(number: int, picture: npt.NDArray[np.generic], key: int = job.gop_key) -> None:
            picture[:] = (key, number, 1)
            written.append((key, number))

        fill = job.filler()
        for number in sorted(set(job.frame.tolist())):
            fill(number, partial(write, number))
    assert len({job.gop_key for job in jobs}) == len(jobs)
    assert len(set(written)) == len(written)
    shown = out.reshape(-1, 3).tolist()
    assert shown == [[k, f, 1] if k != NO_PICTURE else [0, 0, 0] for k, f in references]
