"""Runs: from a stream, a protocol and methods to answers and grades."""
