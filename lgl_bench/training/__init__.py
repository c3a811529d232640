"""Training: a model of backbone and head, fitted deterministically under a seed."""
