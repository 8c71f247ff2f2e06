"""The prompt profiles, in one list: adding one is a file beside this and a line in `PROFILES`."""

from __future__ import annotations

from lookstruct.pipeline.profiles.base import Profile
from lookstruct.pipeline.profiles.general import GENERAL
from lookstruct.pipeline.profiles.nuextract import NUEXTRACT
from lookstruct.pipeline.profiles.nuextract1 import NUEXTRACT1
from lookstruct.pipeline.profiles.readerlm import READERLM
from lookstruct.pipeline.profiles.schematron import SCHEMATRON
from lookstruct.schemas.errors import UsageError

PROFILES: tuple[Profile, ...] = (SCHEMATRON, READERLM, NUEXTRACT, NUEXTRACT1, GENERAL)
"""The first that knows a model's name is taken; the last is for all others."""
AUTO = "auto"


def choose_profile(name: str, model: str) -> Profile:
    """The profile called `name`; for "auto" the one that knows the model's name. UsageError for an unknown name.

    >>> choose_profile("auto", "inference-net/Schematron-3B").name, choose_profile("auto", "bundled").name
    ('schematron', 'general')
    >>> choose_profile("auto", "numind/NuExtract-2.0-2B").name, choose_profile("auto", "numind/NuExtract-1.5-tiny").name
    ('nuextract', 'nuextract-1.5')
    """
    check_profile(name)
    if name == AUTO:
        return next((profile for profile in PROFILES if profile.knows(model)), GENERAL)
    return next(profile for profile in PROFILES if profile.name == name)


def check_profile(name: str) -> None:
    """UsageError for a name that no profile has."""
    known = [AUTO, *(profile.name for profile in PROFILES)]
    if name not in known:
        raise UsageError(f"There is no prompt profile {name!r}; the known ones are {', '.join(known)}.")
