"""Fetching published files: resumable, checked, unpacked with care."""
