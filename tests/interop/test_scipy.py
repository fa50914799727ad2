"""SciPy: statistics, interpolation, signals, sparse and spatial arrays, images, integration, optimisation."""

import os
import subprocess
import sys

import numpy as np
import pytest

import lazyarray as la

from .calls import cases, same

scipy = pytest.importorskip("scipy", reason="scipy is not installed")
for _name in (
    "cluster.hierarchy cluster.vq fft integrate interpolate linalg ndimage optimize signal sparse "
    "sparse.csgraph sparse.linalg spatial spatial.transform special stats"
).split():
    pytest.importorskip(f"scipy.{_name}")

pytestmark = [pytest.mark.host, pytest.mark.filterwarnings("ignore")]


def data(xp):
    """Sample arrays of one library, by the names that the calls have for them."""
    rng = np.random.default_rng(0)
    return {
        "xp": xp,
        "scipy": scipy,
        "np": np,
        "v": xp.array(rng.standard_normal(50)),
        "w": xp.array(rng.random(50)),
        "t": xp.linspace(0, 5, 50),
        "m": xp.array(rng.standard_normal((6, 4))),
        "q": xp.array(rng.standard_normal((4, 4)) + 4 * np.eye(4)),
        "im": xp.array(rng.random((12, 12))),
        "p": xp.array(rng.random((20, 2))),
        "i": xp.array(rng.integers(0, 4, 50)),
        "row": xp.array([0, 1, 2]),
        "col": xp.array([1, 2, 0]),
        "val": xp.array([1.0, 2.0, 3.0]),
        "b": xp.ones(4),
    }


CALLS = {
    "stats.ttest_ind": "scipy.stats.ttest_ind(v, w)",
    "stats.pearsonr": "scipy.stats.pearsonr(v, w)",
    "stats.norm.pdf": "scipy.stats.norm.pdf(v)",
    "stats.norm.fit": "scipy.stats.norm.fit(v)",
    "stats.describe": "scipy.stats.describe(v)",
    "stats.zscore": "scipy.stats.zscore(v)",
    "stats.linregress": "scipy.stats.linregress(v, w)",
    "stats.gaussian_kde": "scipy.stats.gaussian_kde(v)(t)",
    "stats.ks": "scipy.stats.kstest(v, 'norm')",
    "stats.mode": "scipy.stats.mode(i)",
    "stats.spearmanr": "scipy.stats.spearmanr(v, w)",
    "stats.entropy": "scipy.stats.entropy(w)",
    "stats.rankdata": "scipy.stats.rankdata(v)",
    "stats.norm(loc)": "scipy.stats.norm(v.mean(), v.std()).cdf(t)",
    "stats.rvs": "scipy.stats.norm.rvs(loc=v.mean(), scale=w.mean(), size=5, random_state=0)",
    "stats.iqr": "scipy.stats.iqr(v)",
    "stats.skew": "scipy.stats.skew(v)",
    "stats.multivariate": "scipy.stats.multivariate_normal(b*0, xp.eye(4)).pdf(m)",
    "stats.bootstrap": "scipy.stats.bootstrap((v,), np.mean, n_resamples=20, rng=0).confidence_interval",
    "stats.f_oneway": "scipy.stats.f_oneway(v,w)",
    "stats.chisquare": "scipy.stats.chisquare(xp.array([10.,12.,8.]))",
    "stats.mannwhitneyu": "scipy.stats.mannwhitneyu(v,w)",
    "stats.binned": "scipy.stats.binned_statistic(v,w,bins=4).statistic",
    "interp.interp1d": "scipy.interpolate.interp1d(t, v)(t[1:9] - 0.01)",
    "interp.CubicSpline": "scipy.interpolate.CubicSpline(t, v)(t + 0.01)",
    "interp.splrep": "scipy.interpolate.splev(t, scipy.interpolate.splrep(t, v))",
    "interp.griddata": "scipy.interpolate.griddata(p, p[:, 0], p[:5] + 0.001)",
    "interp.RBF": "scipy.interpolate.RBFInterpolator(p, p[:, 0])(p[:5])",
    "interp.Regular": "scipy.interpolate.RegularGridInterpolator((t[:12], t[:12]), im)(p[:4] + 0.2)",
    "interp.Univariate": "scipy.interpolate.UnivariateSpline(t, v)(t)",
    "interp.pchip": "scipy.interpolate.PchipInterpolator(t, v)(t[3])",
    "interp.make": "scipy.interpolate.make_interp_spline(t, v)(t)",
    "signal.convolve": "scipy.signal.convolve(v, w[:5])",
    "signal.fftconvolve": "scipy.signal.fftconvolve(v, w[:5])",
    "signal.butter filtfilt": "scipy.signal.filtfilt(*scipy.signal.butter(2, 0.2), v)",
    "signal.lfilter": "scipy.signal.lfilter(xp.array([1.0, 2.0]), xp.array([1.0]), v)",
    "signal.StateSpace * array": "(scipy.signal.StateSpace(q, q, q, q) * q).B",
    "array - signal.StateSpace": "(q - scipy.signal.StateSpace(q, q, q, q)).D",
    "signal.welch": "scipy.signal.welch(v, nperseg=16)",
    "signal.find_peaks": "scipy.signal.find_peaks(v, height=v.mean())[0]",
    "signal.savgol": "scipy.signal.savgol_filter(v, 5, 2)",
    "signal.stft": "scipy.signal.stft(v, nperseg=16)",
    "signal.spectrogram": "scipy.signal.spectrogram(v, nperseg=16)",
    "signal.resample": "scipy.signal.resample(v, 20)",
    "signal.detrend": "scipy.signal.detrend(v)",
    "signal.hilbert": "scipy.signal.hilbert(v)",
    "signal.medfilt": "scipy.signal.medfilt(v)",
    "signal.correlate2d": "scipy.signal.correlate2d(im, im[:3, :3])",
    "signal.decimate": "scipy.signal.decimate(v, 2)",
    "signal.sosfilt": "scipy.signal.sosfilt(scipy.signal.butter(2, 0.3, output='sos'), v)",
    "signal.argrelmax": "scipy.signal.argrelmax(v)",
    "signal.periodogram": "scipy.signal.periodogram(v)",
    "sparse.csr": "scipy.sparse.csr_matrix(m).toarray()",
    "sparse.csr_array": "scipy.sparse.csr_array(m).toarray()",
    "sparse.coo": "scipy.sparse.coo_matrix((val, (row, col)), shape=(3, 3)).toarray()",
    "sparse.csr triple": "scipy.sparse.csr_matrix((val, col, xp.array([0, 1, 2, 3])), shape=(3, 3)).toarray()",
    "sparse @": "scipy.sparse.csr_matrix(q) @ b",
    "sparse rmatmul": "b @ scipy.sparse.csr_array(q)",
    "sparse @ matrix": "scipy.sparse.csr_array(q) @ q",
    "sparse dot": "scipy.sparse.csr_array(q).dot(b)",
    "sparse scale": "(scipy.sparse.csr_array(q) * b.mean()).toarray()",
    "sparse scale left": "(b.mean() * scipy.sparse.csr_array(q)).toarray()",
    "sparse index": "scipy.sparse.csr_array(q)[row].toarray()",
    "sparse item": "scipy.sparse.csr_array(q)[row[1], col[1]]",
    "sparse multiply": "scipy.sparse.csr_array(q).multiply(b).toarray()",
    "sparse add dense": "scipy.sparse.csr_array(q) + q",
    "dense add sparse": "q + scipy.sparse.csr_array(q)",
    "sparse spsolve": "scipy.sparse.linalg.spsolve(scipy.sparse.csc_matrix(q), b)",
    "sparse cg": "scipy.sparse.linalg.cg(scipy.sparse.csr_array(q @ q.T), b)",
    "sparse eigsh": "abs(scipy.sparse.linalg.eigsh(q @ q.T, k=2, v0=b)[0])",
    "sparse diags": "scipy.sparse.diags([v, v[:-1]], [0, 1]).toarray()",
    "sparse lsqr": "scipy.sparse.linalg.lsqr(q, b)[0]",
    "LinearOperator": "scipy.sparse.linalg.gmres(scipy.sparse.linalg.LinearOperator((4, 4), matvec=lambda z: q @ z), b)[0]",
    "sparse mask": "scipy.sparse.csr_array(q)[q > 1]",
    "sparse sum": "scipy.sparse.csr_array(q).sum(axis=0)",
    "sparse lil set": "(lambda a: (a.__setitem__((0, slice(None)), b), a.toarray())[1])(scipy.sparse.lil_array((4, 4)))",
    "spatial.cdist": "scipy.spatial.distance.cdist(p, p)",
    "spatial.pdist": "scipy.spatial.distance.pdist(p)",
    "spatial.KDTree": "scipy.spatial.KDTree(p).query(p[:3], k=2)",
    "spatial.cKDTree ball": "scipy.spatial.cKDTree(p).query_ball_point(p[0], 0.3)",
    "spatial.ConvexHull": "scipy.spatial.ConvexHull(p).vertices",
    "spatial.Delaunay": "scipy.spatial.Delaunay(p).simplices",
    "spatial.Voronoi": "scipy.spatial.Voronoi(p).vertices",
    "spatial.Rotation": "scipy.spatial.transform.Rotation.from_rotvec(v[:3]).apply(m[:, :3])",
    "spatial.euclid": "scipy.spatial.distance.euclidean(v, w)",
    "spatial.cosine": "scipy.spatial.distance.cosine(v, w)",
    "spatial.procrustes": "scipy.spatial.procrustes(p, p * 2 + 1)[2] < 1e-9",
    "ndimage.gaussian": "scipy.ndimage.gaussian_filter(im, 1)",
    "ndimage.label": "scipy.ndimage.label(im > 0.5)",
    "ndimage.zoom": "scipy.ndimage.zoom(im, 2)",
    "ndimage.rotate": "scipy.ndimage.rotate(im, 30)",
    "ndimage.sobel": "scipy.ndimage.sobel(im)",
    "ndimage.median": "scipy.ndimage.median_filter(im, 3)",
    "ndimage.convolve": "scipy.ndimage.convolve(im, im[:3, :3])",
    "ndimage.map_coordinates": "scipy.ndimage.map_coordinates(im, xp.array([[1.5, 2.5], [3.5, 4.5]]))",
    "ndimage.binary": "scipy.ndimage.binary_dilation(im > 0.7)",
    "ndimage.distance": "scipy.ndimage.distance_transform_edt(im > 0.3)",
    "ndimage.center": "scipy.ndimage.center_of_mass(im)",
    "ndimage.sum": "scipy.ndimage.sum(im, im > 0.5, 1)",
    "ndimage.uniform": "scipy.ndimage.uniform_filter(im, 3)",
    "ndimage.shift": "scipy.ndimage.shift(im, v[:2])",
    "ndimage.generic": "scipy.ndimage.generic_filter(im, lambda a: float(xp.max(xp.asarray(a))), 2)",
    "ndimage.out": "scipy.ndimage.gaussian_filter(im, 1, output=np.zeros((12, 12)))",
    "ndimage.affine": "scipy.ndimage.affine_transform(im, xp.eye(2)*1.1)",
    "ndimage.find_objects": "scipy.ndimage.find_objects((im>0.9).astype(int))",
    "integrate.odeint": "scipy.integrate.odeint(lambda y, s: -y * xp.asarray(y), b, t[:5])",
    "integrate.odeint ours": "scipy.integrate.odeint(lambda y, s: xp.array([y[1], -y[0]]), xp.array([1.0, 0.0]), t)",
    "integrate.solve_ivp": "scipy.integrate.solve_ivp(lambda s, y: -q @ y, (0, 1), b, t_eval=t[:5]).y",
    "integrate.solve_ivp ours": "scipy.integrate.solve_ivp(lambda s, y: xp.stack([y[1], -xp.sin(y[0])]), (0.0, 2.0), [1.0, 0.0]).y",
    "integrate.quad": "scipy.integrate.quad(lambda s: xp.exp(-s * s), 0, 1)",
    "integrate.trapezoid": "scipy.integrate.trapezoid(v, t)",
    "integrate.simpson": "scipy.integrate.simpson(v, x=t)",
    "integrate.cumulative": "scipy.integrate.cumulative_trapezoid(v, t)",
    "integrate.dblquad": "scipy.integrate.dblquad(lambda a, c: xp.cos(xp.asarray(a * c)), 0, 1, 0, 1)",
    "integrate.BDF": "scipy.integrate.solve_ivp(lambda s, y: -q @ y, (0, 1), b, method='BDF', jac=lambda s, y: -q).y",
    "integrate.quad_vec": "scipy.integrate.quad_vec(lambda s: xp.array([s, s * s]), 0, 1)[0]",
    "solve_ivp events": "scipy.integrate.solve_ivp(lambda s, y: -y, (0, 3), b, events=lambda s, y: xp.asarray(y)[0] - 0.5).t_events",
    "opt.minimize BFGS": "scipy.optimize.minimize(lambda z: xp.sum((xp.asarray(z) - 1) ** 2), b * 0).x.round(5)",
    "opt.minimize L-BFGS-B jac": "scipy.optimize.minimize(lambda z: xp.sum((xp.asarray(z) - 1) ** 2), b * 0, jac=lambda z: 2 * (xp.asarray(z) - 1), method='L-BFGS-B').x",
    "opt.minimize jac True": "scipy.optimize.minimize(lambda z: (xp.sum((xp.asarray(z) - 1) ** 2), 2 * (xp.asarray(z) - 1)), b * 0, jac=True, method='L-BFGS-B').x",
    "opt.CG": "scipy.optimize.minimize(lambda z: (xp.sum((xp.asarray(z) - 1) ** 2), 2 * (xp.asarray(z) - 1)), b * 0, jac=True, method='CG').x",
    "opt.Newton-CG": "scipy.optimize.minimize(lambda z: xp.sum((xp.asarray(z) - 1) ** 2), b * 0, jac=lambda z: 2 * (xp.asarray(z) - 1), hess=lambda z: 2 * xp.eye(4), method='Newton-CG').x",
    "opt.trust-exact": "scipy.optimize.minimize(lambda z: xp.sum((xp.asarray(z) - 1) ** 2), b * 0, jac=lambda z: 2 * (xp.asarray(z) - 1), hess=lambda z: 2 * xp.eye(4), method='trust-exact').x",
    "opt.Nelder-Mead": "scipy.optimize.minimize(lambda z: xp.sum((xp.asarray(z) - 1) ** 2), b * 0, method='Nelder-Mead').x",
    "opt.SLSQP": "scipy.optimize.minimize(lambda z: xp.sum((xp.asarray(z) - 1) ** 2), b * 0, method='SLSQP', bounds=xp.stack([b * 0, b * 0.5], axis=1), constraints={'type': 'ineq', 'fun': lambda z: xp.sum(xp.asarray(z))}).x",
    "opt.trust-constr": "scipy.optimize.minimize(lambda z: xp.sum((xp.asarray(z) - 1) ** 2), b * 0, method='trust-constr', jac=lambda z: 2 * (xp.asarray(z) - 1)).x.round(4)",
    "opt.Powell": "scipy.optimize.minimize(lambda z: xp.sum((xp.asarray(z) - 1) ** 2), b * 0, method='Powell').x",
    "opt.COBYLA": "scipy.optimize.minimize(lambda z: xp.sum((xp.asarray(z) - 1) ** 2), b * 0, method='COBYLA').x",
    "opt.TNC": "scipy.optimize.minimize(lambda z: (xp.sum((xp.asarray(z) - 1) ** 2), 2 * (xp.asarray(z) - 1)), b * 0, jac=True, method='TNC').x",
    "opt.root": "scipy.optimize.root(lambda z: q @ xp.asarray(z) - b, b * 0).x",
    "opt.fsolve": "scipy.optimize.fsolve(lambda z: q @ z - b, b * 0)",
    "opt.curve_fit": "scipy.optimize.curve_fit(lambda s, a, c: a * xp.exp(-c * s), t, w)[0].round(6)",
    "opt.least_squares": "scipy.optimize.least_squares(lambda z: q @ z - b, b * 0).x",
    "opt.leastsq": "scipy.optimize.leastsq(lambda z: q @ z - b, b * 0)[0]",
    "opt.brentq": "scipy.optimize.brentq(lambda s: xp.cos(s), 0.0, 3.0)",
    "opt.newton": "scipy.optimize.newton(lambda s: s * s - xp.asarray(2.0), 1.0)",
    "opt.minimize_scalar": "scipy.optimize.minimize_scalar(lambda s: (s - v.mean()) ** 2).x",
    "opt.linprog": "scipy.optimize.linprog(b, A_ub=-q, b_ub=-b).x",
    "opt.nnls": "scipy.optimize.nnls(q, b)[0]",
    "opt.linear_sum_assignment": "scipy.optimize.linear_sum_assignment(q)",
    "opt.differential_evolution": "scipy.optimize.differential_evolution(lambda z: xp.sum(xp.asarray(z) ** 2), [(-1, 1)] * 2, rng=0, maxiter=5).x",
    "opt.approx_fprime": "scipy.optimize.approx_fprime(b, lambda z: xp.sum(xp.asarray(z) ** 2))",
    "opt.basinhopping": "scipy.optimize.basinhopping(lambda z: xp.sum(xp.asarray(z) ** 2), b, niter=2, rng=0).x.round(4)",
    "opt.callback": "scipy.optimize.minimize(lambda z: xp.sum(xp.asarray(z)**2), b, callback=lambda z: None).nit",
    "opt.dual_annealing": "scipy.optimize.dual_annealing(lambda z: xp.sum(xp.asarray(z)**2), [(-1,1)]*2, rng=0, maxiter=5).x",
    "linalg.solve": "scipy.linalg.solve(q, b)",
    "linalg.inv": "scipy.linalg.inv(q)",
    "linalg.svd": "scipy.linalg.svd(m)",
    "linalg.lu": "scipy.linalg.lu(q)",
    "linalg.expm": "scipy.linalg.expm(q)",
    "linalg.cho": "scipy.linalg.cho_solve(scipy.linalg.cho_factor(q @ q.T), b)",
    "linalg.eigh": "scipy.linalg.eigh(q + q.T)",
    "linalg.qr": "scipy.linalg.qr(m)",
    "linalg.block_diag": "scipy.linalg.block_diag(q, m)",
    "linalg.toeplitz": "scipy.linalg.toeplitz(b)",
    "linalg.det": "scipy.linalg.det(q)",
    "linalg.norm": "scipy.linalg.norm(q)",
    "linalg.lstsq": "scipy.linalg.lstsq(m, xp.ones(6))[0]",
    "linalg.solve_triangular": "scipy.linalg.solve_triangular(xp.triu(q), b)",
    "linalg.eig": "scipy.linalg.eigvals(q)",
    "linalg.pinv": "scipy.linalg.pinv(m)",
    "linalg.blas": "scipy.linalg.blas.dgemm(1.0, q, q)",
    "linalg.sqrtm": "scipy.linalg.sqrtm(q @ q.T)",
    "linalg.null_space": "scipy.linalg.null_space(m.T)",
    "linalg.overwrite": "scipy.linalg.solve(q.copy(), b.copy(), overwrite_a=True)",
    "fft.fft": "scipy.fft.fft(v)",
    "fft.dct": "scipy.fft.dct(v)",
    "fft.rfft2": "scipy.fft.rfft2(im)",
    "special.expit": "scipy.special.expit(v)",
    "special.gammaln": "scipy.special.gammaln(w + 1)",
    "special.logsumexp": "scipy.special.logsumexp(v)",
    "special.softmax": "scipy.special.softmax(v)",
    "special.erf scalar": "scipy.special.erf(v[0])",
    "special.comb": "scipy.special.comb(i, 2)",
    "special.binom": "scipy.special.binom(5, i)",
    "cluster.kmeans2": "scipy.cluster.vq.kmeans2(p, p[:3].copy(), minit='matrix')",
    "cluster.linkage": "scipy.cluster.hierarchy.linkage(p)",
    "cluster.fcluster": "scipy.cluster.hierarchy.fcluster(scipy.cluster.hierarchy.linkage(p), 3, 'maxclust')",
    "cluster.whiten": "scipy.cluster.vq.whiten(p)",
    "csgraph": "scipy.sparse.csgraph.shortest_path(abs(q))",
    "mst": "scipy.sparse.csgraph.minimum_spanning_tree(abs(q)).toarray()",
    "components": "scipy.sparse.csgraph.connected_components(q > 3)",
    # What a user's function gives is ours.
    "optimize.least_squares(jac)": "scipy.optimize.least_squares(lambda z: z[0] * t - 2 * t, xp.zeros(1), "
    "jac=lambda z: t[:, None]).x",
    "optimize.least_squares(lm)": "scipy.optimize.least_squares(lambda z: z[0] * t + z[1] - v, xp.zeros(2), "
    "jac=lambda z: xp.stack([t, xp.ones(50)], 1), method='lm').x",
    "stats.bootstrap(ours)": "scipy.stats.bootstrap((v,), xp.mean, rng=1, n_resamples=30).standard_error",
    "stats.bootstrap(percentile)": "scipy.stats.bootstrap((v,), lambda a, axis: xp.median(a, axis=axis), rng=1, "
    "n_resamples=30, method='percentile').confidence_interval.low",
    "stats.permutation_test": "scipy.stats.permutation_test((v, w), lambda a, c, axis: xp.mean(a, axis=axis) - "
    "xp.mean(c, axis=axis), vectorized=True, rng=1, n_resamples=30).pvalue",
    "linalg.funm": "scipy.linalg.funm(q, xp.exp)",
    "linalg.funm(lambda)": "scipy.linalg.funm(q, lambda z: xp.sin(z))",
}
FAILS: dict[str, str] = {}


@pytest.mark.parametrize("name", cases(CALLS, FAILS))
def test_calls(name):
    same(eval(CALLS[name], data(la)), eval(CALLS[name], data(np)))


def test_ufuncs_stay_lazy():
    x = la.ones(3)
    with la.no_sync():
        y = scipy.special.expit(x)
    assert type(y) is la.NDArray


@pytest.mark.parametrize("method", ["L-BFGS-B", "BFGS", "CG", "TNC"])
def test_gradients_of_ours(method):
    target = la.arange(5.0)

    def loss(z):
        x = la.array(z)
        x.attach_grad()
        with la.autograd.record():
            y = ((x - target) ** 2).sum()
        y.backward()
        return y, x.grad

    found = scipy.optimize.minimize(loss, la.zeros(5), jac=True, method=method)
    assert found.success and type(found.x) is np.ndarray
    np.testing.assert_allclose(found.x, np.arange(5.0), atol=1e-4)


@pytest.mark.parametrize("wanted", ["1", "0"])
def test_other_libraries_can_be_left_as_they_are(wanted):
    code = "import lazyarray, scipy.sparse.linalg as s; print(hasattr(s.cg, '__lazyarray__'))"
    env = {**os.environ, "LAZYARRAY_ADAPT": wanted}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout.strip() == str(wanted == "1"), done.stderr


IM = np.random.default_rng(1).random((12, 12))


@pytest.mark.parametrize(
    ("write", "start"),
    [
        (lambda f, x, o: f.gaussian_filter(x, 1, output=o), IM * 0),
        (lambda f, x, o: f.gaussian_filter(x, 1, output=o), (IM * 0).astype("f4")[::-1]),
        (lambda f, x, o: f.zoom(x, 2, output=o), np.zeros((24, 24))),
        (lambda f, x, o: f.label(x > 0.5, output=o), np.zeros((12, 12), "i4")),
        (lambda f, x, o: f.binary_dilation(x > 0.7, output=o), np.zeros((12, 12), bool)),
        (
            lambda f, x, o: f.distance_transform_edt(x > 0.2, return_indices=True, indices=o),
            np.zeros((2, 12, 12), "i4"),
        ),
    ],
)
def test_filters_write_to_their_output(write, start):
    """They ask whether it is one of NumPy's arrays: any other would be left as it was."""
    from scipy import ndimage

    want = start.copy()
    write(ndimage, IM, want)
    whole = la.array(np.ascontiguousarray(start[::-1]) if start.strides[0] < 0 else start)
    out = whole[::-1] if start.strides[0] < 0 else whole
    out *= True  # not there yet
    write(ndimage, la.array(IM), out)
    np.testing.assert_array_equal(out.asnumpy(), want)
    assert (out + 1).asnumpy().dtype == (want + 1).dtype


def test_distances_are_written():
    from scipy.spatial import distance

    out = la.zeros((12, 12))
    distance.cdist(la.array(IM), la.array(IM), out=out)
    np.testing.assert_allclose(out.asnumpy(), distance.cdist(IM, IM))


def test_functions_that_ask_for_numpys_arrays():
    from scipy import signal
    from scipy.linalg import interpolative

    x = np.sin(np.linspace(0, 30, 200))
    for height in (np.linspace(0, 1, 200), (np.zeros(200), np.ones(200))):
        ours = la.array(height) if isinstance(height, np.ndarray) else tuple(map(la.array, height))
        assert (
            signal.find_peaks(la.array(x), height=ours)[0].tolist()
            == signal.find_peaks(x, height=height)[0].tolist()
        )
    assert interpolative.interp_decomp(la.array(IM), 1e-10)[0] == 12
    from scipy import stats

    assert stats.multiscale_graphcorr(la.array(IM), la.array(IM), reps=2, random_state=1)[0] == 1


@pytest.mark.parametrize("kind", "coo csr csc bsr dia".split())
def test_sparse_arrays_keep_numpys(kind):
    """SciPy makes arrays like its own ones, which its C++ writes to: of ours that would be a copy."""
    from scipy import sparse

    full = np.arange(16.0).reshape(4, 4) * (np.eye(4) + np.eye(4, k=1))
    ours, theirs = sparse.csr_array(full).asformat(kind), sparse.csr_array(full).asformat(kind)
    ours.data, theirs.data = la.array(theirs.data) * 3, theirs.data * 3
    assert type(ours.data) is np.ndarray
    for to in "coo csr csc bsr dia lil dok".split():
        np.testing.assert_array_equal(ours.asformat(to).toarray(), theirs.asformat(to).toarray())


def test_sparse_factors_solve_for_ours():
    from scipy.sparse import csc_array, linalg

    a, b = csc_array([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]]), np.array([1.0, 2, 3])
    for factors in (linalg.splu, linalg.spilu):
        np.testing.assert_allclose(factors(a).solve(la.array(b)), factors(a).solve(b))
        assert factors(a).shape == (3, 3)
    np.testing.assert_allclose(linalg.factorized(a)(la.array(b)), linalg.factorized(a)(b))


@pytest.mark.parametrize("kind", "csr csc coo bsr dia dok lil".split())
@pytest.mark.parametrize("make", ["csr_array", "csr_matrix"])
def test_dense_results_are_written_to_out(kind, make):
    plain = np.array([[0, 2.0, 0], [1, 0, 3]])
    x = getattr(scipy.sparse, make)(plain).asformat(kind)
    for method in ("toarray", "todense"):
        out = la.zeros((2, 3))
        found = getattr(x, method)(out=out)
        np.testing.assert_array_equal(out.asnumpy(), plain)
        np.testing.assert_array_equal(np.asarray(found), plain)
    assert type(x.toarray()) is np.ndarray
