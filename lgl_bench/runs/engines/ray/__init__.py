"""The engine that runs a plan on a Ray cluster."""
