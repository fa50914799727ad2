"""``python -m lazyarray``: what :func:`lazyarray.show_config` prints."""

import argparse

from lazyarray import show_config

if __name__ == "__main__":
    argparse.ArgumentParser(
        prog="python -m lazyarray",
        description="Prints versions, BLAS, engine, memory, devices and settings.",
    ).parse_args()
    show_config()
