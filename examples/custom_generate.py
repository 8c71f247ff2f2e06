"""`model.generate` as ever, decoded by lookahead: the same ids in fewer forwards. With the bundled model."""

import sys

import torch
from transformers import TextStreamer

from lookstruct import Lookahead
from lookstruct.decoding.loading import load_model

loaded = load_model()
model, tokenizer = loaded.model, loaded.tokenizer
text = "Copy this list in reverse order: steel bolt M8, hex nut M8, flat washer 8 mm, threaded rod M8 x 1000."
inputs = tokenizer.apply_chat_template(
    [{"role": "user", "content": text}], add_generation_prompt=True, return_tensors="pt", return_dict=True
)
asked = {**inputs, "max_new_tokens": 60, "do_sample": False, "repetition_penalty": 1.0}

lookahead = Lookahead(tokenizer, streamer=TextStreamer(tokenizer, skip_prompt=True))
ours = model.generate(**asked, custom_generate=lookahead)
theirs = model.generate(**asked)

stats = lookahead.completion.stats
sys.stdout.write(f"{stats.new_tokens} tokens in {stats.forwards} forwards; same ids: {torch.equal(ours, theirs)}\n")
