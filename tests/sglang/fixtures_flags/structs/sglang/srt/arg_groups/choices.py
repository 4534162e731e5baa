FORMATS = ["auto", "dummy"]
add_formats = FORMATS.extend
