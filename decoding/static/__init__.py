"""Forwards of fixed shape, for devices on which launching a forward costs more than computing it.

A GPU runs a captured forward (a CUDA graph) in one launch, but a captured forward always has the same shapes and
reads the same addresses. So rows are filled up to one of a few sizes, the cache is a buffer that stays where it is,
and everything that changes from step to step (tokens, positions, who sees whom, which tokens are allowed) is a tensor
written in place. The CPU runs the same code without the capture.
"""
