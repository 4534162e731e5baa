MODULES = ["q_proj", "k_proj"]
EVERY_MODULE = "all"
