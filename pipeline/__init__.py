"""The story: fetch, clean, prompt, decode, validate, ground, write."""
