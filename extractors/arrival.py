"""What a server answered to a navigation -> nothing to say against it, or the error that says why it is no page."""

from __future__ import annotations

from playwright.async_api import Response

from lookstruct.extractors.contenttypes import check_content_type, not_a_page
from lookstruct.extractors.download import OtherInput
from lookstruct.extractors.inputs import kind_of
from lookstruct.extractors.manners.retrying import retry_after
from lookstruct.schemas.errors import EmptyPage, HTTPStatusError


def check_answer(response: Response | None, name: str) -> None:
    """Raise for an error status, or for something that is no page; `name` is what messages call it.

    `OtherInput` is raised for what the browser cannot show but we can read.
    """
    if response is None or 300 <= response.status < 400:
        return
    if response.status >= 400:
        wait_s = retry_after(response.headers.get("retry-after"))
        raise HTTPStatusError(f"{name} answered {_status_text(response)}", response.status, wait_s)
    if response.status in (204, 205):
        raise EmptyPage(f"{name} answered {response.status}, which means no content: check the address")
    content_type = response.headers.get("content-type")
    if (kind := kind_of(response.url, b"", content_type)) is not None:
        raise OtherInput(response.url, kind)
    check_content_type(name, content_type)
    if response.headers.get("content-disposition", "").strip().lower().startswith("attachment"):
        raise not_a_page(name, response.headers.get("content-type", "a download").split(";")[0])


def _status_text(response: Response) -> str:
    advice = {
        401: "log in first, or pass credentials",
        403: "the site refuses this program, or wants a login",
        404: "check the address",
        410: "the page was removed",
        429: "too many requests: wait, then ask more slowly",
    }.get(response.status, "try again later" if response.status >= 500 else "check the address")
    return f"{response.status} {response.status_text}".strip() + f": {advice}"
