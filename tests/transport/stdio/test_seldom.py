import logging

import pytest
import trio
import trio.testing

from transport.stdio.seldom import Seldom


async def test_storm_is_logged_a_few_times_and_counted(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.testing.MockClock
) -> None:
    say = Seldom(logging.getLogger("genmcp"), logging.WARNING, burst=2, period=60)
    for number in range(100):
        say("broken: %d", number)
    assert caplog.messages == ["broken: 0", "broken: 1", "More of this kind is not logged for 60 s"]
    await trio.sleep(61)
    say("broken again")
    assert caplog.messages[3:] == ["98 records of one kind were left out", "broken again"]
