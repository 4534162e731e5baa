"""Pictures of a report as SVG, by hand: no library, no script, every text escaped."""
