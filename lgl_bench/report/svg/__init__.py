"""Drawing in SVG."""
