"""What one version's scheduler does with a pipeline, read in its source."""
