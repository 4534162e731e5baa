"""The lab: a real SGLang on a machine without a GPU, its device emulated, faults planted and recorded."""
