"""GPUs: the runner of recorded ops on CUDA devices, with CuPy for what is not generated."""
