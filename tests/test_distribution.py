"""The distribution's name, and the other package that is imported by the name of ours."""

import os
import pathlib
import re
import subprocess
import sys
import tomllib

import pytest

import lazyarray as la

ROOT = pathlib.Path(__file__).parent.parent
PACKAGE = pathlib.Path(la.__file__).parent
NAME = "lazyarray-engine"


def python(*args, path):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LAZYARRAY_", "PYTHONW"))}
    env = kept | {"PYTHONPATH": os.pathsep.join(map(str, path)), "PYTHONSAFEPATH": "1"}
    return subprocess.run(
        [sys.executable, *args], env=env, capture_output=True, text=True, timeout=250
    )


def stranger(folder, version="0.7.0"):
    """Installs what PyPI's package of our name consists of."""
    (folder / "lazyarray.py").write_text("larray = list\n")
    about = folder / f"lazyarray-{version}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: lazyarray\nVersion: {version}\n")
    (about / "RECORD").write_text(
        f"lazyarray.py,,\n{about.name}/METADATA,,\n{about.name}/RECORD,,\n"
    )
    return folder


def test_the_name_is_told_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["name"] == NAME
    assert not any("License ::" in c for c in project["classifiers"])  # `license` says it
    advice = re.compile(r"""(?:pip3? (?:install|download) |--from )["']?lazyarray(?![\w-])""")
    files = [ROOT / "README.md", ROOT / "Makefile", ROOT / ".ci" / "run"]
    for folder in ("lazyarray", "docs", "tools", "examples", ".github"):
        kinds = (".py", ".pyx", ".md", ".sh", ".yml")
        files += [path for path in (ROOT / folder).rglob("*") if path.suffix in kinds]
    lines = [(path, line) for path in files for line in path.read_text().splitlines()]
    assert [(path.name, line) for path, line in lines if advice.search(line)] == []
    with pytest.MonkeyPatch.context() as patch:
        from lazyarray.lazy.cuda import device

        patch.setitem(sys.modules, "cupy", None)
        with pytest.raises(RuntimeError, match=re.escape(f'pip install "{NAME}[cuda]"')):
            device._cupy(0)


def test_the_module_prints_the_configuration(tmp_path):
    done = python("-m", "lazyarray", path=[PACKAGE.parent])
    assert done.returncode == 0, done.stderr
    assert (
        done.stdout.startswith(f"lazyarray:\n  version: {la.__version__}\n")
        and "Engine:" in done.stdout
    )


def test_another_package_beside_ours_is_told_of(tmp_path):
    """As in one folder of packages: ours hides the other one."""
    (stranger(tmp_path) / "lazyarray").symlink_to(PACKAGE)
    code = "import lazyarray as la; print(la.ones(3).sum().item()); la.show_config()"
    done = python("-W", "always", "-c", code, path=[tmp_path])
    assert done.returncode == 0 and done.stdout.startswith("3.0\n")
    told = "the distribution 'lazyarray' 0.7.0 is another distribution"
    assert done.stderr.count("RuntimeWarning: lazyarray: " + told) == 1
    assert f"This is {NAME!r}" in done.stderr and "pip uninstall lazyarray" in done.stderr
    assert done.stderr.startswith("<string>:1:")  # the line that imports it
    assert f"  beware: {told}" in done.stdout


def test_a_module_of_our_name_is_told_of_without_metadata(tmp_path):
    (tmp_path / "lazyarray.py").touch()
    (tmp_path / "lazyarray").symlink_to(PACKAGE)
    done = python("-c", "import lazyarray", path=[tmp_path])
    assert "RuntimeWarning: lazyarray: " in done.stderr and "is another distr" in done.stderr


def test_another_package_elsewhere_is_told_of_by_show_config(tmp_path):
    done = python("-m", "lazyarray", path=[PACKAGE.parent, stranger(tmp_path)])
    assert done.stderr == "" and "beware: the distribution 'lazyarray' 0.7.0" in done.stdout


def test_the_import_reads_no_metadata():
    code = "import lazyarray, sys; print('importlib.metadata' in sys.modules)"
    assert python("-c", code, path=[PACKAGE.parent]).stdout == "False\n"


@pytest.mark.skipif(not (ROOT / "tools" / "build_backend.py").exists(), reason="no checkout")
def test_an_editable_install_beside_another_package_is_refused(tmp_path):
    pytest.importorskip("mesonpy")
    code = "import build_backend; build_backend.refuse_stranger(); print('fine')"
    tools = ROOT / "tools"
    assert python("-c", code, path=[tools]).stdout == "fine\n"
    done = python("-c", code, path=[tools, stranger(tmp_path)])
    assert done.returncode == 1 and "pip uninstall lazyarray" in done.stderr
