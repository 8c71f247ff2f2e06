"""A PDF with a text layer, written by hand: for each page, texts with their places and sizes."""

from __future__ import annotations

from collections.abc import Sequence

Text = tuple[float, float, float, str]
"""x and y from the upper left corner, font size, text; all in points on a page of 600 by 800."""


def make_pdf(pages: Sequence[Sequence[Text]]) -> bytes:
    """The bytes of the file; text is Latin-1 in Helvetica."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica "
               "/Encoding /WinAnsiEncoding >>"]  # fmt: skip
    kids = []
    for page in pages:
        content = "\n".join(_shown(text) for text in page)
        kids.append(f"{len(objects) + 1} 0 R")
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /Font << /F1 3 0 R >> >> "
            f"/Contents {len(objects) + 2} 0 R >>"
        )
        objects.append(f"<< /Length {len(content.encode('cp1252'))} >>\nstream\n{content}\nendstream")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    return _assembled(objects)


def _shown(text: Text) -> str:
    x, y, size, said = text
    escaped = said.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return f"BT /F1 {size} Tf {x} {800 - y} Td ({escaped}) Tj ET"


def _assembled(objects: Sequence[str]) -> bytes:
    data, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    end = f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(data)}\n%%EOF"
    return data + (head + end).encode()
