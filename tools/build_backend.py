"""The build backend: meson-python's, but for editable installs, which are built in place.

meson-python's own editable install finds the package by an import hook that compiles its Python
files anew in each process. Here the checkout is put on the path, with links to what Meson built.
"""

from __future__ import annotations

import importlib.metadata
import pathlib
import tempfile
import tomllib
import zipfile
from typing import Any

import in_place
import mesonpy
from mesonpy import build_sdist as build_sdist
from mesonpy import get_requires_for_build_sdist as get_requires_for_build_sdist
from mesonpy import get_requires_for_build_wheel as get_requires_for_build_wheel
from pyproject_metadata import StandardMetadata

get_requires_for_build_editable = get_requires_for_build_wheel


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    """meson-python's, in a folder as deep as in_place's: profiles have sources' relative paths."""
    settings = dict(config_settings or {})
    if not settings.keys().isdisjoint({"build-dir", "builddir"}):
        return mesonpy.build_wheel(wheel_directory, settings, metadata_directory)
    folder = in_place.ROOT / "build"
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="wheel-", dir=folder) as built:
        return mesonpy.build_wheel(
            wheel_directory, {**settings, "build-dir": built}, metadata_directory
        )


def build_editable(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    """A wheel of the metadata and of a path to the checkout (PEP 660)."""
    refuse_stranger()
    in_place.build()
    project = tomllib.loads((in_place.ROOT / "pyproject.toml").read_text())
    metadata = StandardMetadata.from_pyproject(project, in_place.ROOT)
    name = f"{metadata.canonical_name.replace('-', '_')}-{metadata.version}"
    files = {
        f"{metadata.canonical_name}.pth": f"{in_place.ROOT}\n",
        f"{name}.dist-info/METADATA": str(metadata.as_rfc822()),
        f"{name}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if metadata.entrypoints:
        files[f"{name}.dist-info/entry_points.txt"] = entry_points(metadata.entrypoints)
    for file in metadata.license_files or ():
        files[f"{name}.dist-info/licenses/{file}"] = (in_place.ROOT / file).read_text()
    files[f"{name}.dist-info/RECORD"] = "".join(f"{file},,\n" for file in files)
    wheel = f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)
    return wheel


def entry_points(groups: dict[str, dict[str, str]]) -> str:
    """The text of ``entry_points.txt``, by which Dask finds its blocks of lazyarray's."""
    return "".join(
        "\n".join([f"[{group}]", *(f"{name} = {value}" for name, value in points.items()), "\n"])
        for group, points in groups.items()
    )


def refuse_stranger() -> None:
    """PyPI's `lazyarray` would be imported: the checkout comes after what is installed."""
    try:
        files = importlib.metadata.files("lazyarray") or []
    except importlib.metadata.PackageNotFoundError:
        return
    if any(str(file) == "lazyarray.py" for file in files):
        raise SystemExit(
            "lazyarray: the distribution 'lazyarray' of this environment is another package, which "
            "would be imported in the place of this one: pip uninstall lazyarray"
        )
