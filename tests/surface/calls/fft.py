"""Sample calls of ``numpy.fft``."""

_ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
_SEVERAL = ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")

CALLS = {
    **{
        f"fft.{name}": [
            f"xp.fft.{name}(v)",
            f"xp.fft.{name}(f, 5)",
            f"xp.fft.{name}(t, n=6, axis=1, norm='ortho')",
            f"xp.fft.{name}(i, norm='forward')",
        ]
        for name in _ONE
    },
    **{
        f"fft.{name}": [
            f"xp.fft.{name}(t)",
            f"xp.fft.{name}(t, s=(4, 5), axes=(0, 1))",
            f"xp.fft.{name}(m, norm='ortho')",
        ]
        for name in _SEVERAL
    },
    "fft.fftfreq": ["xp.fft.fftfreq(5)", "xp.fft.fftfreq(8, d=0.1)"],
    "fft.rfftfreq": ["xp.fft.rfftfreq(5)", "xp.fft.rfftfreq(8, d=0.1)"],
    "fft.fftshift": ["xp.fft.fftshift(t)", "xp.fft.fftshift(m, axes=0)"],
    "fft.ifftshift": ["xp.fft.ifftshift(t)", "xp.fft.ifftshift(m, axes=(1,))"],
}
CALLS["fft.fft"] += ["xp.fft.fft(c)", "xp.fft.fft(v, out=c)"]
CALLS["fft.fftn"] += ["xp.fft.fftn(c.reshape(3, 4), out=c.reshape(3, 4))"]
