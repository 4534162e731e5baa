POSITIONAL_FIELD_ORDER = ("model_path", "pp_size", "load_format")
