"""Tuning: a search over parameters on validation tasks only."""
