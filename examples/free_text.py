"""Free text without any grammar, by the paper's lookahead window and by copying from the prompt. Bundled model."""

import sys

import lookstruct
from lookstruct.decoding.loading import load_model

loaded = load_model()
chat = [{"role": "user", "content": "Write a Python class Point with x, y and z and a setter for each."}]

for sources in (("window",), ("page",), ("page", "window")):
    made = lookstruct.decode(
        loaded.model, loaded.tokenizer, chat, sources=sources, mode="lookahead", nodes=24, max_new_tokens=80
    )
    counts = f"{made.stats.new_tokens} tokens in {made.stats.forwards} forwards"
    sys.stdout.write(f"{' + '.join(sources)}: {counts}\n{made.text}\n\n")
