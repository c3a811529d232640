"""What every layer shares: records, errors, the registry, seeds, shipped files."""
