"""Programs of numerical analysis: roots, integrals, differential equations, series, fits."""

import math

import pytest

from .compare import check, programs


def newton_scalar(np):
    f, df = lambda x: x**3 - 2 * x - 5, lambda x: 3 * x**2 - 2
    x = np.array(2.0)
    err, history = 1.0, []
    while err > 1e-12:
        dx = f(x) / df(x)
        x = x - dx
        err = abs(dx)
        history.append(float(x))
    print(f"root: {x:.6f} after {len(history)} steps")
    return x, history


def newton_system(np):
    def F(v):
        x, y = v
        return np.array([x**2 + y**2 - 4, np.exp(x) + y - 1])

    def J(v):
        x, y = v
        return np.array([[2 * x, 2 * y], [np.exp(x), 1]])

    v = np.array([1.0, -1.7])
    for _ in range(20):
        step = np.linalg.solve(J(v), -F(v))
        v = v + step
        if np.linalg.norm(step) < 1e-12:
            break
    return v, F(v).shape


def bisection(np):
    f = lambda x: np.cos(x) - x
    a, b = 0.0, 1.0
    n = 0
    while (b - a) / 2 > 1e-10:
        c = (a + b) / 2
        if f(c) == 0:
            break
        if np.sign(f(c)) == np.sign(f(a)):
            a = c
        else:
            b = c
        n += 1
    return a, b, n


def secant_over_an_array(np):
    f = lambda x: x**2 - np.array([2.0, 3.0, 5.0])
    x0, x1 = np.ones(3), np.full(3, 2.5)
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(12):
            d = f(x1) - f(x0)
            x2 = np.where(d == 0, x1, x1 - f(x1) * (x1 - x0) / d)
            x0, x1 = x1, x2
    return x1


def runge_kutta_4(np):
    def f(t, y):
        return np.array([y[1], -y[0] - 0.1 * y[1]])

    t, h = 0.0, 0.05
    y = np.array([1.0, 0.0])
    ts, ys = [t], [y]
    for _ in range(60):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += h
        ts.append(t)
        ys.append(y)
    return np.array(ts), np.array(ys)


def lorenz_preallocated(np):
    dt, n = 0.01, 100
    xs = np.empty(n + 1)
    ys = np.empty(n + 1)
    zs = np.empty(n + 1)
    xs[0], ys[0], zs[0] = (0.0, 1.0, 1.05)
    for i in range(n):
        xs[i + 1] = xs[i] + 10 * (ys[i] - xs[i]) * dt
        ys[i + 1] = ys[i] + (xs[i] * (28 - zs[i]) - ys[i]) * dt
        zs[i + 1] = zs[i] + (xs[i] * ys[i] - 2.667 * zs[i]) * dt
    return np.column_stack((xs, ys, zs))


def adaptive_step(np):
    t, y, h = 0.0, np.array([1.0]), 0.1
    taken = []
    while t < 1:
        h = min(h, 1 - t)
        whole = y + h * -5 * y
        half = y + h / 2 * -5 * y
        half = half + h / 2 * -5 * half
        error = np.max(np.abs(half - whole))
        if error < 1e-3:
            t += h
            y = 2 * half - whole
            taken.append(h)
        h *= 0.9 * min(2.0, max(0.2, math.sqrt(1e-3 / max(error, 1e-10))))
    return y, np.array(taken), len(taken)


def heat_equation(np):
    nx, nt, alpha = 21, 50, 0.4
    u = np.zeros((nt, nx))
    u[0, nx // 4 : 3 * nx // 4] = 1
    for n in range(nt - 1):
        u[n + 1, 1:-1] = u[n, 1:-1] + alpha * (u[n, 2:] - 2 * u[n, 1:-1] + u[n, :-2])
        u[n + 1, 0] = u[n + 1, -1] = 0
    return u


def wave_equation(np):
    x = np.linspace(0, 1, 51)
    u_prev = np.exp(-100 * (x - 0.5) ** 2)
    u = u_prev.copy()
    r2 = 0.9**2
    for _ in range(40):
        u_next = np.zeros_like(u)
        u_next[1:-1] = 2 * u[1:-1] - u_prev[1:-1] + r2 * np.diff(u, n=2)
        u_prev, u = u, u_next
    return u


def cavity_pressure(np):
    p = np.zeros((12, 15))
    b = np.zeros_like(p)
    b[3, 4], b[-4, -5] = 100, -100
    l1norm = 1
    steps = 0
    while l1norm > 1e-3 and steps < 100:
        pn = p.copy()
        p[1:-1, 1:-1] = (
            pn[1:-1, 2:] + pn[1:-1, :-2] + pn[2:, 1:-1] + pn[:-2, 1:-1] - b[1:-1, 1:-1]
        ) / 4
        p[:, -1] = p[:, -2]
        p[0, :] = p[-1, :] = 0
        l1norm = (np.sum(np.abs(p[:])) - np.sum(np.abs(pn[:]))) / (np.sum(np.abs(pn[:])) + 1e-9)
        steps += 1
    return p, steps


def integrals(np):
    x = np.linspace(0, np.pi, 101)
    y = np.sin(x)
    h = x[1] - x[0]
    trap = h * (y[0] / 2 + y[1:-1].sum() + y[-1] / 2)
    simpson = h / 3 * (y[0] + 4 * y[1:-1:2].sum() + 2 * y[2:-1:2].sum() + y[-1])
    cumulative = np.concatenate(([0], np.cumsum((y[1:] + y[:-1]) / 2 * h)))
    nodes, weights = np.polynomial.legendre.leggauss(5)
    gauss = np.pi / 2 * np.sum(weights * np.sin(np.pi / 2 * (np.asarray(nodes) + 1)))
    return np.trapezoid(y, x), np.trapezoid(y, dx=h), trap, simpson, cumulative, gauss


def romberg(np):
    f = lambda x: np.exp(-(x**2))
    R = np.zeros((6, 6))
    a, b = 0.0, 1.0
    for i in range(6):
        n = 2**i
        x = np.linspace(a, b, n + 1)
        y = f(x)
        R[i, 0] = (b - a) / n * (y.sum() - 0.5 * (y[0] + y[-1]))
        for j in range(1, i + 1):
            R[i, j] = R[i, j - 1] + (R[i, j - 1] - R[i - 1, j - 1]) / (4**j - 1)
    return R, R[-1, -1]


def finite_differences(np):
    x = np.linspace(0, 2, 41)
    y = x**3
    dy = np.gradient(y, x)
    central = (y[2:] - y[:-2]) / (x[2:] - x[:-2])
    err = np.max(np.abs(dy[1:-1] - central))
    gy, gx = np.gradient(np.outer(x, y))
    return dy, central, err < 1e-12, np.hypot(gx, gy), np.ediff1d(y)


def lagrange_interpolation(np):
    xs, ys = np.array([0.0, 1, 2, 4]), np.array([1.0, 3, 2, 5])

    def L(x):
        total = 0.0
        for i, xi in enumerate(xs):
            term = ys[i]
            for j, xj in enumerate(xs):
                if i != j:
                    term = term * (x - xj) / (xi - xj)
            total += term
        return total

    at = np.linspace(0, 4, 9)
    assert np.allclose([L(x) for x in xs], ys)
    return L(at), np.polyval(np.polyfit(xs, ys, 3), at).shape


def cubic_spline(np):
    x = np.arange(0.0, 6)
    y = np.sin(x)
    n = len(x) - 1
    h = np.diff(x)
    A = np.zeros((n + 1, n + 1))
    rhs = np.zeros(n + 1)
    A[0, 0] = A[n, n] = 1
    for i in range(1, n):
        A[i, i - 1 : i + 2] = h[i - 1], 2 * (h[i - 1] + h[i]), h[i]
        rhs[i] = 3 * ((y[i + 1] - y[i]) / h[i] - (y[i] - y[i - 1]) / h[i - 1])
    c = np.linalg.solve(A, rhs)
    b = (y[1:] - y[:-1]) / h - h * (c[1:] + 2 * c[:-1]) / 3
    d = (c[1:] - c[:-1]) / (3 * h)
    q = np.linspace(0.1, 4.9, 13)
    k = np.searchsorted(x, q) - 1
    t = q - x[k]
    return y[k] + b[k] * t + c[k] * t**2 + d[k] * t**3


def linear_interpolation(np):
    xp, fp = np.array([1.0, 2, 4, 7]), np.array([10.0, 20, 0, 30])
    x = np.array([0.0, 1.5, 3, 7, 8])
    i = np.clip(np.searchsorted(xp, x) - 1, 0, len(xp) - 2)
    t = (x - xp[i]) / (xp[i + 1] - xp[i])
    by_hand = fp[i] * (1 - t) + fp[i + 1] * t
    return np.interp(x, xp, fp), np.interp(2.5, xp, fp), by_hand, np.interp(x, xp, fp, left=-1)


def bilinear_interpolation(np):
    grid = np.arange(20.0).reshape(4, 5) ** 1.5
    yy, xx = np.mgrid[0:3:7j, 0:4:9j]
    y0, x0 = np.floor(yy).astype(int), np.floor(xx).astype(int)
    y1, x1 = np.minimum(y0 + 1, 3), np.minimum(x0 + 1, 4)
    wy, wx = yy - y0, xx - x0
    return (
        grid[y0, x0] * (1 - wy) * (1 - wx)
        + grid[y1, x0] * wy * (1 - wx)
        + grid[y0, x1] * (1 - wy) * wx
        + grid[y1, x1] * wy * wx
    )


def polynomials(np):
    p = np.array([1, -6, 11, -6])
    r = np.roots(p)
    assert np.allclose(np.sort(r.real), [1, 2, 3])
    q, rem = np.polydiv(p, np.array([1, -1]))
    horner = 0
    for c in p:
        horner = horner * 2.5 + c
    return (
        np.polyval(p, 2.5), horner, np.polyder(p), np.polyint(p), np.polymul(p, [1, 1]),
        np.polyadd(p, [1, 1]), q, rem, np.poly([1, 2, 3]), np.convolve(p, [1, 2]),
    )  # fmt: skip


def chebyshev_fit(np):
    n = 12
    k = np.arange(n)
    nodes = np.cos(np.pi * (k + 0.5) / n)
    f = np.exp(nodes)
    c = np.array([2 / n * np.sum(f * np.cos(j * np.pi * (k + 0.5) / n)) for j in range(n)])
    c[0] /= 2
    x = np.linspace(-1, 1, 21)
    b1 = b2 = np.zeros_like(x)
    for a in c[:0:-1]:
        b1, b2 = 2 * x * b1 - b2 + a, b1
    y = x * b1 - b2 + c[0]
    assert np.max(np.abs(y - np.exp(x))) < 1e-10
    return c, y


def fft_spectrum(np):
    fs = 128
    t = np.arange(0, 1, 1 / fs)
    x = np.sin(2 * np.pi * 10 * t) + 0.5 * np.sin(2 * np.pi * 30 * t)
    X = np.fft.rfft(x)
    freqs = np.fft.rfftfreq(len(x), 1 / fs)
    power = np.abs(X) ** 2
    peaks = freqs[np.argsort(power)[-2:]]
    print("peaks at", sorted(peaks.tolist()), "Hz")
    X[freqs > 20] = 0
    return np.fft.irfft(X, n=len(x)), peaks, np.fft.fftshift(np.fft.fftfreq(8))


def fft_convolution(np):
    a, b = np.arange(5.0), np.array([1.0, -1, 2])
    n = len(a) + len(b) - 1
    size = 2 ** int(np.ceil(np.log2(n)))
    c = np.fft.ifft(np.fft.fft(a, size) * np.fft.fft(b, size)).real[:n]
    assert np.allclose(c, np.convolve(a, b))
    im = np.random.default_rng(0).random((8, 8))
    F = np.fft.fftshift(np.fft.fft2(im))
    y, x = np.ogrid[-4:4, -4:4]
    F[x**2 + y**2 > 9] = 0
    return c, np.fft.ifft2(np.fft.ifftshift(F)).real, size


def discrete_fourier_matrix(np):
    n = 8
    k = np.arange(n)
    W = np.exp(-2j * np.pi * k[:, None] * k / n)
    x = np.random.default_rng(1).random(n)
    assert np.allclose(W @ x, np.fft.fft(x))
    return W, (W.conj().T @ (W @ x) / n).real


def gradient_descent_rosenbrock(np):
    def grad(p):
        x, y = p
        return np.array([-2 * (1 - x) - 400 * x * (y - x * x), 200 * (y - x * x)])

    p = np.array([-1.0, 1.0])
    m, v = np.zeros(2), np.zeros(2)
    for t in range(1, 101):
        g = grad(p)
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        p -= 0.05 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return p


def nelder_mead(np):
    f = lambda p: (p[0] - 1) ** 2 + (p[1] + 2) ** 2
    simplex = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    for _ in range(40):
        values = np.array([f(p) for p in simplex])
        order = np.argsort(values)
        simplex, values = simplex[order], values[order]
        centre = simplex[:-1].mean(axis=0)
        reflected = centre + (centre - simplex[-1])
        if f(reflected) < values[0]:
            expanded = centre + 2 * (centre - simplex[-1])
            simplex[-1] = expanded if f(expanded) < f(reflected) else reflected
        elif f(reflected) < values[-2]:
            simplex[-1] = reflected
        else:
            contracted = centre + 0.5 * (simplex[-1] - centre)
            if f(contracted) < values[-1]:
                simplex[-1] = contracted
            else:
                simplex[1:] = simplex[0] + 0.5 * (simplex[1:] - simplex[0])
    return simplex, f(simplex[0])


def kalman_filter(np):
    rng = np.random.default_rng(3)
    F, H = np.array([[1, 1], [0, 1.0]]), np.array([[1.0, 0]])
    Q, R = 0.01 * np.eye(2), np.array([[0.5]])
    x, P = np.zeros((2, 1)), np.eye(2)
    z = np.arange(20) + rng.normal(0, 0.5, 20)
    path = []
    for zk in z:
        x, P = F @ x, F @ P @ F.T + Q
        S = H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        x = x + K * (zk - H @ x)
        P = (np.eye(2) - K @ H) @ P
        path.append(x.ravel())
    return np.array(path), P


@pytest.mark.parametrize("program", programs(globals()))
def test_program(program):
    check(program)
