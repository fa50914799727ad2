"""matplotlib: the same pictures, drawn from lazyarrays and from NumPy's arrays."""

import numpy as np
import pytest

import lazyarray as la

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
matplotlib.use("agg")
plt = pytest.importorskip("matplotlib.pyplot")

pytestmark = pytest.mark.host


def data(xp):
    """Sample arrays of one library, by the names that the calls have for them."""
    x = xp.linspace(0.1, 6, 40)
    rng = np.random.default_rng(0)
    image = xp.sin(x[:20, None]) * xp.cos(x[None, :30])
    return {
        "xp": xp,
        "x": x,
        "y": xp.sin(x),
        "n": xp.arange(6),
        "h": xp.array([1.0, 3.0, 2.0, 5.0, 4.0, 0.5]),
        "z": image,
        "rgb": xp.array(rng.random((6, 3))),
        "r": xp.array(rng.standard_normal(200)),
        "s": xp.array(rng.standard_normal(200)),
        "cube": xp.array(rng.random((3, 3, 3)) > 0.5),
    }


# What is called, of the axes; names are those of `data`.
CALLS = {
    "plot": "ax.plot(x, y)",
    "plot of several columns": "ax.plot(x, xp.stack([y, y * 2], axis=1))",
    "plot of values alone": "ax.plot(y, 'o--', markevery=3)",
    "scatter": "ax.scatter(x, y)",
    "scatter by colours and sizes": "ax.scatter(x, y, s=abs(y) * 50, c=x, vmin=x.min(), vmax=x.max())",
    "bar": "ax.bar(n, h)",
    "bar with widths and errors": "ax.bar(n, h, width=h / 8, bottom=n, yerr=h / 5)",
    "bar of colours": "ax.bar(n, h, color=rgb)",
    "barh": "ax.barh(n, h, left=n)",
    "stacked bars": "[ax.bar(n, h), ax.bar(n, h, bottom=h)]",
    "stem": "ax.stem(n, h)",
    "step": "ax.step(x, y, where='mid')",
    "stairs": "ax.stairs(h, xp.arange(7))",
    "fill": "ax.fill(x, y)",
    "fill_between": "ax.fill_between(x, y, y + 1, where=y > 0)",
    "fill_betweenx": "ax.fill_betweenx(x, y, 0)",
    "stackplot": "ax.stackplot(n, h, h * 2)",
    "errorbar": "ax.errorbar(n, h, yerr=h / 4, xerr=xp.full(6, 0.2))",
    "hist": "ax.hist(r, bins=15)",
    "hist of edges and weights": "ax.hist(r, bins=xp.linspace(-3, 3, 9), weights=abs(s), density=True)",
    "hist of two": "ax.hist([r, s], bins=10)",
    "lines of the axes": "(ax.plot(x, y), [line.set_ydata(y * 2) for line in ax.lines])",
    "hist of a matrix": "ax.hist(z, bins=5)",
    "stacked hist of a matrix": "ax.hist(z[:, :3], weights=abs(z[:, :3]), stacked=True, color=rgb[:3])",
    "boxplot of a matrix": "ax.boxplot(z[:, :5])",
    "violinplot of a matrix": "ax.violinplot(z[:, :5])",
    "limits, lines and texts of numbers": "[ax.set_xlim(x[0], x[9]), ax.axhline(y[3], lw=n[2]), ax.text(x[2], y[2], f'{x[2]:.2f}'), ax.set_aspect(h[0])]",
    "ticks of arrays": "[ax.set_xticks(x[:4]), ax.set_xticklabels(n[:4])]",
    "hist2d": "ax.hist2d(r, s, bins=8)",
    "hexbin": "ax.hexbin(r, s, gridsize=10)",
    "ecdf": "ax.ecdf(r)",
    "boxplot": "ax.boxplot([r, s])",
    "violinplot": "ax.violinplot([r, s])",
    "eventplot": "ax.eventplot([r, s])",
    "pie": "ax.pie(h)",
    "imshow": "ax.imshow(z)",
    "imshow of colours": "ax.imshow(xp.stack([abs(z), z * 0, z * 0 + 0.5], axis=-1))",
    "matshow": "ax.matshow(z)",
    "spy": "ax.spy(z > 0)",
    "pcolor": "ax.pcolor(z)",
    "pcolormesh": "ax.pcolormesh(x[:30], x[:20], z)",
    "contour": "ax.contour(z, levels=xp.linspace(-1, 1, 5))",
    "contourf": "ax.contourf(x[:30], x[:20], z)",
    "clabel": "ax.clabel(ax.contour(z))",
    "quiver": "ax.quiver(n, n, h, -h)",
    "barbs": "ax.barbs(n, n, h * 8, -h * 8)",
    "streamplot": "ax.streamplot(x[:20], x[:20], z[:, :20], z[:, :20].T)",
    "tricontourf": "ax.tricontourf(r[:30], s[:30], r[:30] * 2)",
    "tripcolor": "ax.tripcolor(r[:30], s[:30], r[:30] * 2)",
    "triplot": "ax.triplot(r[:30], s[:30])",
    "vlines": "ax.vlines(n, 0, h)",
    "hlines": "ax.hlines(n, 0, h, colors=rgb)",
    "axhline, axvline, axhspan": "[ax.axhline(h[0]), ax.axvline(h[1]), ax.axhspan(h[2], h[3])]",
    "broken_barh": "ax.broken_barh([(h[0], h[1])], (h[2], h[3]))",
    "loglog": "ax.loglog(x, abs(y) + 1)",
    "semilogx": "ax.semilogx(x, y)",
    "xcorr": "ax.xcorr(r, s)",
    "psd": "ax.psd(r, NFFT=64)",
    "specgram": "ax.specgram(r, NFFT=32, noverlap=8)",
    "magnitude_spectrum": "ax.magnitude_spectrum(r)",
    "limits and ticks": "[ax.set_xlim(h[0], h[3]), ax.set_ylim(h[5], h[3]), ax.set_xticks(n)][:1]",
    "text and annotate": "[ax.text(h[0] / 9, 0.5, 'a'), ax.annotate('b', (h[0] / 2, h[5]))]",
    "colorbar": "ax.figure.colorbar(ax.imshow(z))",
    "colour maps": "ax.scatter(n, h, c=plt.cm.viridis(h / h.max()))",
    "set_data": "ax.plot(n, h)[0].set_data(n, h * 2)",
    "set_array": "ax.imshow(z).set_data(z * 0.5)",
    "a label of a number": "ax.plot(n, h, label=f'{h.mean():.2f}') and ax.legend()",
    "polar": "ax.figure.add_subplot(projection='polar').plot(x, abs(y))",
    "surface": "ax.figure.add_subplot(projection='3d').plot_surface(*xp.meshgrid(n, n), xp.outer(h, h))",
    "wireframe": "ax.figure.add_subplot(projection='3d').plot_wireframe(*xp.meshgrid(n, n), xp.outer(h, h))",
    "scatter in space": "ax.figure.add_subplot(projection='3d').scatter(r, s, r + s)",
    "voxels": "ax.figure.add_subplot(projection='3d').voxels(cube)",
}


def drawn(expression, xp):
    """The picture's pixels."""
    fig = plt.figure(figsize=(2, 1.5), dpi=50)
    try:
        eval(expression, {"plt": plt, "ax": fig.add_subplot(), **data(xp)})
        fig.canvas.draw()
        return np.asarray(fig.canvas.buffer_rgba()).copy()
    finally:
        plt.close(fig)


@pytest.mark.parametrize("name", CALLS)
def test_pictures_are_the_same(name):
    want = drawn(CALLS[name], np)
    assert want.std() > 0
    np.testing.assert_array_equal(drawn(CALLS[name], la), want)


@pytest.mark.parametrize("plot", ["a.plot(x, y)", "a.scatter(x, y)"])
def test_units_of_derived_classes(plot):
    """Of a class that is in matplotlib's registry it asks the unit."""
    units = pytest.importorskip("matplotlib.units")
    labels = []
    for xp in (np, la):

        class Length(xp.ndarray):
            pass

        class Lengths(units.ConversionInterface):
            @staticmethod
            def axisinfo(unit, axis):
                return units.AxisInfo(label="in cm")

            @staticmethod
            def convert(value, unit, axis):
                return value

            @staticmethod
            def default_units(x, axis):
                return "cm"

        units.registry[Length] = Lengths()
        figure, a = plt.subplots()
        x = xp.arange(3.0).view(Length)
        eval(plot, {"a": a, "x": x, "y": [1, 2, 3]})
        figure.canvas.draw()
        labels.append(a.xaxis.get_label().get_text())
        plt.close(figure)
    assert labels[0] == labels[1] == "in cm"
