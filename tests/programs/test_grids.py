"""Programs on images and grids: filters, windows, simulations, drawing."""

import pytest

from .compare import check, programs


def convolution_in_loops(np):
    im = np.arange(48.0).reshape(6, 8) % 7
    kernel = np.array([[1, 2, 1], [0, 0, 0], [-1, -2, -1]])
    kh, kw = kernel.shape
    padded = np.pad(im, ((1, 1), (1, 1)), mode="constant")
    out = np.zeros(im.shape)
    for i in range(im.shape[0]):
        for j in range(im.shape[1]):
            out[i, j] = (padded[i : i + kh, j : j + kw] * kernel).sum()
    return out


def convolution_by_windows(np):
    im = np.random.default_rng(0).random((10, 12))
    kernel = np.ones((3, 3)) / 9
    windows = np.lib.stride_tricks.sliding_window_view(im, (3, 3))
    a = np.round(np.einsum("ijkl,kl->ij", windows, kernel), 12)
    b = (windows * kernel).sum(axis=(2, 3))
    c = np.tensordot(windows, kernel, axes=2)
    shape = (im.shape[0] - 2, im.shape[1] - 2, 3, 3)
    view = np.lib.stride_tricks.as_strided(im, shape=shape, strides=im.strides * 2)
    assert np.allclose(a, b) and np.allclose(a, c)
    assert np.array_equal(view, windows)
    return a, b, c, view.max(axis=(-2, -1)), np.median(windows, axis=(2, 3))


def im2col(np):
    x = np.random.default_rng(1).random((2, 3, 6, 6))
    w = np.random.default_rng(2).random((4, 3, 3, 3))
    n, c, h, wd = x.shape
    oh, ow = h - 2, wd - 2
    cols = np.zeros((n, c, 3, 3, oh, ow))
    for i in range(3):
        for j in range(3):
            cols[:, :, i, j] = x[:, :, i : i + oh, j : j + ow]
    flat = cols.transpose(0, 4, 5, 1, 2, 3).reshape(n * oh * ow, -1)
    out = (flat @ w.reshape(4, -1).T).reshape(n, oh, ow, 4).transpose(0, 3, 1, 2)
    return out, out.flags["C_CONTIGUOUS"]


def max_pooling(np):
    x = np.random.default_rng(3).integers(0, 50, (6, 8))
    pooled = x.reshape(3, 2, 4, 2).max(axis=(1, 3))
    mask = x == pooled.repeat(2, axis=0).repeat(2, axis=1)
    return pooled, mask, np.kron(pooled, np.ones((2, 2), dtype=int)), np.tile(pooled, (2, 1))


def sobel_edges(np):
    im = np.zeros((12, 12))
    im[3:9, 4:8] = 1
    p = np.pad(im, 1, mode="edge")
    gx = p[:-2, 2:] + 2 * p[1:-1, 2:] + p[2:, 2:] - p[:-2, :-2] - 2 * p[1:-1, :-2] - p[2:, :-2]
    gy = p[2:, :-2] + 2 * p[2:, 1:-1] + p[2:, 2:] - p[:-2, :-2] - 2 * p[:-2, 1:-1] - p[:-2, 2:]
    mag = np.sqrt(gx**2 + gy**2)
    mag *= 255.0 / mag.max()
    edges = mag.astype(np.uint8)
    return edges, np.arctan2(gy, gx), np.argwhere(edges > 128), np.count_nonzero(edges)


def gaussian_blur(np):
    ax = np.arange(-2, 3)
    g = np.exp(-(ax**2) / 2.0)
    g /= g.sum()
    im = np.random.default_rng(4).random((9, 9))
    p = np.pad(im, 2, mode="reflect")
    rows = np.apply_along_axis(lambda r: np.convolve(r, g, mode="valid"), 1, p)
    both = np.apply_along_axis(np.convolve, 0, rows, g, "valid")
    xx, yy = np.meshgrid(ax, ax)
    kernel = np.exp(-(xx**2 + yy**2) / 2)
    kernel = kernel / np.sum(kernel)
    assert np.allclose(kernel, np.outer(g, g))
    return both, kernel


def median_filter(np):
    im = np.random.default_rng(5).integers(0, 255, (8, 8)).astype("uint8")
    p = np.pad(im, 1, "symmetric")
    out = np.empty_like(im)
    for (i, j), _ in np.ndenumerate(im):
        out[i, j] = np.median(p[i : i + 3, j : j + 3])
    stacked = np.dstack([p[i : i + 8, j : j + 8] for i in range(3) for j in range(3)])
    return out, np.median(stacked, axis=-1), np.sort(stacked, axis=2)[..., 4]


def histogram_equalisation(np):
    im = (np.random.default_rng(6).random((16, 16)) ** 2 * 200).astype(np.uint8)
    hist = np.bincount(im.flatten(), minlength=256)
    cdf = hist.cumsum()
    cdf_m = cdf[cdf > 0]
    lut = np.round((cdf - cdf_m.min()) / (im.size - cdf_m.min()) * 255).clip(0, 255)
    return lut.astype(np.uint8)[im], hist, cdf[-1]


def brightness_saturates(np):
    im = np.arange(0, 256, 5, dtype=np.uint8)
    wrapped = im + np.uint8(100)
    clipped = np.clip(im.astype(np.int16) + 100, 0, 255).astype(np.uint8)
    gamma = (255 * (im / 255.0) ** (1 / 2.2)).astype("uint8")
    inverted = 255 - im
    im[im > 200] = 0
    return wrapped, clipped, gamma, inverted, im, ~im, im >> 1, im & 0x0F


def colours(np):
    rgb = np.random.default_rng(7).integers(0, 256, (5, 6, 3), dtype=np.uint8)
    r, g, b = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    grey = 0.299 * r + 0.587 * g + 0.114 * b
    grey2 = np.dot(rgb[..., :3], [0.299, 0.587, 0.114])
    sepia = np.minimum(rgb @ np.array([[0.4, 0.3, 0.2]] * 3), 255).astype(np.uint8)
    rr, gg, bb = np.moveaxis(rgb, -1, 0)
    assert (rr == r).all() and (bb == b).all()
    packed = (r.astype(np.uint32) << 16) | (g.astype(np.uint32) << 8) | b
    swapped = rgb[:, :, ::-1]
    uniq = np.unique(rgb.reshape(-1, 3), axis=0)
    return grey, grey2, sepia, packed, swapped, uniq, rgb.max(axis=-1) - rgb.min(axis=-1)


def drawing(np):
    canvas = np.zeros((20, 20), dtype=np.uint8)
    yy, xx = np.ogrid[:20, :20]
    canvas[(yy - 8) ** 2 + (xx - 10) ** 2 <= 25] = 1
    canvas[15, :] = canvas[:, 3] = 2
    canvas[::4, ::4] = 3
    rr = np.arange(20)
    canvas[rr, rr] = 4
    canvas[rr, ::-1][rr, rr] = 9  # a copy in the end? no: a view, indexed
    canvas[-3:, -3:] += 5
    for row in canvas[:4]:
        print("".join(".#|+x"[min(v, 4)] for v in row))
    return canvas, np.rot90(canvas), np.fliplr(canvas), np.flipud(canvas)


def chessboard_and_borders(np):
    board = np.zeros((8, 8), int)
    board[1::2, ::2] = 1
    board[::2, 1::2] = 1
    frame = np.ones((6, 6))
    frame[1:-1, 1:-1] = 0
    padded = np.pad(np.ones((3, 3)), pad_width=1, constant_values=0)
    i, j = np.indices((8, 8))
    assert np.array_equal(board, (i + j) % 2)
    return board, frame, padded, np.tile([[0, 1], [1, 0]], (4, 4)), np.pad([1, 2], 2, "wrap")


def life_with_roll(np):
    Z = np.zeros((8, 8), dtype=bool)
    Z[[0, 1, 2, 2, 2], [1, 2, 0, 1, 2]] = True
    for _ in range(8):
        n = sum(
            np.roll(Z, (i, j), axis=(0, 1)).astype(int)
            for i in (-1, 0, 1)
            for j in (-1, 0, 1)
            if (i, j) != (0, 0)
        )
        Z = (n == 3) | (Z & (n == 2))
    return Z, Z.sum(), np.transpose(np.nonzero(Z))


def forest_fire(np):
    rng = np.random.default_rng(8)
    F = (rng.random((15, 15)) < 0.6).astype(int)
    F[7, 7] = 2
    burnt = []
    while (F == 2).any():
        fire = F == 2
        near = np.zeros_like(fire)
        near[1:] |= fire[:-1]
        near[:-1] |= fire[1:]
        near[:, 1:] |= fire[:, :-1]
        near[:, :-1] |= fire[:, 1:]
        F[fire] = 3
        F[near & (F == 1)] = 2
        burnt.append(int((F == 3).sum()))
    return F, burnt


def flood_fill(np):
    grid = (np.random.default_rng(9).random((10, 10)) < 0.35).astype(np.int8)
    grid[0, 0] = 0
    stack, seen = [(0, 0)], np.zeros(grid.shape, bool)
    while stack:
        i, j = stack.pop()
        if seen[i, j] or grid[i, j]:
            continue
        seen[i, j] = True
        for di, dj in np.array([[0, 1], [1, 0], [0, -1], [-1, 0]]):
            a, b = i + di, j + dj
            if 0 <= a < grid.shape[0] and 0 <= b < grid.shape[1] and not seen[a, b]:
                stack.append((a, b))
    return seen, seen.sum()


def connected_labels(np):
    im = np.random.default_rng(10).random((8, 8)) > 0.5
    labels = np.where(im, np.arange(1, 65).reshape(8, 8), 0)
    while True:
        p = np.pad(labels, 1)
        m = np.max([p[1:-1, 1:-1], p[:-2, 1:-1], p[2:, 1:-1], p[1:-1, :-2], p[1:-1, 2:]], axis=0)
        new = np.where(im, m, 0)
        if (new == labels).all():
            break
        labels = new
    names, relabelled = np.unique(labels, return_inverse=True)
    sizes = np.bincount(relabelled.ravel())[1:]
    return labels, relabelled, sizes, len(names) - 1


def ising(np):
    rng = np.random.default_rng(11)
    s = rng.choice([-1, 1], size=(6, 6))
    N = s.shape[0]
    for _ in range(60):
        i, j = rng.integers(0, N, 2)
        nb = s[(i + 1) % N, j] + s[i - 1, j] + s[i, (j + 1) % N] + s[i, j - 1]
        dE = 2 * s[i, j] * nb
        if dE <= 0 or rng.random() < np.exp(-dE / 2.0):
            s[i, j] *= -1
    energy = -(s * (np.roll(s, 1, 0) + np.roll(s, 1, 1))).sum()
    return s, energy, s.mean()


def sandpile(np):
    s = np.zeros((9, 9), dtype=int)
    s[4, 4] = 100
    while np.max(s) >= 4:
        t = s // 4
        s -= 4 * t
        s[1:, :] += t[:-1, :]
        s[:-1, :] += t[1:, :]
        s[:, 1:] += t[:, :-1]
        s[:, :-1] += t[:, 1:]
    return s, np.bincount(s.ravel())


def reaction_diffusion(np):
    def lap(Z):
        return Z[:-2, 1:-1] + Z[1:-1, :-2] + Z[1:-1, 2:] + Z[2:, 1:-1] - 4 * Z[1:-1, 1:-1]

    Z = np.zeros((18, 18), [("U", np.double), ("V", np.double)]) if False else None
    assert Z is None
    U, V = np.ones((18, 18)), np.zeros((18, 18))
    u, v = U[1:-1, 1:-1], V[1:-1, 1:-1]
    u[6:10, 6:10], v[6:10, 6:10] = 0.5, 0.25
    for _ in range(20):
        uvv = u * v * v
        u += 0.16 * lap(U) - uvv + 0.06 * (1 - u)
        v += 0.08 * lap(V) + uvv - 0.1 * v
    return U, V


def julia(np):
    x = np.linspace(-1.5, 1.5, 25)
    z = x[None, :] + 1j * x[:, None]
    out = np.zeros(z.shape, dtype=np.intp)
    alive = np.ones(z.shape, bool)
    for it in range(20):
        z[alive] = z[alive] ** 2 - 0.4 + 0.6j
        gone = alive & (np.abs(z) > 2)
        out[gone] = it
        alive &= ~gone
    return out, alive, z.real[alive]


def distance_transform(np):
    mask = np.random.default_rng(12).random((7, 9)) > 0.8
    pts = np.argwhere(mask)
    yy, xx = np.mgrid[:7, :9]
    d = np.hypot(yy[..., None] - pts[:, 0], xx[..., None] - pts[:, 1])
    return d.min(-1), pts[d.argmin(-1)], np.linalg.norm(pts - pts[:, None], axis=-1)


def voronoi_and_hull(np):
    rng = np.random.default_rng(13)
    seeds = rng.integers(0, 20, (5, 2))
    grid = np.stack(np.meshgrid(np.arange(20), np.arange(20), indexing="ij"), axis=-1)
    owner = ((grid[:, :, None] - seeds) ** 2).sum(-1).argmin(-1)
    P = rng.random((12, 2))
    hull = [int(np.argmin(P[:, 0]))]
    while True:
        p, best = P[hull[-1]], (hull[-1] + 1) % len(P)
        for k in range(len(P)):
            (ax, ay), (bx, by) = P[best] - p, P[k] - p
            if ax * by - ay * bx < 0:
                best = k
        if best == hull[0] or len(hull) > 12:
            break
        hull.append(best)
    area = 0.5 * abs(
        np.dot(P[hull, 0], np.roll(P[hull, 1], 1)) - np.dot(P[hull, 1], np.roll(P[hull, 0], 1))
    )
    return owner, hull, area, [int((owner == k).sum()) for k in range(len(seeds))]


def rotation_of_points(np):
    deg = np.arange(0, 360, 45)
    a = np.deg2rad(deg)
    pts = np.array([np.cos(a), np.sin(a)]).T
    R = np.array([[0, -1], [1, 0]])
    homog = np.hstack((pts, np.ones((len(pts), 1))))
    T = np.eye(3)
    T[:2, 2] = 5, -3
    moved = (T @ homog.T).T[:, :2]
    polar = np.hypot(*pts.T), np.rad2deg(np.arctan2(pts[:, 1], pts[:, 0])) % 360
    return pts @ R.T, moved, polar, np.ptp(moved, axis=0)


@pytest.mark.parametrize("program", programs(globals()))
def test_program(program):
    check(program)
