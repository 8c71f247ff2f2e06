"""pyproject.toml -> the oldest versions that it accepts, one requirement a line: `numpy>=2` becomes `numpy==2`.

`make check-oldest` runs the default tests with them. torch is left out: its oldest build for this machine may be
several gigabytes, so it stays as constraints.txt has it.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

EXTRAS = ("gguf", "parquet", "pdf", "postgresql", "dev")
KEPT_NEW = re.compile(r"torch|lookstruct|ruff|mypy|types-|pre-commit|import-linter")


def oldest(requirement: str) -> str:
    """
    >>> oldest("transformers>=5.17,<6"), oldest("numpy>=2")
    ('transformers==5.17', 'numpy==2')
    """
    return re.sub(r">=([^,]+).*", r"==\1", requirement)


def main() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    asked = [*project["dependencies"], *(line for extra in EXTRAS for line in project["optional-dependencies"][extra])]
    pins = sorted(oldest(requirement) for requirement in asked if not KEPT_NEW.match(requirement))
    sys.stdout.write("\n".join(pins) + "\n")


if __name__ == "__main__":
    main()
