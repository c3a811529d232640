"""Recomputing a bundle without running submitted code."""
