"""Generators of random numbers given to other libraries: the same stream goes on there."""

import subprocess
import sys

import numpy as np
import pytest

import lazyarray as la

X = np.random.RandomState(1).rand(30, 2)


def same(use, make):
    """What the use gives with NumPy's generator it gives with ours, and the stream goes on."""
    theirs, ours = make(np), make(la)
    for _ in range(2):
        want = [np.asarray(use(theirs)), theirs.uniform(size=3)]
        got = [np.asarray(use(ours)), np.asarray(ours.uniform(size=3))]
        for a, b in zip(want, got, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("size", [1, 5000])
def test_numpys_own(size):
    for make in (lambda xp: xp.random.default_rng(3), lambda xp: xp.random.RandomState(3)):
        same(lambda rng: np.random.default_rng(rng).random(size), make)
    same(
        lambda rng: np.random.Generator(rng.bit_generator).random(size),
        lambda xp: xp.random.default_rng(3),
    )


def test_scipy():
    stats = pytest.importorskip("scipy.stats")
    optimize = pytest.importorskip("scipy.optimize")
    linalg = pytest.importorskip("scipy.sparse.linalg")
    for make in (lambda xp: xp.random.default_rng(3), lambda xp: xp.random.RandomState(3)):
        same(lambda rng: stats.norm.rvs(size=3, random_state=rng), make)
        same(lambda rng: stats.ortho_group.rvs(3, random_state=rng), make)
        same(
            lambda rng: (
                optimize.differential_evolution(
                    lambda p: (p**2).sum(), [(-1, 1)], maxiter=2, seed=rng
                ).x
            ),
            make,
        )
        for make_points in (stats.qmc.Halton, stats.qmc.PoissonDisk):
            same(lambda rng, points=make_points: points(2, seed=rng).random(4), make)
        same(lambda rng: stats.qmc.MultivariateNormalQMC([0, 1], seed=rng).random(4), make)
        same(lambda rng: stats.qmc.MultinomialQMC([0.2, 0.8], 4, seed=rng).random(4), make)
        same(lambda rng: linalg.svds(X, 1, random_state=rng)[1], make)
    newer = lambda xp: xp.random.default_rng(3)  # noqa: E731
    same(lambda rng: stats.qmc.Sobol(2, rng=rng).random(4), newer)
    same(
        lambda rng: (
            stats.bootstrap((X[:, 0],), np.mean, n_resamples=9, rng=rng).confidence_interval.low
        ),
        newer,
    )
    assert stats.norm.rvs(size=2, random_state=la.random).shape == (2,)


def test_sklearn():
    pytest.importorskip("sklearn")
    from sklearn.cluster import KMeans
    from sklearn.datasets import make_blobs
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import train_test_split

    def older(xp):
        return xp.random.RandomState(3)

    same(lambda rng: make_blobs(9, random_state=rng)[0], older)
    same(lambda rng: train_test_split(X, random_state=rng)[0], older)
    same(lambda rng: KMeans(2, random_state=rng).fit(X).cluster_centers_, older)
    same(
        lambda rng: (
            RandomForestClassifier(3, random_state=rng).fit(X, X[:, 0] > 0.5).predict_proba(X)
        ),
        older,
    )


def test_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X)
    for make in (lambda xp: xp.random.default_rng(3), lambda xp: xp.random.RandomState(3)):
        same(lambda rng: frame.sample(4, random_state=rng).to_numpy(), make)


def same_streams(use, size=3):
    """What a seeded program draws, and what a library draws in between from NumPy's own stream."""

    def program(xp):
        parts = []
        xp.random.seed(7)
        for _ in range(2):
            parts += [xp.random.normal(size=size), use(), xp.random.rand(), xp.random.normal()]
        state = xp.random.get_state()
        parts += [use(), xp.random.normal(size=size)]
        xp.random.seed(8)
        parts += [use(), xp.random.randint(9, size=size)]
        xp.random.set_state(state)
        return [np.asarray(part) for part in (*parts, xp.random.normal(), use())]

    for a, b in zip(program(np), program(la), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("size", [3, 5000])  # at once, and by an op
def test_numpys_own_stream_goes_on_from_ours(size):
    stats = pytest.importorskip("scipy.stats")
    same_streams(lambda: stats.norm.rvs(size=2), size)
    same_streams(lambda: stats.norm(1, 2).rvs(), size)
    same_streams(lambda: stats.multivariate_normal([0, 0]).rvs(), size)
    same_streams(lambda: stats.gaussian_kde(X[:, 0]).resample(2), size)
    selection = pytest.importorskip("sklearn.model_selection")
    datasets = pytest.importorskip("sklearn.datasets")
    same_streams(lambda: selection.train_test_split(X)[0], size)
    same_streams(lambda: datasets.make_blobs(9)[0], size)
    frame = pytest.importorskip("pandas").DataFrame(X)
    same_streams(lambda: frame.sample(4).to_numpy(), size)


def test_numpys_own_stream_that_somebody_drew_from_stays_apart():
    stats = pytest.importorskip("scipy.stats")
    la.random.seed(7)
    np.random.set_state(np.random.RandomState(8).get_state())
    assert stats.norm.rvs() == np.random.RandomState(8).normal()
    assert float(la.random.normal()) == np.random.RandomState(7).normal()


def test_a_library_that_seeds_for_the_program():
    """Ours stayed what it was: what a program drew after a library's ``set_seed(8)`` was others."""
    stats = pytest.importorskip("scipy.stats")
    la.random.seed(7)
    la.random.normal(size=3)
    np.random.seed(8)
    own = np.random.RandomState(8)
    want = [own.normal(), own.normal(), own.rand()]
    assert [float(la.random.normal()), stats.norm.rvs(), float(la.random.rand())] == want
    np.random.seed([1, 2])
    drawn = la.random.normal(size=5000)
    assert drawn.tolist() == np.random.RandomState([1, 2]).normal(size=5000).tolist()
    assert np.random.rand() == np.random.RandomState([1, 2]).rand()  # NumPy's own is as it was
    with pytest.raises(ValueError, match="between 0 and"):
        np.random.seed(-1)


def test_a_library_that_seeds_before_the_program_draws():
    code = """if True:
        import lazyarray as la, sys
        import numpy.random
        numpy.random.seed(3)
        assert float(la.random.rand()) == numpy.random.RandomState(3).rand()
    """
    subprocess.run([sys.executable, "-c", code], check=True, timeout=100)


def test_scalars_that_say_how_many():
    """NumPy takes one for a shape where several numbers are one draw: it was an IndexError."""
    stats = pytest.importorskip("scipy.stats")
    found = []
    for xp in (np, la):
        xp.random.seed(4)
        n = xp.array([2, 3])[1]
        plane = stats.multivariate_normal([0, 0], xp.eye(2))
        found.append([plane.rvs(n).tolist(), stats.dirichlet.rvs([1, 2], n).tolist()])
        found[-1].append(stats.multivariate_normal.rvs([0, 1], size=n).tolist())
    assert found[0] == found[1]


def test_libraries_that_were_imported_before():
    pytest.importorskip("sklearn")
    code = """if True:
        import numpy as np, scipy.optimize, scipy.stats, sklearn.datasets, lazyarray as la
        for make in (lambda xp: xp.random.default_rng(3), lambda xp: xp.random.RandomState(3)):
            got, want = (scipy.stats.norm.rvs(size=3, random_state=make(xp)) for xp in (la, np))
            assert got.tolist() == want.tolist()
        got, want = (
            sklearn.datasets.make_blobs(9, random_state=xp.random.RandomState(3))[0]
            for xp in (la, np)
        )
        assert got.tolist() == want.tolist()
    """
    subprocess.run([sys.executable, "-c", code], check=True, timeout=250)
