"""Random programs whose gradients are compared with differences: ``gradient_case(rng)``.

A program is Python text: a function of leaves, of views, writes in place and every kind of op that
has a gradient, on lengths that lie beside the engine's thresholds. It is run without a tape, with
one, compiled, twice through one graph, adding up, from several heads, and for gradients of
gradients; what disagrees is returned, as a script.
"""

import contextlib
import math
import re
import warnings

import numpy as np

import lazyarray as la
from lazyarray import nn
from lazyarray.lazy._lazy import recorded

LENGTHS = [0, 1, 1, 2, 3, 3, 5, 63, 64, 65, 513, 600]
LARGEST = 3000  # elements
STEP = 1e-5

# x is any value, n its number of axes, a one of them; y is another value, which broadcasts with x.
# (eye(*x.shape,0) is a matrix's, and an error for more axes.)
UNARY = """
la.sin(x) la.cos(x) la.tanh(x) la.exp(x*0.3) la.exp2(x*0.3) la.expm1(x*0.3) la.square(x) -x +x
la.sqrt(x*x+0.3) la.log(x*x+1) la.log1p(x*x) la.log2(x*x+0.5) la.log10(x*x+0.5) la.arctan(x)
la.arcsin(la.tanh(x)*0.7) la.arccos(la.tanh(x)*0.7) la.arctanh(la.tanh(x)*0.7) la.arcsinh(x)
la.arccosh(x*x+1.5) la.sinh(x*0.3) la.cosh(x*0.3) la.tan(la.tanh(x)) la.reciprocal(x*x+1)
la.cbrt(x+9) la.abs(x) la.fabs(x) la.deg2rad(x*50) la.degrees(x*0.01) la.positive(x) x*3 2-x x/3
3/(x*x+1) x**2 x**3 x**2.0 (x*x+0.5)**1.7 2.0**x la.floor(x)*x la.sign(x)*x la.rint(x)+x
la.trunc(x)-x la.clip(x,-0.6,0.8) la.clip(x,None,0.4) la.maximum(x,0.3) la.fmin(x,-0.2)
la.heaviside(x,0.5)*x la.modf(x)[0] la.frexp(x*x+0.4)[0] la.ldexp(x,2) la.nan_to_num(x)
la.sinc(x+3.1) la.real(x) la.where(x>0.1,x,0.5*x) la.where(x>0.1,la.sin(x),0.5) x*(x>0.2)
la.spacing(x)*0+x la.float_power(x*x+0.3,0.5) nn.relu(x) nn.relu6(x) nn.leaky_relu(x,0.1)
nn.elu(x) nn.selu(x) nn.celu(x,1.3) nn.gelu(x) nn.silu(x) nn.gelu(x,"tanh") nn.softplus(x)
nn.sigmoid(x) nn.log_sigmoid(x) nn.hardtanh(x) nn.hardsigmoid(x) nn.erf(x) la.copy(x) x.copy()
x.astype("f8") la.atleast_2d(x) la.ravel(x) x.flatten() x.ravel("F") x.T x[...] x[None]
x.reshape(-1) la.flip(x) la.squeeze(x) x.mean() x.sum() la.sort(x,axis=None) x.std() la.sum(x*x)
x.max() x.min() la.median(x) la.prod(la.tanh(x)*0.2+1) la.nansum(x) la.nanmean(x) la.nanmax(x)
la.cumsum(x) la.repeat(x,2) la.repeat(x,3) la.tile(x,2) la.roll(x,1) la.trace(x@x.T) la.asarray(x)
la.triu(x) la.tril(x,-1) la.diag(x) la.diff(x) la.append(x,0.7) la.append(x,x) la.gradient(x)
la.linalg.norm(x) la.outer(x,x) la.dot(x,x) la.inner(x,x) la.vdot(x,x) la.kron(x,la.ones(2))
la.fft.fft(x).real la.fft.irfft(la.fft.rfft(x)) la.concatenate([x,x]) la.stack([x,x])
la.stack([x,-x],-1) la.hstack([x,x]) la.vstack([x,x*2]) la.ptp(x) la.var(x) la.average(x)
la.rot90(x) la.fliplr(x) la.array_split(x,2)[0] la.unstack(x)[0] la.maximum.accumulate(x)
la.minimum.accumulate(x) la.add.accumulate(x) la.resize(x,7) la.delete(x,0) la.insert(x,1,0.7)
la.unwrap(x) la.cov(x) la.corrcoef(x) x[0] x[-1] x[::2] x[1:] x[::-1] x[:-1] x[:0] x[...,::2]
x[...,::-1] x[...,1:] x[...,0] x[...,None] x[:,0] x[:,::-2] x[la.array([0,-1,0])] x[[0,0,1]]
x[...,la.array([0,0])] x[la.array(np.zeros(0,int))] x[np.arange(len(x))%3==0] la.take(x,[0,1,0])
la.sort(x) la.partition(x,1) la.interp(x,[-2.0,0.1,2.0],[0.3,1.2,-0.7]) nn.softmax(x)
nn.log_softmax(x) nn.logsumexp(x) nn.softmax(x,0) nn.logsumexp(x,0,True)
nn.layer_norm(x,x.shape[-1:]) la.linalg.inv(x@x.T+la.eye(len(x)))
la.linalg.det(x@x.T*0.1+la.eye(len(x))) la.linalg.slogdet(x@x.T+la.eye(len(x)))[1]
la.linalg.cholesky(x@x.swapaxes(-1,-2)+la.eye(x.shape[-2]))
la.linalg.eigvalsh(x@x.swapaxes(-1,-2)*0.1+la.diag(la.arange(1.0*x.shape[-2])))
la.linalg.svd(x*0.1+la.diag(la.arange(len(x))+1.0),compute_uv=False)
la.linalg.pinv(x+3*la.eye(*x.shape,0)) la.linalg.norm(x,axis=-1) la.linalg.norm(x,1,axis=-1)
la.linalg.matrix_power(x@x.T*0.1,3) nn.conv1d(x[:,None],la.ones((2,1,2))*0.3,padding=1)
nn.max_pool1d(x[None],2) nn.avg_pool1d(x[None],2) nn.max_pool1d(x[None],3,2,1)
nn.adaptive_avg_pool1d(x[None],2) nn.batch_norm(x,training=True) nn.group_norm(x,1)
nn.cross_entropy(x,np.arange(len(x))%x.shape[1])
nn.nll_loss(nn.log_softmax(x),np.zeros(len(x),int))
nn.cross_entropy(x,np.zeros(len(x),int),label_smoothing=0.1) la.moveaxis(x,0,-1)
la.swapaxes(x,0,1) x.mT la.pad(x,1) la.pad(x,(1,2),"edge") la.pad(x,1,"reflect")
la.pad(x,1,"wrap") la.pad(x,1,"mean") la.pad(x,1,"linear_ramp") la.einsum("...i->...",x)
la.einsum("ij->ji",x) la.einsum("ij,kj->ik",x,x) la.broadcast_to(x,(2,*x.shape)) la.trapezoid(x)
la.convolve(x,[0.3,1,0.4]) la.correlate(x,[0.3,1,0.4],"same") la.polyval([0.3,1,0.4],x)
la.vander(x,3) la.quantile(x,0.3) la.percentile(x,[20,70]) la.nanmedian(x) la.nanstd(x)
la.cumprod(la.tanh(x)*0.2+1) la.lib.stride_tricks.sliding_window_view(x,1)
la.apply_along_axis(la.sort,0,x) la.select([x>0.5,x<-0.5],[x,x*x],0.3) nn.embedding([0,-1,0],x)
la.fft.fft2(x).real la.fft.rfft(x).imag la.nanvar(x) la.nanprod(la.tanh(x)*0.2+1)
la.nanquantile(x,0.3) la.nanpercentile(x,[20,70]) la.nanmin(x)
la.linalg.qr(x+3*la.eye(*x.shape,0))[1] la.linalg.matrix_norm(x) la.i0(x)*0+x
la.linalg.norm(x,3,axis=0) la.linalg.norm(x,3) la.linalg.norm(x,la.inf,axis=-1)
la.linalg.norm(x*0.1+la.diag(la.arange(len(x))+1.0),"nuc") la.diagonal(x) la.diagflat(x)
la.fliplr(x) la.apply_over_axes(la.sum,x,[0]) la.trapezoid(x,dx=0.3) la.bartlett(5)*x.sum()
la.cross(x,x[::-1]) la.polyder(x) la.polyint(x) la.linalg.inv(la.eye(3)*2+x.sum()*0.1)
la.fft.ifft(x).real la.fft.fftshift(x) la.lib.stride_tricks.as_strided(x,(2,2),(8,8))
la.lib.stride_tricks.sliding_window_view(x,2,axis=0) la.argsort(x)*0.1*la.sum(x)
la.searchsorted(la.sort(la.ravel(x)),0.1)*x la.choose(la.array([0]*x.shape[0]),[x,x])
la.compress([True,False,True],x) la.extract(x>0.1,x) la.piecewise(x,[x>0.2],[la.sin,la.cos])
""".split()
ALONG = """
la.sum(x,axis=a) la.mean(x,axis=a) la.max(x,axis=a) la.min(x,axis=a) la.var(x,axis=a)
la.std(x,axis=a) la.prod(la.tanh(x)*0.1+1,axis=a) la.sum(x,axis=a,keepdims=True)
la.max(x,axis=a,keepdims=True) la.mean(x,axis=a,keepdims=True) la.cumsum(x,axis=a)
la.cumprod(la.tanh(x)*0.1+1,axis=a) la.sort(x,axis=a) la.median(x,axis=a)
la.quantile(x,0.4,axis=a) la.nanmax(x,axis=a) la.nansum(x,axis=a) la.ptp(x,axis=a)
la.flip(x,axis=a) la.roll(x,2,axis=a) la.repeat(x,2,axis=a) la.diff(x,axis=a)
la.concatenate([x,x*2],axis=a) la.stack([x,x],axis=a) la.expand_dims(x,a) la.take(x,[0,-1],axis=a)
la.maximum.accumulate(x,axis=a) la.delete(x,0,axis=a) la.insert(x,1,0.7,axis=a)
la.append(x,x,axis=a) la.gradient(x,axis=a) la.linalg.norm(x,axis=a) nn.softmax(x,a)
nn.log_softmax(x,a) nn.logsumexp(x,a) la.trapezoid(x,axis=a) la.fft.fft(x,axis=a).imag
la.take_along_axis(x,la.argsort(x,axis=a),axis=a) la.add.reduce(x,axis=a)
la.sum(x,axis=a,where=x>0.1) la.max(x,axis=a,where=x>0.1,initial=-9) la.average(x,axis=a)
la.split(x,[1],axis=a)[0] la.nancumsum(x,axis=a) la.sum(x,axis=(0,a)) la.mean(x,axis=(a,-1))
la.cumulative_sum(x,axis=a,include_initial=True)
""".split()
BINARY = """
x+y x-y x*y x/(y*y+1) la.maximum(x,y) la.minimum(x,y) la.fmax(x,y) la.fmin(x,y) la.hypot(x,y)
la.arctan2(x,y*y+1) la.logaddexp(x,y) la.logaddexp2(x,y) (x*x+0.5)**y la.copysign(x,y)
la.remainder(x,y*y+1) la.fmod(x,y*y+1) la.where(x>y,x,y) la.where(x>y,la.sin(x),y*y)
la.divmod(x,y*y+1)[1] la.add(x,y,where=x>0.1,out=la.ones(np.broadcast_shapes(x.shape,y.shape)))
la.float_power(x*x+0.5,y) la.heaviside(x,y) la.clip(x,y,y+1) la.clip(x,y-0.5,None)
nn.mse_loss(x,y) nn.l1_loss(x,y) nn.huber_loss(x,y) nn.smooth_l1_loss(x,y,beta=0.5)
nn.mse_loss(x,y,"sum") nn.binary_cross_entropy(nn.sigmoid(x),nn.sigmoid(y))
nn.binary_cross_entropy_with_logits(x,nn.sigmoid(y),"none") la.nextafter(x,y)
la.concatenate([la.ravel(x),la.ravel(y)]) la.append(x,y) la.interp(x,[-2.0,0.1,2.0],y)
la.multiply.outer(x,y) la.subtract.outer(x,y) la.outer(x,y) la.cross(x,y) la.ediff1d(x,to_end=y)
la.insert(la.ravel(x),0,y)
""".split()
MATRIX = """
x@y la.matmul(x,y) la.dot(x,y) la.inner(x,y) la.tensordot(x,y,1) la.tensordot(x,y,axes=0)
la.vecdot(x,y) la.kron(x,y) la.einsum("ij,jk->ik",x,y) la.einsum("...i,...i->...",x,y)
la.einsum("i,j->ij",x,y) nn.linear(x,y) la.vdot(x,y) la.einsum("ij,j->i",x,y)
la.linalg.solve(x@x.T+la.eye(len(x)),y) la.linalg.multi_dot([x,y,y.T]) x@y.T x.T@y
nn.conv1d(x[None],y[None]) nn.conv2d(x[None],y[None],padding=1) nn.prelu(x,y)
nn.layer_norm(x,y.shape,y,y) nn.batch_norm(x,None,None,y,y,training=True) nn.group_norm(x,1,y,y)
la.tensordot(x,y,axes=[[0],[0]]) nn.linear(x,y,y[:,0])
la.linalg.eigh((lambda m:m+m.T)(x@y+la.diag(9*la.arange(1.0*len(x)))))[0]
la.linalg.solve(y@y.T+la.eye(len(y)),x) la.block([[x,y]]) la.column_stack([x,y]) la.convolve(x,y)
la.correlate(x,y) la.linalg.lstsq(x+3*la.eye(*x.shape,0),y)[0] la.matvec(x,y) la.vecmat(x,y)
la.polyval(x,y)
""".split()
# Writes: t is a value with memory of its own, or a view of one.
WRITES = """
t[...]=y t+=y t-=y t*=y t/=(y*y+1) t[::2]=y t[1:]+=y t[::-1]*=y t[0]=y t[...,1:]=t[...,:-1]
t[1:]-=t[:-1] t[la.array([0,-1])]=y t[[0,0]]+=y t[t>0.1]=0.7 t[t>0.1]*=2 t.sort()
la.add(t,y,out=t) la.sin(t,out=t) t[:]=0.7 la.multiply(t,y,out=t,where=t>0.1) la.copyto(t,y)
la.copyto(t,y,where=t>0.1) la.put(t,[0,0],y) t.fill(0.7) t[...]=t*y t**=2 la.add.at(t,[0,0],y)
t[:0]=y la.maximum(t,y,out=t) t+=t t[...]=t[::-1] la.putmask(t,t>0.1,y) t.T[...]=y
la.exp(t*0.3,out=t) la.cumsum(t,axis=0,out=t) la.sum(x,axis=0,out=t) la.matmul(x,y,out=t)
la.put_along_axis(t,la.array([[0]]),0.7,0) la.place(t,t>0.1,[0.3,0.7]) t[...,::2]=y t[:,0]=y
la.negative(t,out=t) la.fill_diagonal(t,0.7) la.clip(t,-0.5,0.5,out=t) t[t<0]=t[t<0]*0.1
""".split()


class Case:
    """A program under construction: its text, and what its values are now."""

    def __init__(self, rng):
        self.rng = rng
        self.lines, self.shapes, self.seed = [], [], int(rng.integers(1 << 30))
        for _ in range(int(rng.integers(1, 4))):
            self.shapes.append(self._shape())
        self.scope = {"la": la, "nn": nn, "np": np}
        self.names = [f"x{i}" for i in range(len(self.shapes))]
        self.owned = []
        for name, a in zip(self.names, self.arrays(), strict=True):
            self.scope[name] = la.array(a)

    def _shape(self):
        if self.shapes and self.rng.random() < 0.5:  # fits one that is there
            shape = list(self.shapes[int(self.rng.integers(len(self.shapes)))])
            how = self.rng.integers(4)
            if how == 0 and shape:
                shape[int(self.rng.integers(len(shape)))] = 1
            elif how == 1:
                shape = shape[1:]
            elif how == 2:
                shape = shape[::-1]
            return tuple(shape)
        while True:
            shape = tuple(self.rng.choice(LENGTHS, int(self.rng.integers(0, 4))).tolist())
            if math.prod(shape) <= LARGEST and (math.prod(shape) or self.rng.random() < 0.3):
                return shape

    def arrays(self):
        rng = np.random.default_rng(self.seed)
        return [np.asarray(rng.uniform(-1.2, 1.2, shape)) for shape in self.shapes]

    def pick(self, of):
        return of[int(self.rng.integers(len(of)))]

    def statement(self):
        """A random line, for values at random."""
        x, y = self.pick(self.names), self.pick(self.names)
        kind = self.rng.random()
        if kind < 0.25 and self.owned:
            t = self.pick(self.owned)
            text = self.pick(WRITES)
            return None, _named(text, x=x, y=y, t=t)
        name = f"v{len(self.lines)}"
        if kind < 0.5:
            text = self.pick(BINARY)
        elif kind < 0.6:
            text = self.pick(MATRIX)
        elif kind < 0.75 and self.scope[x].ndim:
            a = int(self.rng.integers(-self.scope[x].ndim, self.scope[x].ndim))
            text = (
                self.pick(ALONG)
                .replace("=a", f"={a}")
                .replace(",a)", f",{a})")
                .replace("(a,", f"({a},")
            )
        else:
            text = self.pick(UNARY)
        return name, f"{name} = " + _named(text, x=x, y=y)

    def grow(self, steps):
        for _ in range(steps * 6):
            if len(self.lines) == steps:
                return
            name, line = self.statement()
            trial = dict(self.scope)
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    exec(line, trial)
                    made = trial[name] if name else None
                    seen = [trial[n] for n in self.names] + ([made] if name else [])
                    fine = all(_tame(v) for v in seen)
            except Exception:  # it doesn't fit
                fine = False
            if not fine:
                if name is None:  # something may have been written: go back
                    self._restart()
                continue
            self.lines.append(line)
            for n in self.names:  # a scalar that was written in place is another object
                self.scope[n] = trial[n]
            if name:
                self.scope[name] = made
                self.names.append(name)
                self.owned.append(name)

    def _restart(self):
        for name, a in zip([f"x{i}" for i in range(len(self.shapes))], self.arrays(), strict=True):
            self.scope[name] = la.array(a)
        for line in self.lines:
            exec(line, self.scope)

    def text(self):
        leaves = ", ".join(f"x{i}" for i in range(len(self.shapes)))
        results = ", ".join(n for n in self.names[len(self.shapes) :]) or leaves
        body = "".join(f"    {line}\n" for line in self.lines)
        return f"def f({leaves}):\n{body}    return [{results}]\n"


def _named(text, **names):
    """The text with other names for its one-letter ones."""
    return re.sub(r"(?<![\w.\"'])([xyt])(?![\w\"'(])", lambda m: names.get(m[1], m[1]), text)


def _tame(v):
    if not isinstance(v, la.NDArray) or v.dtype != np.float64 or v.size > LARGEST:
        return False
    a = v.asnumpy()
    return bool(np.isfinite(a).all()) and (a.size == 0 or float(np.abs(a).max()) < 50)


# ---- what is checked ----------------------------------------------------------------------------


class Wrong(Exception):
    pass


def leaves(arrays, req="write"):
    found = [la.array(a) for a in arrays]
    for x in found:
        x.attach_grad(req)
    return found


def flat(arrays):
    return np.concatenate([np.zeros(0), *[np.asarray(a).ravel() for a in arrays]])


def total(values, weights):
    """None where a step along the line changed how many values there are: it is not smooth."""
    if any(v.shape != w.shape for v, w in zip(values, weights, strict=True)):
        return None
    return sum(float((v.asnumpy() * w).sum()) for v, w in zip(values, weights, strict=True))


def differences(f, arrays, line, what, step=STEP):
    """The slope along a line, or None where f is not smooth."""

    def at(s):
        return what(f, [a + s * d for a, d in zip(arrays, line, strict=True)])

    found = []
    middle = at(0)
    for h in (step, step / 2):
        up, down = at(h), at(-h)
        if None in (up, down, middle):
            return None
        one, two = (up - middle) / h, (middle - down) / h
        if not np.isfinite([one, two]).all() or abs(one - two) > 1e-2 * max(1, abs(one), abs(two)):
            return None
        found.append((up - down) / (2 * h))
    scale = max(1.0, abs(found[0]), abs(found[1]))
    return None if abs(found[0] - found[1]) > 2e-6 * scale else found[1]


def near(a, b, scale, tol):
    return abs(a - b) <= tol * max(1.0, abs(a), abs(b), scale)


def run(f, xs, rng):
    """Heads of a recorded run with their weights."""
    with la.autograd.record():
        ys = f(*xs)
    weights = [rng.standard_normal(y.shape) for y in ys]
    return ys, weights


def check(f, arrays, seed):
    """Raises Wrong, or RuntimeError where a program overwrites what its gradient needs."""
    rng = np.random.default_rng(seed)
    plain = [y.asnumpy() for y in f(*[la.array(a) for a in arrays])]
    xs = leaves(arrays)
    ys, weights = run(f, xs, rng)
    for y, p in zip(ys, plain, strict=True):
        if not np.allclose(y.asnumpy(), p, rtol=1e-9, atol=1e-12, equal_nan=True):
            raise Wrong(f"recorded, a value is {y.asnumpy()!r}, else {p!r}")
    if not any(map(recorded, ys)):
        return
    ws = [la.array(w) for w in weights]
    with la.autograd.record():
        single = sum([(y * w).sum() for y, w in zip(ys, ws, strict=True)], la.array(0.0))
    la.autograd.backward(ys, ws, retain_graph=True)
    first = [x.grad.asnumpy() for x in xs]
    for a, g in zip(arrays, first, strict=True):
        if g.shape != a.shape or g.dtype != a.dtype:
            raise Wrong(f"a gradient {g.shape} of {g.dtype} for {a.shape}")
    la.autograd.backward(ys, ws, retain_graph=True)
    again = [x.grad.asnumpy() for x in xs]
    if flat(first).tobytes() != flat(again).tobytes():
        raise Wrong(f"the same graph gave {first}, then {again}")
    asked = la.autograd.grad(ys, xs, ws, retain_graph=True)
    agree("grad()", [g.asnumpy() for g in asked], first, xs)
    single.backward()
    agree("one head", [x.grad.asnumpy() for x in xs], first, xs)
    added = leaves(arrays, "add")
    for _ in range(2):
        ys, _ = run(f, added, rng)
        la.autograd.backward(ys, ws)
    agree("added twice", [x.grad.asnumpy() / 2 for x in added], first, xs)
    scale = float(np.abs(flat(first)).sum())
    if not np.isfinite(scale):
        raise Wrong(f"gradients {first}")
    for _ in range(2):
        line = [np.asarray(rng.standard_normal(a.shape)) for a in arrays]
        slope = sum(float((g * d).sum()) for g, d in zip(first, line, strict=True))
        want = differences(lambda *v: f(*map(la.array, v)), arrays, line,
                           lambda f, v: total(f(*v), weights))  # fmt: skip
        if want is not None and not near(slope, want, scale / 10, 2e-5):
            raise Wrong(f"a gradient of {slope} along a line of slope {want}")
    check_compiled(f, arrays, plain, weights, first)
    check_second(f, arrays, ws, rng)


def agree(what, got, want, xs):
    a, b = flat(got), flat(want)
    if not np.allclose(a, b, rtol=1e-9, atol=1e-10, equal_nan=True):
        raise Wrong(f"{what}: {got} for {want}")


def check_compiled(f, arrays, plain, weights, first):
    g = la.compile(f)
    ws = [la.array(w) for w in weights]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", la.CompileWarning)
        for _ in range(2):
            xs = leaves(arrays)
            with la.autograd.record():
                ys = g(*[la.copy(x) for x in xs])  # not a scalar, where it has no axes
            for y, p in zip(ys, plain, strict=True):
                if not np.allclose(y.asnumpy(), p, rtol=1e-9, atol=1e-12):
                    raise Wrong(f"compiled, a value is {y.asnumpy()!r}, else {p!r}")
            la.autograd.backward(ys, ws)
            agree("compiled", [x.grad.asnumpy() for x in xs], first, xs)


def check_second(f, arrays, ws, rng):
    turns = [np.asarray(rng.standard_normal(a.shape)) for a in arrays]

    def slope(f, values, create=False):
        """The first gradients' product with fixed directions."""
        xs = values if create else leaves(values)
        with la.autograd.record():
            ys = f(*xs)
            if any(y.shape != w.shape for y, w in zip(ys, ws, strict=True)):
                return None
            gs = la.autograd.grad(ys, xs, ws, create_graph=create)
            parts = [(g * la.array(t)).sum() for g, t in zip(gs, turns, strict=True)]
            whole = sum(parts[1:], parts[0])
        return whole if create else whole.item()

    xs = leaves(arrays)
    whole = slope(f, xs, True)
    if recorded(whole):
        whole.backward()
        seconds = [x.grad.asnumpy() for x in xs]
    else:
        seconds = [np.zeros(a.shape) for a in arrays]
    line = [np.asarray(rng.standard_normal(a.shape)) for a in arrays]
    got = sum(float((g * d).sum()) for g, d in zip(seconds, line, strict=True))
    want = differences(f, arrays, line, slope)
    scale = float(np.abs(flat(seconds)).sum())
    if want is not None and not near(got, want, scale / 10, 1e-4):
        raise Wrong(f"a second derivative of {got} along a line of slope {want}")


def gradient_case(rng):
    """None if the gradients of a random program are right, else a script that shows the error."""
    case = Case(rng)
    case.grow(int(rng.integers(1, 9)))
    text = case.text()
    scope = {"la": la, "nn": nn, "np": np}
    exec(text, scope)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            check(scope["f"], case.arrays(), case.seed)
    except NotImplementedError as exc:
        if "autograd" in str(exc) or "gradients of gradients" in str(exc):
            return None
        return script(case, text, exc)
    except (RuntimeError, ValueError) as exc:
        # The last: a scalar that was rebound is no longer what it was when the line was written.
        refused = ("overwritten", "in-place operation on an array with attach_grad",
                   "non-broadcastable output")  # fmt: skip
        if any(text in str(exc) for text in refused):
            return None
        return script(case, text, exc)
    except Exception as exc:
        return script(case, text, exc)
    finally:
        with contextlib.suppress(MemoryError):  # of what nobody reads: it is not the next program's
            la.waitall()
    return None


def script(case, text, exc):
    """What fails, to be run with tests/autograd on the path."""
    return (
        "import numpy as np, lazyarray as la\nfrom lazyarray import nn\nimport fuzzing\n\n"
        f"{text}\n"
        f"rng = np.random.default_rng({case.seed})\n"
        f"arrays = [np.asarray(rng.uniform(-1.2, 1.2, s)) for s in {case.shapes}]\n"
        f"fuzzing.check(f, arrays, {case.seed})\n"
        f"# {type(exc).__name__}: {str(exc)[:600]}\n"
    )
