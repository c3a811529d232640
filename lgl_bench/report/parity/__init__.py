"""Parity with the paper: its cells run again, set beside what it prints."""
