"""Writes docs/gallery.md: what each example is, what it prints, and its picture.

    python tools/make_gallery.py [EXAMPLE.py ...]

Runs the examples (all that can run here, or those named), so what the page shows was printed by
them. An example that is not run keeps what the page has. Pictures lie in docs/gallery/: those that
an example makes, else the losses that it printed, as lines.
"""

from __future__ import annotations

import argparse
import ast
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "docs" / "gallery"
# How each is run for the page, in its order. Those that make a picture have its file's name.
RUNS = {
    "gray_scott.py": "--picture gray_scott.png",
    "train_digits.py": "--no-compare",
    "train_mnist_style.py": "--epochs 10",
    "sharded_step.py": "--epochs 10",
    "train_parallel.py": "--epochs 10",
    "char_rnn.py": "--steps 200 --write 60",
    "cluster_kmeans.py": "--points 400000 --block 100000 --steps 3",
    "heat_dask.py": "--side 1000 --block 500 --rounds 2",
}
HEAD = """# Gallery

The programs in `examples/`, with what they print. `tools/make_gallery.py` ran them and wrote this
page. It leaves times out (`...`): benchmarks are the place for those.

Each program says in its first lines how to start it; `pip install ".[examples]"` has all that they
need. `examples/first_steps.ipynb` is a notebook beside them.
"""


def said(name: str) -> str:
    """An example's docstring."""
    text = ast.get_docstring(ast.parse((ROOT / "examples" / name).read_text()))
    assert text, name
    return text


def about(name: str) -> str:
    """... as Markdown, with its commands as a block."""
    head, _, rest = said(name).partition("\n")
    lines = rest.strip("\n").splitlines()
    commands = [line.strip() for line in lines if line.strip().startswith("python ")]
    words = "\n".join(line for line in lines if line.strip() not in commands).strip()
    block = "\n".join(["```sh", *commands, "```"])
    words = re.sub(r"\n{3,}", "\n\n", words)
    return "\n\n".join(part for part in (head, block, words) if part)


def curve(losses: list[float], width: int = 360, height: int = 140) -> str:
    """A line through the losses, as SVG."""
    left, top, most = 44, 10, max(losses)
    step = (width - left - 10) / max(1, len(losses) - 1)
    tall = height - top - 24
    places = [(left + i * step, top + tall * (1 - v / most)) for i, v in enumerate(losses)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    style = 'font-family="sans-serif" font-size="11" fill="#666"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">',
            f'<path d="M{left} {top}V{top + tall}H{width - 10}" fill="none" stroke="#999"/>',
            f'<text x="4" y="{top + 8}" {style}>{most:.2f}</text>',
            f'<text x="4" y="{top + tall}" {style}>0</text>',
            f'<text x="{left}" y="{height - 6}" {style}>loss, as printed</text>',
            f'<polyline points="{line}" fill="none" stroke="#1f77b4" stroke-width="2"/>',
            "</svg>\n",
        ]
    )


def run(name: str) -> str | None:
    """What it prints; None if something that it needs is not there."""
    path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / name), *RUNS[name].split()],
        capture_output=True,
        text=True,
        cwd=PICTURES,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path)},
        check=False,
    )
    if done.returncode:
        print(f"{name}: not run: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return cleaned(done.stdout)


def cleaned(printed: str) -> str:
    """Without what differs from run to run: times, progress, places of this machine."""
    printed = re.sub(r".*% Completed.*\n?|\x1b\[\d*\w|\r", "", printed)
    printed = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:8787", printed.replace(f"{ROOT}/", ""))
    units = r"(?:s|ms|steps/s|MB/s|million cells/s)\b"
    printed = re.sub(rf"\b\d[\d.]*(?= {units})", "...", printed)
    printed = re.sub(r"\d+\.\d{3}(?=  (?:\S+\(\)|in all))", "  ...", printed)
    return re.sub(r"\n{3,}", "\n\n", printed).strip("\n")


def drawn(name: str, printed: str) -> None:
    """Makes the picture of an example that makes none, if it prints losses."""
    losses = [float(v) for v in re.findall(r"\bloss:? +(\d+\.\d+)", printed)]
    if ".png" not in RUNS[name] and len(losses) > 2:
        (PICTURES / f"{pathlib.Path(name).stem}.svg").write_text(curve(losses))


def section(name: str, printed: str) -> str:
    """What the page says of an example."""
    stem = pathlib.Path(name).stem
    parts = [f"## {name}", about(name)]
    if printed:
        command = f"$ python examples/{name} {RUNS[name]}"
        parts.append(f"```text\n{command}\n{printed}\n```")
    for picture in sorted(PICTURES.glob(f"{stem}.*")):
        parts.append(f"![{stem}](gallery/{picture.name})")
    return "\n\n".join(parts) + "\n"


def shown(page: str) -> dict[str, str]:
    """What the page has of each example's output."""
    blocks = re.findall(r"^```text\n\$ python examples/(\S+)[^\n]*\n(.*?)\n```$", page, re.S | re.M)
    return dict(blocks)


def written(printed: dict[str, str]) -> str:
    """The page."""
    return "\n".join([HEAD, *(section(name, printed.get(name, "")) for name in RUNS)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("examples", nargs="*", metavar="EXAMPLE.py", help="which to run: all")
    named = parser.parse_args().examples
    PICTURES.mkdir(exist_ok=True)
    printed = shown(PAGE.read_text()) if PAGE.exists() else {}
    for name in named or RUNS:
        if (found := run(name)) is not None:
            printed[name] = found
            drawn(name, found)
    PAGE.write_text(written(printed))


if __name__ == "__main__":
    main()
