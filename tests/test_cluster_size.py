"""What travels between the processes of a cluster, and how many of them there are."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import pytest

from lookstruct.pipeline.cluster.failure import Failure
from lookstruct.pipeline.cluster.size import Size, size_of
from lookstruct.pipeline.settings import Settings
from lookstruct.schemas.errors import HTTPStatusError, InvalidRecord, UsageError


def size(n_nodes: int, n_gpus: int, n_cpus: int = 32, **settings: Any) -> Size:
    return size_of(Settings.model_validate(settings), n_nodes, n_gpus, n_cpus)


def test_there_is_a_model_a_gpu_and_a_browser_a_node() -> None:
    assert size(2, 8) == Size(n_fetchers=2, n_models=8, pages_each=2, requests_each=1, gpus_each=1, threads_each=4)


def test_without_gpus_there_is_a_model_a_node_with_all_of_its_cores() -> None:
    found = size(4, 0, 64)
    assert (found.n_models, found.gpus_each, found.threads_each, found.n_readers) == (4, 0, 16, 4)
    assert size(4, 8, model={"device": "cpu"}).n_models == 4


def test_a_server_takes_several_pages_at_once_and_no_gpu() -> None:
    found = size(1, 8, engine={"engine": "openai", "requests": 16})
    assert (found.n_models, found.gpus_each, found.n_readers) == (1, 0, 16)


def test_fetchers_share_the_pages_that_may_be_fetched_at_once() -> None:
    assert (size(3, 0, batch={"concurrency": 8}).n_fetchers, size(3, 0, batch={"concurrency": 8}).pages_each) == (3, 3)
    assert size(8, 0, batch={"concurrency": 2}).n_fetchers == 2


def test_more_models_than_gpus_are_refused() -> None:
    assert size(1, 2, batch={"models": 2}).n_models == 2
    with pytest.raises(UsageError, match="needs as many GPUs, and the cluster has 2"):
        size(1, 2, batch={"models": 3})


@pytest.mark.parametrize("exc", [HTTPStatusError("Gone.", 410, 3.0), InvalidRecord("No JSON.", "{"), KeyError("x")])
def test_a_failure_comes_out_as_it_went_in(exc: Exception) -> None:
    again = pickle.loads(pickle.dumps(Failure.of(exc))).restored()
    assert (type(again), str(again), again.args, vars(again)) == (type(exc), str(exc), exc.args, vars(exc))


def test_a_failure_that_cannot_travel_says_at_least_what_it_was() -> None:
    class Own(Exception):
        """Known to this process alone."""

    for exc in (Own("oh"), ValueError(threading.Lock())):
        again = pickle.loads(pickle.dumps(Failure.of(exc))).restored()
        assert str(again).startswith(type(exc).__name__)
