"""Pillow: images of lazyarrays, and lazyarrays of images."""

import numpy as np
import pytest

import lazyarray as la

from .calls import same

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")

pytestmark = pytest.mark.host

CALLS = {
    "fromarray of colours": "xp.asarray(Image.fromarray(rgb))",
    "fromarray of grey": "xp.asarray(Image.fromarray(grey))",
    "fromarray with alpha": "xp.asarray(Image.fromarray(xp.concatenate([rgb, rgb[..., :1]], axis=-1)))",
    "fromarray of floats": "xp.asarray(Image.fromarray(grey.astype('float32')))",
    "fromarray of a mask": "xp.asarray(Image.fromarray(grey > 100))",
    "fromarray of a view": "xp.asarray(Image.fromarray(rgb[::2, ::-1]))",
    "frombytes": "xp.asarray(Image.frombytes('L', (6, 4), grey.tobytes()))",
    "frombuffer": "xp.asarray(Image.frombuffer('L', (6, 4), grey, 'raw', 'L', 0, 1))",
    "resize": "xp.asarray(Image.fromarray(rgb).resize((3, 3)))",
    "array of an image": "xp.array(Image.fromarray(rgb)) // 2",
    "size": "Image.fromarray(rgb).size",
    "putdata": "put(grey)",
    "new of colours": "xp.asarray(Image.new('RGB', (2, 2), tuple(int(c) for c in rgb[0, 0])))",
    "crop": "xp.asarray(Image.fromarray(rgb).crop((0, 1, 3, 3)))",
}


def put(grey):
    image = Image.new("L", (6, 4))
    image.putdata(grey.ravel().tolist())
    return np.asarray(image)


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    def value(xp):
        rgb = xp.array(np.random.default_rng(0).integers(0, 255, (4, 6, 3)), dtype="uint8")
        return eval(CALLS[name], globals() | {"xp": xp, "rgb": rgb, "grey": rgb[..., 0].copy()})

    same(value(la), value(np))


def test_an_image_is_a_copy():
    x = la.zeros((2, 2), dtype="uint8")
    image = Image.fromarray(x)
    x += 9
    assert np.asarray(image).max() == 0
