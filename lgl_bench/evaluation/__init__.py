"""Answers made outside lgl-bench, graded like those of any row."""
