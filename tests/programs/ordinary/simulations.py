"""Simulations: particles, fields, populations, automata."""


def random_walk(np):
    np.random.seed(42)
    steps = 4000
    x = np.zeros(steps)
    y = np.zeros(steps)
    far = 0.0
    for i in range(1, steps):
        direction = np.random.randint(4)
        x[i] = x[i - 1]
        y[i] = y[i - 1]
        if direction == 0:
            x[i] += 1
        elif direction == 1:
            x[i] -= 1
        elif direction == 2:
            y[i] += 1
        else:
            y[i] -= 1
        distance = np.sqrt(x[i] ** 2 + y[i] ** 2)
        if distance > far:
            far = distance
    return x, y, far


def ising_model(np):
    np.random.seed(1)
    n = 16
    beta = 0.45
    spins = np.random.choice([-1, 1], size=(n, n))
    energies = []
    for sweep in range(5):
        for _ in range(n * n):
            i = np.random.randint(0, n)
            j = np.random.randint(0, n)
            s = spins[i, j]
            nb = (
                spins[(i + 1) % n, j]
                + spins[(i - 1) % n, j]
                + spins[i, (j + 1) % n]
                + spins[i, (j - 1) % n]
            )
            cost = 2 * s * nb
            if cost < 0:
                s *= -1
            elif np.random.rand() < np.exp(-cost * beta):
                s *= -1
            spins[i, j] = s
        energy = -np.sum(spins * np.roll(spins, 1, axis=0) + spins * np.roll(spins, 1, axis=1))
        energies.append(energy)
    return spins, np.array(energies), abs(spins.mean())


def game_of_life(np):
    np.random.seed(3)
    grid = np.random.randint(0, 2, (90, 90))
    alive = []
    for _ in range(80):
        neighbours = sum(
            np.roll(np.roll(grid, i, 0), j, 1)
            for i in (-1, 0, 1)
            for j in (-1, 0, 1)
            if (i != 0 or j != 0)
        )
        grid = ((neighbours == 3) | ((grid == 1) & (neighbours == 2))).astype(int)
        alive.append(grid.sum())
    return grid, np.array(alive)


def game_of_life_cell_by_cell(np):
    board = np.zeros((14, 14), dtype=int)
    board[1, 2] = board[2, 3] = board[3, 1] = board[3, 2] = board[3, 3] = 1
    board[8, 7:10] = 1
    for generation in range(16):
        new = board.copy()
        for r in range(board.shape[0]):
            for c in range(board.shape[1]):
                total = np.sum(board[max(r - 1, 0) : r + 2, max(c - 1, 0) : c + 2]) - board[r, c]
                if board[r, c] == 1 and (total < 2 or total > 3):
                    new[r, c] = 0
                elif board[r, c] == 0 and total == 3:
                    new[r, c] = 1
        board = new
    return board


def planets(np):
    G = 6.67430e-11
    mass = np.array([1.989e30, 5.972e24, 6.39e23, 3.285e23])
    pos = np.array([[0.0, 0.0], [1.496e11, 0.0], [0.0, 2.279e11], [5.791e10, 0.0]])
    vel = np.array([[0.0, 0.0], [0.0, 29780.0], [-24070.0, 0.0], [0.0, 47400.0]])
    dt = 86400.0
    track = []
    for day in range(240):
        acc = np.zeros_like(pos)
        for i in range(len(mass)):
            for j in range(len(mass)):
                if i != j:
                    r = pos[j] - pos[i]
                    d = np.linalg.norm(r)
                    acc[i] += G * mass[j] * r / d**3
        vel += acc * dt
        pos += vel * dt
        track.append(pos[1].copy())
    track = np.array(track)
    kinetic = 0.5 * np.sum(mass * np.sum(vel**2, axis=1))
    return track, kinetic


def n_body_cluster(np):
    np.random.seed(17)
    N = 60
    mass = 20.0 * np.ones((N, 1)) / N
    pos = np.random.randn(N, 3)
    vel = np.random.randn(N, 3)
    vel -= np.mean(mass * vel, 0) / np.mean(mass)

    def acceleration(pos):
        x, y, z = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
        dx, dy, dz = x.T - x, y.T - y, z.T - z
        inv_r3 = dx**2 + dy**2 + dz**2 + 0.1**2
        inv_r3[inv_r3 > 0] = inv_r3[inv_r3 > 0] ** (-1.5)
        ax = (dx * inv_r3) @ mass
        ay = (dy * inv_r3) @ mass
        az = (dz * inv_r3) @ mass
        return np.hstack((ax, ay, az))

    acc = acceleration(pos)
    energy = []
    for _ in range(150):
        vel += acc * 0.005
        pos += vel * 0.01
        acc = acceleration(pos)
        vel += acc * 0.005
        energy.append(0.5 * np.sum(mass * vel**2))
    return pos, np.array(energy)


def double_pendulum(np):
    def f(state):
        t1, w1, t2, w2 = state
        d = t1 - t2
        den = 3 - np.cos(2 * d)
        a1 = (-3 * 9.81 * np.sin(t1) - 9.81 * np.sin(t1 - 2 * t2)
              - 2 * np.sin(d) * (w2**2 + w1**2 * np.cos(d))) / den  # fmt: skip
        a2 = 2 * np.sin(d) * (2 * w1**2 + 2 * 9.81 * np.cos(t1) + w2**2 * np.cos(d)) / den
        return np.array([w1, a1, w2, a2])

    y = np.array([np.pi / 2, 0.0, np.pi / 3, 0.0])
    h = 0.01
    out = [y]
    for _ in range(500):
        k1 = f(y)
        k2 = f(y + 0.5 * h * k1)
        k3 = f(y + 0.5 * h * k2)
        k4 = f(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        out.append(y)
    out = np.array(out)
    return out, out[:, 0].max(), out[:, 2].min()


def lorenz(np):
    def derivative(s, sigma=10, rho=28, beta=8 / 3):
        x, y, z = s
        return np.array([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])

    dt = 0.01
    num = 600
    xyz = np.empty((num + 1, 3))
    xyz[0] = (0.0, 1.0, 1.05)
    for i in range(num):
        k1 = derivative(xyz[i])
        k2 = derivative(xyz[i] + dt / 2 * k1)
        k3 = derivative(xyz[i] + dt / 2 * k2)
        k4 = derivative(xyz[i] + dt * k3)
        xyz[i + 1] = xyz[i] + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    crossings = 0
    for i in range(num):
        if xyz[i, 0] * xyz[i + 1, 0] < 0:
            crossings += 1
    return xyz, crossings


def heat_rod(np):
    L, nx, nt, alpha = 1.0, 41, 600, 0.01
    dx = L / (nx - 1)
    dt = 0.4 * dx**2 / alpha
    x = np.linspace(0, L, nx)
    u = np.sin(np.pi * x)
    for n in range(nt):
        un = u.copy()
        for i in range(1, nx - 1):
            u[i] = un[i] + alpha * dt / dx**2 * (un[i + 1] - 2 * un[i] + un[i - 1])
    exact = np.sin(np.pi * x) * np.exp(-alpha * np.pi**2 * nt * dt)
    return u, np.max(np.abs(u - exact))


def heat_plate(np):
    size = 100
    T = np.zeros((size, size))
    T[0, :] = 100.0
    T[:, -1] = 50.0
    for step in range(150):
        old = T.copy()
        T[1:-1, 1:-1] = 0.25 * (old[2:, 1:-1] + old[:-2, 1:-1] + old[1:-1, 2:] + old[1:-1, :-2])
        change = np.max(np.abs(T - old))
        if change < 1e-3:
            break
    return T, step, change


def wave_on_a_string(np):
    nx = 400
    c, dx = 1.0, 1.0 / nx
    dt = 0.5 * dx / c
    x = np.linspace(0, 1, nx)
    u0 = np.exp(-200 * (x - 0.3) ** 2)
    u1 = u0.copy()
    r = (c * dt / dx) ** 2
    middle = []
    for n in range(1500):
        u2 = np.zeros(nx)
        u2[1:-1] = 2 * u1[1:-1] - u0[1:-1] + r * (u1[2:] - 2 * u1[1:-1] + u1[:-2])
        u0, u1 = u1, u2
        middle.append(u1[nx // 2])
    return u1, np.array(middle)


def epidemic(np):
    beta, gamma, N = 0.35, 0.1, 1000.0
    days, dt = 160, 0.01
    steps = int(days / dt)
    S, I, R = np.zeros(steps), np.zeros(steps), np.zeros(steps)
    S[0], I[0], R[0] = N - 1, 1, 0
    for t in range(steps - 1):
        infected = beta * S[t] * I[t] / N * dt
        recovered = gamma * I[t] * dt
        S[t + 1] = S[t] - infected
        I[t + 1] = I[t] + infected - recovered
        R[t + 1] = R[t] + recovered
    peak = np.argmax(I)
    return S, I, R, f"peak of {I[peak]:.1f} on day {peak * dt:.1f}"


def predator_and_prey(np):
    a, b, c, d = 1.1, 0.4, 0.1, 0.4
    z = np.array([10.0, 5.0])
    dt = 0.02
    history = np.zeros((4000, 2))
    for i in range(4000):
        history[i] = z
        dz = np.array([a * z[0] - b * z[0] * z[1], c * z[0] * z[1] - d * z[1]])
        z = z + dz * dt
        z = np.maximum(z, 0)
    return history, history.mean(axis=0), history.max(axis=0)


def forest_fire(np):
    np.random.seed(8)
    EMPTY, TREE, FIRE = 0, 1, 2
    n = 80
    forest = (np.random.rand(n, n) < 0.75).astype(int)
    forest[n // 2, n // 2] = FIRE
    burnt = []
    while np.any(forest == FIRE):
        new = forest.copy()
        for i, j in np.argwhere(forest == FIRE):
            new[i, j] = EMPTY
            for di, dj in [(1, 0), (-1, 0), (0, 1), (0, -1)]:
                a, b = i + di, j + dj
                if 0 <= a < n and 0 <= b < n and forest[a, b] == TREE:
                    new[a, b] = FIRE
        forest = new
        burnt.append(np.count_nonzero(forest == FIRE))
    return forest, burnt
