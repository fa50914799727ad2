"""librosa, pygame, imageio, soundfile, PyTables, healpy. A call names the library that it needs."""

import pytest

from .calls import agree, cases

pytestmark = pytest.mark.host

SETUP = """
import importlib, os
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
def need(name):
    return importlib.import_module(name)
def lib():
    return need("librosa")
def surface(draw):
    pygame = need("pygame"); s = pygame.Surface((50, 50)); draw(need("pygame.draw"), s)
    return pygame.surfarray.array3d(s)
def table(*steps):
    tables = need("tables")
    with tables.open_file(T + "/t.h5", "w") as f:
        e = f.create_earray("/", "e", tables.Float64Atom(), (0, 6)); a = f.create_array("/", "a", M)
        c = f.create_carray("/", "c", obj=M); v = f.create_vlarray("/", "v", tables.Float64Atom())
        for step in steps:
            step(e, a, c, v)
        return e[:], a[:], c[:], v[:]
def put(a, key, value):
    a[key] = value
sound = xp.tile(v, 80); colour = xp.array([200, 100, 50])
"""
CALLS = [
    "lib().stft(sound)",
    "lib().istft(lib().stft(sound))",
    "lib().feature.mfcc(y=sound, sr=8000, n_fft=512)",
    "lib().feature.melspectrogram(y=sound, sr=8000, n_fft=512)",
    "lib().feature.spectral_centroid(y=sound, sr=8000)",
    "lib().onset.onset_detect(y=sound, sr=8000)",
    "lib().resample(sound, orig_sr=8000, target_sr=4000, res_type='scipy')",
    "lib().effects.trim(sound)",
    "lib().amplitude_to_db(abs(M))",
    "lib().util.frame(sound, frame_length=64, hop_length=32)",
    "lib().sequence.dtw(X.T, X.T)[0]",
    "lib().segment.recurrence_matrix(X.T)",
    "surface(lambda d, s: d.circle(s, (255, 0, 0), (abs(v[0]) * 9 + 9, abs(v[1]) * 9 + 9), 4))",
    "surface(lambda d, s: d.line(s, colour, 20 + 9 * P[0], 9 * P[1]))",
    "surface(lambda d, s: d.polygon(s, (1, 2, 3), 40 * P))",
    "surface(lambda d, s: d.rect(s, colour, (P[0, 0] * 20, 3, 5, 6)))",
    "surface(lambda d, s: need('pygame').surfarray.blit_array(s, xp.tile(I, (4, 4, 1))[:50, :50]))",
    "need('imageio.v3').imwrite(T + '/i.png', I) or need('imageio.v3').imread(T + '/i.png')",
    "need('soundfile').write(T + '/s.wav', v, 8000) or need('soundfile').read(T + '/s.wav')[0]",
    "table(lambda e, a, c, v: e.append(M), lambda e, a, c, v: e.append(M[:2] * 2))",
    "table(lambda e, a, c, v: put(a, 0, M[1]), lambda e, a, c, v: put(c, (1, 2), M[0, 0]))",
    "table(lambda e, a, c, v: v.append(M[0]))",
    "need('healpy').smoothing(xp.tile(v, 6), fwhm=0.1)",
    "need('healpy').anafast(xp.tile(v, 6))",
]
FAILS: dict[str, str] = {}
_NEEDS = {
    "lib()": "librosa",
    "surface": "pygame",
    "imageio": "imageio",
    "soundfile": "soundfile",
    "healpy": "healpy",
}


@pytest.mark.parametrize("call", cases(CALLS, FAILS))
def test_calls(call, tmp_path):
    name = next((name for part, name in _NEEDS.items() if part in call), "tables")
    pytest.importorskip(name, reason=f"{name} is not installed")
    agree(SETUP, call, tmp_path)
