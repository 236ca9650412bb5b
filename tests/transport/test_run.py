"""What `run` does to its process while it serves; how it ends is in `tests/faults/test_shutdown.py`."""

import gc

from transport.run import spared_collector


def test_collector_runs_less_often_only_while_serving() -> None:
    before = gc.get_threshold()
    with spared_collector():
        assert gc.get_threshold() == (5_000, *before[1:])
        gc.freeze()
        assert gc.get_freeze_count() > 0
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


def test_collector_that_is_off_stays_off() -> None:
    before = gc.get_threshold()
    gc.set_threshold(0)
    try:
        with spared_collector():
            assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)
