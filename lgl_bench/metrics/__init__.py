"""Metrics: pure functions of truth and answer. Undefined is None with a reason, never a made-up number."""
