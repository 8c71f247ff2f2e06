from pathlib import Path

import pytest

from bench import batch
from lookstruct.extractors.options import FetchOptions


def test_growth_compares_the_second_with_the_last_fifth_of_the_pages() -> None:
    memory = batch.Memory(samples=[50.0, 60.0, 100.0, 101.0, 99.0, 98.0, 97.0, 96.0, 103.0, 105.0])
    assert memory.growth() == (100.5, 104.0)


@pytest.mark.slow
def test_memory_stays_flat_however_many_pages_a_batch_has(tmp_path: Path) -> None:
    batch.write_pages(tmp_path, 400)
    memory = batch.Memory()
    batch.run_batch(tmp_path, FetchOptions(render=False), 4, memory)
    early, late = memory.growth()
    assert len(memory.samples) == 400 // batch.SAMPLE_EVERY
    assert late - early < 30
