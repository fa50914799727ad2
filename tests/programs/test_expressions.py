"""Single expressions as they stand in programs: functions and methods, arrays among Python's own.

In each, ``x`` is a vector of ints, ``m`` a matrix, ``f`` floats, ``q`` a square matrix, and ``n``
an element of an array (3), where NumPy has a number.
"""

import importlib
import warnings

import numpy as np
import pytest

import lazyarray as la

from ..numpys import OLDER, has
from .compare import same

MODULES = "bisect collections functools heapq itertools json math operator random".split()

# ---- an element of an array where a number is expected -----------------------------------------

LENGTHS_AND_AXES = r"""
np.zeros(n); np.zeros((n, n)); np.ones([n, 2]); np.full((n,), 1.5); np.empty(n).shape;
np.eye(n, k=n-1); np.arange(n); np.arange(0, n, 1); np.arange(n, 2*n); np.arange(0, 1, 1/n);
np.linspace(0, 1, n); np.linspace(0, n, 5); np.logspace(0, n, 4); np.geomspace(1, n, 4);
np.tile(x, n); np.tile(x, (n, 1)); np.tile(x, [n, n]); np.repeat(x, n);
np.repeat(m, n, axis=0); np.roll(x, n); np.roll(m, (n, 1), axis=(0, 1)); np.split(x, n);
np.array_split(x, n); np.split(x, [n, 4]); np.array_split(x, [n]); np.hsplit(m, n-1);
np.pad(x, n); np.pad(m, ((n, 0), (0, n))); np.pad(x, (n, 1), constant_values=n);
np.reshape(x, (n, -1)); x.reshape(n, 2); x.reshape(-1, n); x.reshape((n, 2));
np.resize(x, (n, 3)); np.resize(x, n); np.indices((n, 2)); np.unravel_index(n, (3, 4));
np.unravel_index(5, (n, 4)); np.ravel_multi_index((1, 2), (n, 4));
np.ravel_multi_index((n-1, n-1), (3, 4)); np.diag(x, n); np.diag(m, n-2); np.tri(n);
np.tril(m, n-3); np.triu(m, k=n-3); np.diagonal(m, n-2); np.trace(m, n-2); np.vander(x, n);
np.identity(n); np.bincount(x, minlength=n); np.histogram(f, n);
np.histogram(f, bins=n, range=(0, n)); np.digitize(n, [1, 2, 3, 4]); np.sum(m, axis=n-3);
m.sum(n-2); m.mean(axis=n-3); np.cumsum(m, axis=n-2); np.sort(m, axis=n-2); np.argsort(m, n-3);
np.concatenate([m, m], axis=n-2); np.stack([x, x], axis=n-2); np.take(x, n);
np.take(m, n-2, axis=n-2); np.insert(x, n, 7); np.delete(x, n); np.delete(x, slice(n));
np.insert(m, n-1, n, axis=0); np.partition(x, n); np.argpartition(x, n)[n]; np.diff(x, n);
np.diff(x, n=n-1); np.rot90(m, n); np.flip(m, n-3); np.swapaxes(m, 0, n-2);
np.moveaxis(m, n-3, 1); np.expand_dims(x, n-3); np.squeeze(x[None], n-3);
np.linalg.matrix_power(q, n); np.linalg.norm(m, axis=n-3); np.linalg.norm(f, n);
np.linalg.norm(f, ord=n-2); np.fft.fft(f, n); np.fft.rfft(f, n=n); np.fft.fftfreq(n);
np.fft.fftfreq(n, 1/n); np.fft.rfftfreq(n, d=n); np.fft.fftshift(f, n-3);
np.fft.fft2(m, (n, n)); np.hanning(n); np.hamming(n); np.kaiser(n, n); np.bartlett(n);
np.blackman(n); np.polyfit(f, f, n-2); np.polyder([1, 2, 3, 4], n-1); np.polyint([1, 2], n-2);
np.triu_indices(n); np.tril_indices(n, n-3); np.diag_indices(n); np.mask_indices(n, np.triu);
list(np.ndindex(n, n-1)); np.percentile(f, n); np.quantile(f, n/4); np.clip(x, 1, n);
np.round(f, n); f.round(n-1); np.around(f, decimals=n); x[n]; x[:n]; x[n:]; x[::n]; x[-n:];
m[n-1, n-2]; m[n-2][n-1]; m[:, n-1]; m[n-1, :]; m[[n-1, 0]]; x[[n, n-1]]; m[..., n-1];
x.item(n); m.item(n-1, n-2); m.take(n); x.repeat(n); m.sum(axis=(n-3, n-2));
np.broadcast_to(n, (2, n)); np.broadcast_shapes((n, 1), (2,)); np.full_like(x, n);
np.where(x > n, n, x); np.interp(n, [1, 5], [0, 1]); np.searchsorted([1, 2, 5], n);
np.array([n, n]); np.array([[n, 1], [2, n]]); np.array((n, 2.5)); np.asarray(n); np.float64(n);
np.int32(n); np.fromfunction(lambda i: i, (n,)); np.mgrid[:n, 0:n]; np.mgrid[0:1:n*1j];
np.r_[0:n]; np.r_[n, 1, 2]; np.c_[x[:n], x[:n]]; np.ogrid[:n];
np.random.default_rng(0).integers(n, size=n); np.random.default_rng(0).normal(n, n, (n, 2));
np.random.default_rng(0).choice(6, size=n, replace=False);
np.random.default_rng(0).standard_normal((n, n)); np.random.RandomState(n).rand(n, 2);
np.random.RandomState(0).randint(0, n, n); np.random.default_rng(0).shuffle(x[:n]);
np.random.default_rng(0).multinomial(n, [.5, .5]);
np.random.default_rng(0).uniform(0, n, size=(n, n));
np.random.default_rng(0).integers(0, n, n); np.random.default_rng(0).binomial(n, 0.5, n);
np.random.default_rng(0).poisson(n, n); np.random.default_rng(0).spawn(n)[0].random();
np.isscalar(n.item())
"""

NUMBERS = r"""
'%d' % n; f'{n}'; '%5.1f|%s' % (n, n); 'x' * n; (1, 2)[n - 2]; 'abcd'[n]; list(range(n));
[*range(0, n, 2)]; 2 ** n; n ** 2; n / 2; n // 2; n % 2; -n; 1 << n; n & 1; divmod(7, n);
10 % n; 7 // n; n == 3; n != 3; n < 4 and n > 2; not n; n or 5; n and 5; max(n, 2); min(n, 10);
abs(n - 5); sum([n, n]); sorted([n, 1, 2]); str(n); int(n); float(n); bool(n); hex(n);
chr(65 + n); math.sqrt(n); math.factorial(n); math.comb(5, n); math.log(n); math.floor(n / 2);
math.ceil(n / 2); n.astype(float); n.item(); n.dtype; n.shape; n.tolist(); repr(n.item());
n in [1, 3]; [1, 3].index(n); isinstance(n.item(), int); bytes(n); range(10)[n];
slice(n).indices(5); 'a,b,c,d'.split(',', n); ('x' * 10)[:n]; [1, 2, 3, 4, 5][n:];
[1,2,3,4,5][:n]; list(itertools.islice(range(10), n)); 3 * [n]; n is None; complex(n);
f'{n:5d}|{f[0]:.3f}|{n:03}|{f[1]:e}|{f[2]:>8.2f}|{n:x}|{n:,}|{f[0]:g}|{f[0]:.1%}';
(n + 0j).real
"""

# ---- arrays -------------------------------------------------------------------------------------

AMONG_PYTHONS_OWN = r"""
functools.reduce(np.dot, [np.eye(4), m.T, m]);
functools.reduce(operator.mul, [v for v in x + 1]);
functools.reduce(np.union1d, ([1, 2], [2, 3], x)); sum(np.sqrt(v) for v in x);
sum(a * b for a, b in zip(x, x)); max(m.ravel(), key=lambda v: v % 5);
min(range(5), key=lambda i: -x[i]); sorted(range(5), key=lambda i: x[i]);
sorted(x, reverse=True); sorted(zip(x.tolist(), 'abcdef')); list(filter(lambda v: v > 2, x));
[i for i, v in enumerate(x) if v > 2]; [int(v) for v in x if v % 2 == 0];
{int(v): i for i, v in enumerate(x)}; list(itertools.combinations(x.tolist(), 2))[:3];
list(itertools.product(x[:2], m[0, :2])); bisect.bisect(np.sort(x), 2.5); heapq.nlargest(2, x);
collections.Counter(x.tolist()).most_common(1); collections.Counter(v.item() for v in x);
random.Random(0).sample(x.tolist(), 2); str(x); str(m); str(x[0]); str(x.mean()); f'{x}';
f'{x.mean()}'; '%s' % x; '%r' % (x.tolist(),); ' '.join(map(str, x));
' '.join(str(v) for v in x / 2); ', '.join(f'{v:.2f}' for v in x / 3);
'\n'.join('\t'.join(map(str, r)) for r in m);
f'{x.max():>10}|{x.mean():^12.4f}|{x[0]:+d}|{(x > 1).sum()}|{x.shape}|{x.dtype}';
'{0:.3f} {1}'.format(x.mean(), x.argmax());
'%.3f %d %i %5.2e %g' % (x.mean(), x[0], x.sum(), x.std(), x.var());
json.dumps({'a': x.tolist(), 'b': float(x.mean()), 'c': int(x[0])}); round(float(x.mean()), 2);
math.hypot(x[0], x[1]); math.atan2(x[0], x[1]); math.pow(x[1], 2); math.fsum(x);
math.prod(x.tolist()); math.dist(x, x); math.isnan(x[0]); math.inf > x[0]; int(x.mean());
float(x.sum()); bool(x.any()); complex(x[1]); -x.min(); abs(x - x.mean()).max(); 2 ** x.max();
1 / x.max(); 10 - x.max(); len(m); len(m[0]); not (m > 100).any(); m @ m.T; list(m.flat)[:2];
[a.tolist() for a in np.split(x, 3)]; [a.tolist() for a in np.array_split(x, 4)];
[p.shape for p in np.array_split(m, 2, axis=1)]; bool(np.allclose(1, 2)); 3 in x;
type(x).__name__ in ('ndarray', 'NDArray'); isinstance(x, np.ndarray);
isinstance(x[0], (int, np.integer, np.ndarray)); isinstance(x.tolist()[0], int);
isinstance(3, np.ndarray); str(x.dtype); type(np.float64(1.0)).__name__;
list(np.ndenumerate(m))[:1]; divmod(x, 3); bin(5)
"""

FUNCTIONS_AND_METHODS = r"""
np.where(x > 2)[0][0]; np.where(x > 2)[0].tolist(); np.where(x > 2)[0].size > 0;
np.array([f(v) for v in x for f in (np.sin, np.cos)]);
np.array(list(map(lambda v: v ** 2, x))); np.array([x, x * 2, x ** 2]).T;
np.array([row.sum() for row in m]); np.array([[a + b for a in x] for b in x]);
np.array([m[0], [1, 2, 3, 4]]); np.array([x.mean(), x.std(), 3]);
np.array([(a, b) for a, b in zip(x, x)]); np.stack([r / r.sum() for r in m + 1]);
np.vstack([m, x[:4]]); np.mean([x.sum(), 2.0]); np.max([x[0], x[1]]);
np.sum([r for r in m], axis=0); np.concatenate([[x[0]], x, [9]]);
np.concatenate((x, [x[-1]] * 2)); np.append(x, x[0]); np.r_[x[0], x[-1], 5];
np.insert(x, 0, x[-1]); x[x.argmax()]; x[-1]; x[x > x.mean()]; x[::-1][0]; x[len(x) // 2];
x[int(len(x) * 0.8):]; x[:-1] - x[1:]; x.max() - x.min(); x.max() / x.sum(); x.sum() // 2;
x.sum() % 7; x.argmax() == 3; x.shape[0] * x.mean(); x.sum() ** 0.5; m.shape; m.T.shape;
m[:, 0].shape; m[0][0].shape; m.reshape(-1).shape; m[None].shape; m[..., None].shape;
m.sum(0).shape; m.sum().shape; m.size; m.ndim; m[m > 4].sum(); m[:, m.sum(axis=0) > 14];
m[m[:, 1] > 3]; m[1:, :-1]; m[-1]; m[:, -1]; m[::2]; m[[0, 2]][:, [1, 3]];
m[[0, 1, 2], [0, 1, 2]]; np.where(m % 2 == 0, m, -m); np.where(m > 5); np.argwhere(m > 9);
np.nonzero(m > 9); np.count_nonzero(m > 3, axis=1); np.clip(m, 2, 8); np.diff(m); np.cumsum(m);
np.prod(m[1:]); np.ptp(m, axis=1); np.average(m, weights=m);
np.average(m, axis=0, weights=[1, 2, 3]); (m == m.max()).any(axis=1); (m > 3).all();
(m > 3).any(0); ~(m > 3); (m > 3) & (m < 8); (m > 3).astype(int); (m > 3).sum(axis=0);
(m > 3).mean(); np.logical_and(m > 1, m < 4); np.array(5); np.array([]); np.array([[]]);
np.array(True); np.array(1 + 2j); np.array(range(3)); np.array((1, 2));
np.array([1, 2], dtype=float); np.array([1.5, 2.5], dtype=int);
np.array([True, False], dtype=int); np.array([[1, 2], [3, 4]], order='F');
np.array(x, dtype=np.float32); np.array([1, 2, 3], ndmin=2); np.array(np.float64(2));
np.zeros(3, int); np.zeros((2, 3), dtype=bool); np.ones_like(m, dtype=float);
np.full((2, 2), np.nan); np.full(3, x[1]); np.full_like(m, 2.7); np.empty((0, 3));
np.zeros_like(x / 2); np.arange(5.0); np.arange(2, 10, 3); np.arange(1, 0, -0.25);
np.arange(0, 1, 0.1); np.linspace(0, 1, 5, retstep=True); np.linspace(1, 2, 3, dtype=int);
np.logspace(0, 2, 3); np.geomspace(1, 8, 4); np.eye(2, 3, 1); np.diag([1, 2]); np.diag(m);
np.tri(3, k=-1); np.triu(m); np.tril(m, 1); np.vander([1, 2, 3]); np.identity(2, dtype=int);
np.fromfunction(lambda i, j: i + j, (2, 2)); np.meshgrid(x[:2], x[:3], indexing='ij');
np.meshgrid([1, 2], [3, 4], sparse=True); np.array_equal(np.sort(x)[::-1], -np.sort(-x));
np.sort(m, axis=None); np.sort(m % 3, axis=0); np.argsort(-x); np.argsort(x)[-1];
x.argsort().argsort(); np.sort(x / 2); np.lexsort((x, x % 2)); np.searchsorted(np.sort(x), x);
np.median(m, axis=0); np.percentile(x, [10, 90]); np.quantile(m, 0.3, axis=1, keepdims=True);
np.percentile(x, 50, method='nearest'); np.unique(x % 3); np.unique(x % 3, return_counts=True);
np.unique(x % 3, return_inverse=True)[1]; np.bincount(x); np.histogram(x, 3);
np.histogram(x / 2, bins=[0, 1, 2, 3]); np.digitize(x, [1, 3]); np.cov(m);
np.corrcoef(m[0], m[1]); np.var(x, ddof=1); np.std(m, axis=1, ddof=1); np.gradient(x / 2);
np.trapezoid(x); np.interp(1.5, [1, 2], [3, 5]); np.convolve(x, [1, 1], 'same');
np.correlate(x, [1, 2], 'valid'); np.cross([1, 0, 0], [0, 1, 0]); np.outer(x, x)[1];
np.inner(x, x); np.dot(m, m.T); np.vdot(x, x); np.trace(m @ m.T); np.kron([1, 2], [1, 1]);
np.exp(0); np.log(np.e); np.sin(np.pi / 2); np.sqrt(16); np.floor(2.7); np.ceil(2.1);
np.abs(-3); np.sign(-2.5); np.power(2, 10); np.mod(-7, 3); np.fmod(-7, 3); np.maximum(3, 4);
np.hypot(3, 4); np.deg2rad(180); np.degrees(np.pi); np.log1p(0); np.expm1(0.0); np.cbrt(27);
np.square(3); np.round(2.567, 2); np.rint(2.5); np.gcd(12, 18); np.lcm(4, 6); np.isnan(np.nan);
np.isinf(np.inf); np.isfinite(1.0); np.floor_divide(7, 2); np.true_divide(7, 2);
np.logaddexp(0, 0); np.sinc(0.0); np.heaviside(0, 0.5); np.nan_to_num(np.nan); np.real(1 + 2j);
np.imag(1 + 2j); np.angle(1j); np.conj(1 + 2j); np.add(1, 2) + x; np.multiply(x, 2); np.sum(x);
np.mean(x); np.max(x); np.amin(x); np.amax(m, axis=0); np.all(x >= 0); np.any(x > 3);
np.cumprod(x + 1); np.argmax(m); np.argmin(m, axis=1); np.nanmean([1, np.nan]);
np.nansum([np.nan, 1]); np.sum(m, axis=(0, 1)); np.sum(m, axis=1, keepdims=True);
np.mean(m, 0); np.sum(x, dtype=float); np.sum(x > 1); np.sum([True, True]); np.prod([1.5, 2]);
np.max([1, 5, 2]); np.mean([[1, 2], [3, 4]], axis=1); np.expand_dims(x, 0).shape;
np.squeeze(np.ones((1, 3, 1))).shape; np.transpose(m).shape;
np.swapaxes(np.ones((2, 3, 4)), 0, 2).shape; np.rollaxis(np.ones((2, 3, 4)), 2).shape;
np.moveaxis(np.ones((2, 3, 4)), 0, -1).shape; np.broadcast_to(x, (2, 6)).shape;
np.ravel(m).shape; np.reshape(m, (4, 3)).shape; np.resize(x, (2, 4)); np.repeat(x, 2);
np.repeat(m, [1, 0, 2], axis=0); np.tile(x, (2, 2)).shape; np.flip(m); np.fliplr(m);
np.flipud(m); np.roll(m, 1); np.roll(m, -1, axis=1); np.rot90(m);
(lambda a: (a.sort(), a)[1])(x.copy()); (lambda a: (a.fill(3), a)[1])(x.copy());
(lambda a: (a.resize((2, 2)), a)[1])(np.arange(5));
(lambda a: (a.put([0], 9), a)[1])(x.copy());
(lambda a: (np.random.default_rng(0).shuffle(a), a)[1])(x.copy());
(lambda a: (a.partition(2), a[2])[1])(x.copy()); x.dot(x); x.cumsum(); x.nonzero();
x.clip(1, 3); x.repeat(2); np.sort(x).searchsorted(2); x.take([0, 1]); x.tobytes()[:4]; x.nbytes;
x.itemsize; x.strides; x.flags['C_CONTIGUOUS']; x.flags.owndata;
x.conj(); x.real; x.byteswap()[0]; x.compress(x > 2); x.choose([[9] * 6] * 6); x.squeeze();
x.swapaxes(0, 0); x.trace() if x.ndim > 1 else 0; m.trace(); m.diagonal(); m.flatten('F');
m.ravel('F'); m.T.copy().flags.c_contiguous; m.copy(order='F').flags.f_contiguous;
m.max(axis=1).tolist(); m.item(3); m.item((1, 2)); m.flat[5]; m.flat[[1, 2]]; x.base is None;
m.T.base is m; np.hsplit(m, 2)[1]; np.vsplit(m, 3)[0];
np.dsplit(np.ones((1, 1, 2)), 2)[0].shape; np.unstack(m)[0]; np.allclose(m, m + 1e-09);
np.isclose(0.1 + 0.2, 0.3); np.array_equal(x, list(x)); np.array_equal([1, 2], [1, 3]);
np.allclose(x, x) is True or bool(np.allclose(x, x)); np.isin(3, x); np.isin(x, [1, 2]);
np.any(x == 3); np.issubdtype(x.dtype, np.number); np.issubdtype(np.float32, np.floating);
x.dtype.kind in 'iu'; x.dtype == int; x.dtype != float; (x / 2).dtype == np.float64;
np.dtype('int64') == x.dtype; x.dtype.name; np.dtype(float).itemsize; np.result_type(1, 2.0);
np.result_type(x, 1.5); np.promote_types(np.int8, np.uint8); np.common_type(x);
np.can_cast(np.int64, np.float64); np.issubdtype(x.dtype, int); np.isscalar(3);
np.isscalar('a'); np.iinfo(int).max; np.finfo(np.float32).max;
np.finfo(float).eps; (np.float32(1.5) * x[:2]).dtype; (np.int8(1) + x[:2]).dtype;
(x[:2] * 1j).dtype; (x[:2] / np.int16(2)).dtype; np.float64(3).dtype; np.int32(7) + 1;
np.bool_(True); np.uint8(255); np.float32(0.1) == 0.1; np.int64(3) == 3;
np.complex128(1 + 2j).imag; np.array(np.float32(1)).dtype; np.float16(1).nbytes;
np.lib.stride_tricks.sliding_window_view(x, 3);
np.lib.stride_tricks.sliding_window_view(m, (2, 2)).shape;
np.lib.stride_tricks.as_strided(x, (3, 2), (8, 16));
np.lib.stride_tricks.sliding_window_view(x, 3)[::2].max(axis=1);
np.broadcast_arrays(x[:, None], x)[0].shape; np.broadcast_shapes((2, 1), (3,));
np.ndindex(2, 2).__class__.__name__; np.einsum('ij->j', m); np.einsum('ij,kj->ik', m, m);
np.einsum('ij,ij', m, m); np.einsum('i,j', x, x)[2]; np.einsum('ij,j', m, x[:4]);
np.einsum('ii', m[:, :3]); np.einsum_path('ij,jk', m, m.T)[0];
np.tensordot(m, m, axes=([0, 1], [0, 1])); np.linalg.norm(x); np.linalg.norm(m, axis=1);
np.linalg.det(m[:, :3] + np.eye(3)); np.linalg.matrix_rank(m); np.linalg.inv(np.eye(3) * 2);
np.linalg.solve(np.eye(2), [1, 2]); np.linalg.eigvalsh(np.diag([3, 1]));
np.linalg.matrix_power(np.ones((2, 2), int), 3);
np.linalg.lstsq(m[:, :2] + np.eye(3, 2), [1, 2, 3], rcond=None)[2];
np.linalg.svd(np.eye(2), compute_uv=False); np.linalg.qr(np.eye(2)).R;
np.linalg.eigh(np.eye(2)).eigenvalues; np.linalg.cond(np.eye(3)); np.linalg.pinv(np.eye(2));
np.linalg.slogdet(np.eye(2)); np.linalg.cholesky(4 * np.eye(2)); np.linalg.trace(m);
np.linalg.outer(x, x)[1]; np.copysign(1, -0.0); np.divmod(7, 3); np.modf(2.5); np.frexp(8.0);
np.ldexp(1.0, 3); np.bitwise_and(x, 1); x & 1; x | 8; x ^ 3; x << 2; x >> 1; ~x; np.invert(x);
np.packbits(x > 2); np.unpackbits(np.array([5], np.uint8)); np.binary_repr(5, 8);
np.base_repr(255, 16); np.left_shift(1, x)
"""


def evaluate(expression, xp):
    names = {name: importlib.import_module(name) for name in MODULES} | {
        "np": xp,
        "x": xp.array([4, 1, 3, 5, 2, 0]),
        "m": xp.arange(12).reshape(3, 4),
        "f": xp.array([0.5, 2.25, 1.125, 3.7]),
        "q": xp.array([[1.0, 2], [3, 4]]),
        "n": xp.array([1, 3, 2])[1],
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(expression, names)


def written(text):
    """The expressions of a text, a line at a time."""
    return [line.rstrip(";").split("; ") for line in text.strip().splitlines()]


@pytest.mark.parametrize(
    "line",
    [
        *written(LENGTHS_AND_AXES),
        *written(NUMBERS),
        *written(AMONG_PYTHONS_OWN),
        *written(FUNCTIONS_AND_METHODS),
        pytest.param(["x.data.tobytes()[:2]"], marks=pytest.mark.host),
    ],
)
def test_expression(line):
    for expression in line:
        if not has(expression.replace("np.", "xp.")) or (OLDER and expression == "bytes(n)"):
            continue  # an older NumPy's bytes are as many as the number says
        same(evaluate(expression, la), evaluate(expression, np), expression)
