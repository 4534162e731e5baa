"""Whether one SGLang version would take a launch command."""
