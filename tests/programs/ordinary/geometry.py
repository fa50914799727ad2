"""Geometry and pictures."""


def mandelbrot_by_pixel(np):
    xs = np.linspace(-2.0, 0.6, 50)
    ys = np.linspace(-1.2, 1.2, 36)
    image = np.zeros((len(ys), len(xs)), dtype=int)
    for i, y in enumerate(ys):
        for j, x in enumerate(xs):
            c = complex(x, y)
            z = 0
            n = 0
            while np.abs(z) <= 2 and n < 30:
                z = z * z + c
                n += 1
            image[i, j] = n
    return image, (image == 30).sum()


def mandelbrot_at_once(np):
    x, y = np.meshgrid(np.linspace(-2, 1, 300), np.linspace(-1.5, 1.5, 240))
    c = x + 1j * y
    z = np.zeros_like(c)
    counts = np.zeros(c.shape, dtype=int)
    for i in range(30):
        mask = np.abs(z) <= 2
        z[mask] = z[mask] ** 2 + c[mask]
        counts += mask
    return counts, counts.mean()


def convex_hull(np):
    np.random.seed(8)
    points = np.random.randn(3000, 2)
    points = points[np.lexsort((points[:, 1], points[:, 0]))]

    def cross(o, a, b):
        return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])

    hull = []
    for order in (points, points[::-1]):
        chain = []
        for p in order:
            while len(chain) >= 2 and cross(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        hull.extend(chain[:-1])
    hull = np.array(hull)
    x, y = hull[:, 0], hull[:, 1]
    area = 0.5 * np.abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))
    return hull, area


def closest_pair(np):
    np.random.seed(31)
    points = np.random.rand(70, 3)
    best = np.inf
    pair = None
    for i in range(len(points)):
        for j in range(i + 1, len(points)):
            d = np.sqrt(np.sum((points[i] - points[j]) ** 2))
            if d < best:
                best = d
                pair = (i, j)
    D = np.linalg.norm(points[:, None] - points[None], axis=-1)
    np.fill_diagonal(D, np.inf)
    again = np.unravel_index(np.argmin(D), D.shape)
    return best, pair, tuple(int(i) for i in again) == pair


def ray_tracer(np):
    def normalize(v):
        return v / np.linalg.norm(v)

    center, radius = np.array([0.0, 0.0, 3.0]), 1.0
    light = normalize(np.array([1.0, 1.0, -1.0]))
    w, h = 54, 40
    image = np.zeros((h, w, 3))
    for i, y in enumerate(np.linspace(-0.75, 0.75, h)):
        for j, x in enumerate(np.linspace(-1, 1, w)):
            direction = normalize(np.array([x, y, 1.5]))
            b = 2 * np.dot(direction, -center)
            c = np.linalg.norm(center) ** 2 - radius**2
            delta = b**2 - 4 * c
            if delta > 0:
                t = (-b - np.sqrt(delta)) / 2
                if t > 0:
                    normal = normalize(t * direction - center)
                    shade = max(np.dot(normal, light), 0)
                    color = np.array([0.1, 0.1, 0.2]) + shade * np.array([0.8, 0.3, 0.2])
                    image[i, j] = np.clip(color, 0, 1)
    return image, np.count_nonzero(image.sum(axis=2))


def spheres_at_once(np):
    x, y = np.meshgrid(np.linspace(-1, 1, 500), np.linspace(-1, 1, 400))
    image = np.zeros(x.shape)
    depth = np.full(x.shape, np.inf)
    for cx, cy, cz, r in [(0, 0, 3, 0.7), (0.5, 0.3, 2, 0.4), (-0.4, -0.5, 2.5, 0.5)]:
        d2 = (x - cx) ** 2 + (y - cy) ** 2
        inside = d2 < r**2
        z = np.where(inside, cz - np.sqrt(np.maximum(r**2 - d2, 0)), np.inf)
        nearer = z < depth
        shade = np.where(inside, (cz - np.where(inside, z, cz)) / r, 0.0)
        image = np.where(nearer, shade, image)
        depth = np.minimum(depth, z)
    return image, np.isfinite(depth).sum(), image.mean()
