"""The figures of the site, one file each."""
