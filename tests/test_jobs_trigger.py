"""When schedules fire."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookstruct.pipeline.jobs.trigger import MOST_COUNTED, Every, Trigger, count_between, cron
from lookstruct.schemas.errors import UsageError

BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
EXPRESSIONS = ("30 2 * * *", "*/20 2 * * *", "0 * * * *", "0,30 1,2,3 * * 0,6", "15 6 1 * *", "* * * * *")


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc,arg-type]


def firings(trigger: Trigger, start: datetime, n: int) -> list[datetime]:
    found: list[datetime] = []
    while len(found) < n:
        start = trigger.after(start)  # type: ignore[assignment]
        found.append(start)
    return found


def wall(trigger: Trigger, zone: ZoneInfo, start: datetime, n: int) -> list[str]:
    return [f.astimezone(zone).strftime("%d %H:%M %z") for f in firings(trigger, start, n)]


def test_a_time_that_the_spring_night_leaves_out_fires_when_the_night_goes_on():
    days = wall(cron("30 2 * * *", BERLIN), BERLIN, utc(2025, 3, 28, 12), 3)
    assert days == ["29 02:30 +0100", "30 03:00 +0200", "31 02:30 +0200"]


def test_a_time_that_the_autumn_night_has_twice_fires_once():
    days = wall(cron("30 2 * * *", BERLIN), BERLIN, utc(2025, 10, 25, 12), 2)
    assert days == ["26 02:30 +0200", "27 02:30 +0100"]


def test_a_job_added_within_the_repeated_hour_does_not_fire_in_the_past():
    second_pass = utc(2025, 10, 26, 1, 10)  # 02:10 for the second time
    assert cron("30 2 * * *", BERLIN).after(second_pass) == utc(2025, 10, 27, 1, 30)


def test_every_hour_means_every_real_hour():
    hours = firings(cron("0 * * * *", BERLIN), utc(2025, 10, 25, 21), 8)
    assert {later - earlier for earlier, later in pairwise(hours)} == {timedelta(hours=1)}


def test_a_cron_time_keeps_to_the_wall_clock_of_its_zone():
    assert wall(cron("0 6 * * *", NEW_YORK), NEW_YORK, utc(2025, 3, 8, 0), 2) == ["08 06:00 -0500", "09 06:00 -0400"]


def test_day_of_week_counts_from_sunday_as_crontab_does():
    monday = cron("0 6 * * 1", ZoneInfo("UTC")).after(utc(2025, 3, 1))
    assert monday is not None
    assert monday.strftime("%A") == "Monday"


@pytest.mark.parametrize(
    ("expression", "part"),
    [
        ("0 0 30 2 *", "bad day-of-month"),
        ("61 * * * *", "bad minute"),
        ("0 6 * *", "has 4 fields; five are expected"),
        ("0 0 6 * * *", "has 6 fields"),
        ("", "has 0 fields"),
    ],
)
def test_a_cron_expression_that_cannot_fire_is_refused(expression: str, part: str):
    with pytest.raises(UsageError, match=part):
        cron(expression, BERLIN)


def test_names_stand_for_expressions():
    assert cron("@daily", BERLIN).expression == "0 0 * * *"


@given(
    st.sampled_from(EXPRESSIONS),
    st.sampled_from([BERLIN, NEW_YORK, ZoneInfo("UTC"), ZoneInfo("Australia/Lord_Howe")]),
    st.datetimes(datetime(2024, 1, 1), datetime(2026, 12, 31), timezones=st.just(UTC)),
    st.timedeltas(timedelta(0), timedelta(days=3)),
)
def test_the_latest_firing_is_the_last_one_that_walking_finds(
    expression: str, zone: ZoneInfo, start: datetime, length: timedelta
):
    trigger, end = cron(expression, zone), start + length
    walked, at = None, start
    for _ in range(5000):
        following = trigger.after(at)
        if following is None or following > end:
            break
        assert following > at
        walked = at = following
    assert trigger.latest(start, end) == walked


@given(
    st.timedeltas(timedelta(seconds=1), timedelta(days=40)),
    st.datetimes(datetime(2024, 1, 1), datetime(2026, 1, 1), timezones=st.just(UTC)),
    st.timedeltas(timedelta(days=-100), timedelta(days=100)),
)
def test_intervals_are_counted_from_their_anchor(period: timedelta, anchor: datetime, distance: timedelta):
    trigger, moment = Every(period, anchor), anchor + distance
    following = trigger.after(moment)
    assert following > moment
    assert following >= anchor
    assert (following - anchor) % period == timedelta()
    assert following - period <= moment or following == anchor
    latest = trigger.latest(anchor - timedelta(seconds=1), moment)
    assert latest == (following - period if following > anchor else None)


def test_firings_between_two_moments_are_counted_up_to_a_limit():
    every = Every(timedelta(hours=6), utc(2025, 1, 1))
    assert count_between(every, utc(2025, 1, 1), utc(2025, 1, 2)) == 3
    assert count_between(every, utc(2025, 1, 2), utc(2025, 1, 2)) == 0
    assert count_between(Every(timedelta(seconds=1), utc(2025, 1, 1)), utc(2025, 1, 1), utc(2026, 1, 1)) == MOST_COUNTED
    assert count_between(cron("* * * * *", BERLIN), utc(2025, 1, 1), utc(2026, 1, 1)) == MOST_COUNTED
    assert count_between(cron("0 0 * * *", ZoneInfo("UTC")), utc(2025, 1, 1), utc(2025, 1, 4)) == 2
