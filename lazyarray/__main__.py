"""``python -m lazyarray``: what :func:`lazyarray.show_config` prints."""

from lazyarray import show_config

if __name__ == "__main__":
    show_config()
