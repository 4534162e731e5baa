"""A module that fails while it is imported, as other people's code may."""

raise RuntimeError("the sample's driver is not installed")
