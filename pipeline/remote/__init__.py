"""A model that is served elsewhere: any server that speaks OpenAI's chat completions with structured outputs.

- `text_tokens`: a tokenizer for models whose own is not here: numbers that stand for three characters each
- `chat`: requests with retries
- `decoder`: the pipeline's `Decoder` on such a server
"""
