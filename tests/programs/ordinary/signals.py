"""Signals and images."""


def noise_filter(np):
    rng = np.random.default_rng(0)
    t = np.linspace(0, 1, 80000)
    clean = np.sin(2 * np.pi * 50 * t) + 0.5 * np.sin(2 * np.pi * 120 * t)
    noisy = clean + 2.5 * rng.standard_normal(len(t))
    spectrum = np.fft.fft(noisy)
    psd = np.abs(spectrum) ** 2 / len(t)
    keep = psd > 100
    filtered = np.fft.ifft(spectrum * keep).real
    freqs = np.fft.fftfreq(len(t), t[1] - t[0])
    peaks = freqs[keep & (freqs > 0)]
    snr = 10 * np.log10(np.sum(clean**2) / np.sum((filtered - clean) ** 2))
    smooth = np.convolve(noisy, np.ones(25) / 25, mode="same")
    return filtered, peaks, snr, np.mean((smooth - clean) ** 2)


def convolution_by_hand(np):
    x, y = np.meshgrid(np.arange(60), np.arange(60))
    image = np.sin(x / 3.0) + np.cos(y / 4.0)
    kernel = np.array([[1, 0, -1], [2, 0, -2], [1, 0, -1]])
    padded = np.pad(image, 1)
    out = np.zeros_like(image)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            region = padded[i : i + 3, j : j + 3]
            out[i, j] = np.sum(region * kernel)
    pooled = np.zeros((30, 30))
    for i in range(30):
        for j in range(30):
            pooled[i, j] = np.max(out[2 * i : 2 * i + 2, 2 * j : 2 * j + 2])
    return out, pooled


def histogram_equalisation(np):
    np.random.seed(0)
    image = np.clip(np.random.normal(90, 20, (400, 400)), 0, 255).astype(np.uint8)
    hist, _ = np.histogram(image.flatten(), 256, [0, 256])
    cdf = hist.cumsum()
    masked = cdf[cdf > 0]
    table = np.zeros(256)
    for i in range(256):
        if cdf[i] > 0:
            table[i] = (cdf[i] - masked[0]) * 255 / (masked[-1] - masked[0])
    equal = table.astype("uint8")[image]
    gx = equal[:, 1:].astype(float) - equal[:, :-1]
    gy = equal[1:, :].astype(float) - equal[:-1, :]
    edges = np.sqrt(gx[:-1, :] ** 2 + gy[:, :-1] ** 2)
    binary = np.where(edges > edges.mean() + edges.std(), 255, 0)
    return equal, binary.sum(), image.mean(), equal.mean()


def slow_fourier_transform(np):
    n = 110
    t = np.arange(n) / n
    x = np.sin(2 * np.pi * 5 * t) + 0.3 * np.cos(2 * np.pi * 12 * t)
    X = np.zeros(n, dtype=complex)
    for k in range(n):
        for m in range(n):
            X[k] += x[m] * np.exp(-2j * np.pi * k * m / n)
    loudest = np.argsort(np.abs(X[: n // 2]))[::-1][:2]
    return X, loudest, np.allclose(X, np.fft.fft(x))


def median_filter(np):
    np.random.seed(1)
    signal = np.sin(np.linspace(0, 6, 900))
    for _ in range(30):
        signal[np.random.randint(900)] = np.random.choice([-3, 3])
    out = signal.copy()
    for i in range(2, len(signal) - 2):
        window = signal[i - 2 : i + 3]
        out[i] = np.median(window)
    rough = np.sum(np.abs(np.diff(signal)))
    return out, rough, np.sum(np.abs(np.diff(out)))


def recursive_filter(np):
    fs, cutoff = 1000.0, 30.0
    t = np.arange(0, 14, 1 / fs)
    x = np.sin(2 * np.pi * 5 * t) + 0.4 * np.sin(2 * np.pi * 200 * t)
    alpha = 1 / (1 + fs / (2 * np.pi * cutoff))
    y = np.zeros_like(x)
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = y[i - 1] + alpha * (x[i] - y[i - 1])
    zero_crossings = 0
    for i in range(1, len(y)):
        if y[i - 1] < 0 <= y[i] or y[i] < 0 <= y[i - 1]:
            zero_crossings += 1
    rms = np.sqrt(np.mean(y**2))
    return y, zero_crossings, round(float(rms), 10)
