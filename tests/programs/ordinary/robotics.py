"""Robots: filters, planners, controllers, arms."""

import math


def kalman_filter(np):
    np.random.seed(0)
    dt = 0.1
    F = np.array([[1, dt], [0, 1]])
    H = np.array([[1, 0]])
    Q = np.array([[0.01, 0.0], [0.0, 0.01]])
    R = np.array([[0.5]])
    x = np.array([[0.0], [1.0]])
    P = np.eye(2)
    estimates = []
    for k in range(400):
        z = np.array([[k * dt + np.random.normal(0, 0.7)]])
        x = F @ x
        P = F @ P @ F.T + Q
        S = H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        x = x + K @ (z - H @ x)
        P = (np.eye(2) - K @ H) @ P
        estimates.append(x[0, 0])
    return np.array(estimates), P


def extended_kalman_filter(np):
    np.random.seed(5)
    dt = 0.1
    Q = np.diag([0.1, 0.1, np.deg2rad(1.0), 1.0]) ** 2
    R = np.diag([1.0, 1.0]) ** 2
    x_est = np.zeros((4, 1))
    x_true = np.zeros((4, 1))
    P = np.eye(4)
    hist = np.zeros((4, 1))

    def motion(x, u):
        F = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 1.0, 0], [0, 0, 0, 0]])
        B = np.array([[dt * math.cos(x[2, 0]), 0], [dt * math.sin(x[2, 0]), 0],
                      [0.0, dt], [1.0, 0.0]])  # fmt: skip
        return F @ x + B @ u

    H = np.array([[1, 0, 0, 0], [0, 1, 0, 0]])
    for _ in range(300):
        u = np.array([[1.0], [0.1]])
        x_true = motion(x_true, u)
        z = x_true[0:2, :] + np.random.randn(2, 1) * 0.5
        yaw, v = x_est[2, 0], u[0, 0]
        J = np.array([
            [1.0, 0.0, -dt * v * math.sin(yaw), dt * math.cos(yaw)],
            [0.0, 1.0, dt * v * math.cos(yaw), dt * math.sin(yaw)],
            [0.0, 0.0, 1.0, 0.0],
            [0.0, 0.0, 0.0, 1.0]])  # fmt: skip
        x_pred = motion(x_est, u)
        P_pred = J @ P @ J.T + Q
        S = H @ P_pred @ H.T + R
        K = P_pred @ H.T @ np.linalg.inv(S)
        x_est = x_pred + K @ (z - H @ x_pred)
        P = (np.eye(4) - K @ H) @ P_pred
        hist = np.hstack((hist, x_est))
    return hist, P, np.hypot(x_true[0, 0] - x_est[0, 0], x_true[1, 0] - x_est[1, 0])


def particle_filter(np):
    np.random.seed(7)
    landmarks = np.array([[5.0, 5.0], [-3.0, 8.0], [7.0, -2.0]])
    n = 200
    particles = np.random.uniform(-5, 5, (n, 2))
    weights = np.ones(n) / n
    robot = np.array([0.0, 0.0])
    path = []
    for step in range(110):
        robot = robot + np.array([0.1, 0.05])
        particles += np.array([0.1, 0.05]) + 0.05 * np.random.randn(n, 2)
        weights.fill(1.0)
        for landmark in landmarks:
            measured = np.linalg.norm(robot - landmark) + np.random.normal(0, 0.1)
            d = np.linalg.norm(particles - landmark, axis=1)
            weights *= np.exp(-((d - measured) ** 2) / (2 * 0.3**2))
        weights += 1e-300
        weights /= sum(weights)
        if 1.0 / np.sum(np.square(weights)) < n / 2:
            cumulative = np.cumsum(weights)
            cumulative[-1] = 1.0
            indexes = np.searchsorted(cumulative, np.random.rand(n))
            particles = particles[indexes]
            weights = np.ones(n) / n
        path.append(np.average(particles, weights=weights, axis=0))
    return np.array(path), particles.std(axis=0)


def pid_controller(np):
    kp, ki, kd = 2.0, 0.6, 0.25
    dt = 0.004
    t = np.arange(0, 12, dt)
    target = np.where(t < 6, 1.0, 0.4)
    y = np.zeros(len(t))
    u = np.zeros(len(t))
    integral, last = 0.0, 0.0
    for k in range(1, len(t)):
        error = target[k] - y[k - 1]
        integral += error * dt
        derivative = (error - last) / dt
        u[k] = np.clip(kp * error + ki * integral + kd * derivative, -5, 5)
        y[k] = y[k - 1] + dt * (-y[k - 1] + u[k])
        last = error
    settled = np.where(np.abs(y[:1500] - 1.0) > 0.02)[0][-1] * dt
    return y, u, f"settled after {settled:.2f} s, overshoot {100 * (y.max() - 1):.2f} %"


def rapidly_exploring_tree(np):
    np.random.seed(12)
    obstacles = np.array([[3.0, 3.0, 1.2], [6.0, 5.0, 1.5], [2.0, 7.0, 1.0]])
    goal = np.array([9.0, 9.0])
    nodes = [np.array([0.5, 0.5])]
    parent = [-1]
    for _ in range(160):
        if np.random.rand() < 0.1:
            sample = goal
        else:
            sample = np.random.uniform(0, 10, 2)
        distances = [np.linalg.norm(sample - node) for node in nodes]
        nearest = int(np.argmin(distances))
        if distances[nearest] == 0:
            continue
        direction = (sample - nodes[nearest]) / distances[nearest]
        new = nodes[nearest] + 0.6 * direction
        free = True
        for ox, oy, r in obstacles:
            if (new[0] - ox) ** 2 + (new[1] - oy) ** 2 <= r**2:
                free = False
                break
        if not free:
            continue
        nodes.append(new)
        parent.append(nearest)
        if np.linalg.norm(new - goal) < 0.6:
            break
    return np.array(nodes), parent


def potential_field(np):
    grid = np.zeros((50, 50))
    obstacles = [(15, 20), (30, 25), (22, 38)]
    gx, gy = 45, 45
    for i in range(50):
        for j in range(50):
            attract = 0.5 * np.hypot(i - gx, j - gy)
            repel = 0.0
            for ox, oy in obstacles:
                d = np.hypot(i - ox, j - oy)
                if d <= 8.0:
                    d = max(d, 0.1)
                    repel += 0.5 * 100 * (1.0 / d - 1.0 / 8.0) ** 2
            grid[i, j] = attract + repel
    coarse = grid[::2, ::2]
    x, y = 2, 2
    path = [(x, y)]
    for _ in range(60):
        best = np.inf
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                a, b = x + dx, y + dy
                if 0 <= a < 25 and 0 <= b < 25 and coarse[a, b] < best:
                    best = coarse[a, b]
                    step = (a, b)
        if step == (x, y):
            break
        x, y = step
        path.append((x, y))
    return grid, path


def pure_pursuit(np):
    cx = np.arange(0, 50, 0.5)
    cy = np.array([math.sin(ix / 5.0) * ix / 2.0 for ix in cx])
    x, y, yaw, v = 0.0, -3.0, 0.0, 0.0
    L, dt = 2.9, 0.04
    target = 0
    xs, ys = [x], [y]
    for _ in range(900):
        a = 1.0 * (10.0 / 3.6 - v)
        dx = [x - icx for icx in cx[target : target + 10]]
        dy = [y - icy for icy in cy[target : target + 10]]
        d = np.hypot(dx, dy)
        target = target + int(np.argmin(d))
        ahead = target
        while ahead < len(cx) - 1 and math.hypot(cx[ahead] - x, cy[ahead] - y) < 2.0 + 0.1 * v:
            ahead += 1
        alpha = math.atan2(cy[ahead] - y, cx[ahead] - x) - yaw
        delta = math.atan2(2.0 * L * math.sin(alpha) / 2.5, 1.0)
        delta = np.clip(delta, -0.6, 0.6)
        x += v * math.cos(yaw) * dt
        y += v * math.sin(yaw) * dt
        yaw += v / L * math.tan(delta) * dt
        v += a * dt
        xs.append(x)
        ys.append(y)
        if target >= len(cx) - 2:
            break
    return np.array(xs), np.array(ys), v


def linear_quadratic_regulator(np):
    dt, m_c, m_p, l, g = 0.05, 1.0, 0.3, 2.0, 9.8
    A = np.array([
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, m_p * g / m_c, 0.0],
        [0.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, g * (m_c + m_p) / (l * m_c), 0.0]])  # fmt: skip
    A = np.eye(4) + dt * A
    B = dt * np.array([[0.0], [1.0 / m_c], [0.0], [1.0 / (l * m_c)]])
    Q = np.diag([0.0, 1.0, 1.0, 0.0])
    R = np.diag([0.01])
    P = Q
    for i in range(150):
        Pn = A.T @ P @ A - A.T @ P @ B @ np.linalg.inv(R + B.T @ P @ B) @ B.T @ P @ A + Q
        if (abs(Pn - P)).max() < 0.001:
            break
        P = Pn
    K = np.linalg.inv(B.T @ P @ B + R) @ (B.T @ P @ A)
    x = np.array([[0.0], [0.0], [0.3], [0.0]])
    states = []
    for _ in range(2500):
        u = -K @ x
        x = A @ x + B @ u
        states.append(x.flatten())
    eigenvalues = np.linalg.eigvals(A - B @ K)
    return np.array(states), K, np.sort(np.abs(eigenvalues))


def inverse_kinematics(np):
    lengths = np.array([1.0, 0.8, 0.5])
    angles = np.array([0.3, 0.4, 0.2])

    def forward(q):
        points = [np.array([0.0, 0.0])]
        for i in range(3):
            a = np.sum(q[: i + 1])
            points.append(points[-1] + lengths[i] * np.array([np.cos(a), np.sin(a)]))
        return points

    targets = [np.array([1.6 * np.cos(a), 1.2 * np.sin(a)]) for a in np.linspace(0, 6, 12)]
    errors = []
    for goal in targets:
        for _ in range(40):
            points = forward(angles)
            error = goal - points[-1]
            if np.linalg.norm(error) < 1e-4:
                break
            J = np.zeros((2, 3))
            for j in range(3):
                r = points[-1] - points[j]
                J[:, j] = [-r[1], r[0]]
            angles = angles + 0.5 * np.linalg.pinv(J) @ error
        errors.append(np.linalg.norm(error))
    return np.mod(angles, 2 * np.pi), errors


def rotations(np):
    def quaternion_product(a, b):
        w0, x0, y0, z0 = a
        w1, x1, y1, z1 = b
        return np.array([
            w0 * w1 - x0 * x1 - y0 * y1 - z0 * z1,
            w0 * x1 + x0 * w1 + y0 * z1 - z0 * y1,
            w0 * y1 - x0 * z1 + y0 * w1 + z0 * x1,
            w0 * z1 + x0 * y1 - y0 * x1 + z0 * w1])  # fmt: skip

    q = np.array([1.0, 0.0, 0.0, 0.0])
    point = np.array([1.0, 2.0, 3.0])
    out = []
    for k in range(300):
        omega = np.array([np.sin(0.1 * k), np.cos(0.1 * k), 0.5])
        angle = np.linalg.norm(omega) * 0.02
        axis = omega / np.linalg.norm(omega)
        dq = np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis])
        q = quaternion_product(q, dq)
        q /= np.linalg.norm(q)
        w, x, y, z = q
        R = np.array([
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])  # fmt: skip
        assert np.allclose(R @ R.T, np.eye(3))
        out.append(R @ point)
    return np.array(out), np.cross(out[-1], point), np.linalg.det(R)
