"""Plugins that are not built in, in processes of their own."""
