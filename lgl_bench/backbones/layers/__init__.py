"""Parts that backbones are built of."""
