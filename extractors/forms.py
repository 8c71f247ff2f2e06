"""Form controls -> the value that a person sees in them."""

from __future__ import annotations

from bs4.element import Tag

CONTROLS = frozenset({"input", "select", "textarea", "meter", "progress"})

_SILENT_INPUTS = frozenset({"hidden", "password", "file", "color", "range"})
_MARKS = frozenset({"checkbox", "radio"})


def control_value(tag: Tag) -> str:
    """The visible value of a control: what was typed, chosen or ticked; "" when it shows none.

    A tick reads `[x]`; a box without one says nothing. Passwords are never read.
    """
    match tag.name:
        case "select":
            return ", ".join(option_text(option) for option in _chosen(tag))
        case "textarea":
            return tag.get_text()
        case "input":
            return _input_value(tag)
        case _:
            return str(tag.attrs.get("value", ""))


def is_mark(tag: Tag) -> bool:
    """Whether the control is a tick box or a radio button, whose label stands beside it."""
    return str(tag.attrs.get("type", "")).lower() in _MARKS


def _input_value(tag: Tag) -> str:
    kind = str(tag.attrs.get("type", "text")).lower()
    if kind in _SILENT_INPUTS:
        return ""
    if kind in _MARKS:
        return "[x]" if "checked" in tag.attrs else ""
    return str(tag.attrs.get("alt" if kind == "image" else "value", ""))


def _chosen(select: Tag) -> list[Tag]:
    options = [option for option in select.find_all("option") if isinstance(option, Tag)]
    chosen = [option for option in options if "selected" in option.attrs]
    if "multiple" in select.attrs:
        return chosen
    return (chosen or options)[-1:] if chosen else options[:1]


def option_text(option: Tag) -> str:
    """The text by which a list shows the option."""
    return " ".join(option.get_text().split()) or str(option.attrs.get("label", ""))
