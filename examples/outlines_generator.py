"""An Outlines generator that decodes by lookahead, and streams: run it as it is, with the bundled model."""

import sys
from datetime import date
from decimal import Decimal

import outlines
from pydantic import BaseModel

import lookstruct
from lookstruct.decoding.loading import load_model


class Invoice(BaseModel):
    number: str
    issued: date
    total: Decimal


TEXT = "Invoice INV-2024-0017 of Harrow & Finch Ltd, issued on 21 August 2024 (2024-08-21). Total due: 1234.56 EUR."

loaded = load_model()
model = lookstruct.from_transformers(loaded.model, loaded.tokenizer)
pieces = []
for piece in outlines.Generator(model, Invoice).stream(f"Read this invoice as JSON.\n\n{TEXT}", max_new_tokens=100):
    pieces.append(piece)
    sys.stdout.write(piece)
    sys.stdout.flush()
stats = model.completion.stats
sys.stdout.write(f"\n{Invoice.model_validate_json(''.join(pieces))!r}\n")
sys.stdout.write(f"{stats.new_tokens} tokens in {stats.forwards} forwards\n")
