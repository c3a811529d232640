"""Grading: from stored answers to year rows; the only place where answers meet labels."""
