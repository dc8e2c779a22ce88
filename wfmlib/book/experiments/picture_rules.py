"""A small convolutional network in torch, and six rules that train it, on flat rows of weights.

A row holds all weights of a network; several rows, one for each replica, are computed together.
torch is the optional extra ``wfmlib[torch]``, and is imported inside of functions only. "g" is the
gradient of the mean cross-entropy on a batch; momentum and the course of the rate are the same
under every rule: the whole rate for half of the steps, then down to a hundredth of it along a line
(Izmailov et al., arXiv 1803.05407).
"""

from __future__ import annotations

import contextlib
import math
from functools import lru_cache

import numpy as np

RULES = ("SGD", "SWA", "SAM", "ASAM", "Entropy-SGD", "replicated SGD")
CHANNELS, HIDDEN = (8, 16), 64  # of the two layers of convolutions; units of the third layer
CLASSES = 10


def torch():
    """Return the module torch; an ImportError that names the extra where it is not installed."""
    try:
        import torch
    except ImportError:
        raise ImportError(
            "picture-optimisers needs the extra torch: pip install 'wfmlib[torch]'"
        ) from None
    return torch


@contextlib.contextmanager
def one_thread():
    """Let torch compute on one thread, so that samples share the machine."""
    before = torch().get_num_threads()
    torch().set_num_threads(1)
    try:
        yield
    finally:
        torch().set_num_threads(before)


# ------------------------------------------------------------------------------------------------
# Pictures
# ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=2)
def pictures(data):
    """Return the pictures that may be drawn for training, their labels, and those for testing.

    The digits of scikit-learn have no test set: the last two are None, and what is not drawn is
    for testing. Fashion-MNIST is averaged over squares of 2 x 2 pixels. Greys are from 0 to 1.
    """
    if data == "digits":
        from sklearn.datasets import load_digits

        x, y = load_digits(return_X_y=True)
        return x.reshape(-1, 8, 8) / 16, y, None, None
    from wfmlib.datasets import fashion_mnist

    result = []
    for split in ("train", "test"):
        images, labels = fashion_mnist(split, dtype=np.float32)
        result += [images.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)) / 255, labels]
    return tuple(result)


def drawn(data, P, seed):
    """Return P pictures for training, drawn without regard to their labels, and those for testing.

    The training set has a mean of 0 and a variance of 1; the test set is moved and scaled alike.
    """
    x, y, *test = pictures(data)
    order = np.random.default_rng(seed).permutation(len(x))
    train, rest = order[:P], order[P:]
    tested = (x[rest], y[rest]) if test[0] is None else test
    centre, scale = x[train].mean(), x[train].std()
    both = ((x[train], y[train]), tested)
    as_tensor = torch().from_numpy
    return [
        (patches(as_tensor(((one - centre) / scale).astype(np.float32))), as_tensor(labels))
        for one, labels in both
    ]


# ------------------------------------------------------------------------------------------------
# Network
# ------------------------------------------------------------------------------------------------


def shapes(side):
    """Return the shapes of weights and biases: two convolutions of stride 2, two full layers."""
    first, second = CHANNELS
    left = second * (side // 2 // 2 + side // 2 % 2) ** 2
    return [
        (first, 9),
        (first,),
        (second, 9 * first),
        (second,),
        (HIDDEN, left),
        (HIDDEN,),
        (CLASSES, HIDDEN),
        (CLASSES,),
    ]


def patches(images):
    """Return what the 3 x 3 filters of the first layer see, shape (images, places, 9)."""
    x = images[:, None]
    return torch().nn.functional.unfold(x, 3, padding=1, stride=2).transpose(1, 2).contiguous()


def start(side, generator):
    """Return weights of a variance of 2 over the number of inputs, and biases of 0 (He)."""
    rows = [
        torch().randn(shape, generator=generator) * math.sqrt(2 / shape[-1])
        if len(shape) > 1
        else torch().zeros(shape)
        for shape in shapes(side)
    ]
    return torch().cat([row.reshape(-1) for row in rows])


def answers(w, x):
    """Return the ten outputs of each row of weights, shape (rows, images, 10).

    Parameters
    ----------
    w : torch.Tensor
        Shape (rows, weights).
    x : torch.Tensor
        What `patches` returns: shape (images, places, 9), or one such for each row.
    """
    t = torch()
    rows, images, places = len(w), x.shape[-3], x.shape[-2]
    half = math.isqrt(places)
    sizes = shapes(2 * half)
    pieces = t.split(w, [math.prod(shape) for shape in sizes], dim=1)
    A, a, B, b, C, c, D, d = (
        one.view(rows, *shape) for one, shape in zip(pieces, sizes, strict=True)
    )
    x = x.reshape(-1, images * places, 9).expand(rows, -1, -1)
    h = t.baddbmm(a[:, None], x, A.transpose(1, 2)).relu()
    h = h.view(rows * images, half, half, -1).permute(0, 3, 1, 2)
    h = t.nn.functional.unfold(h, 3, padding=1, stride=2)  # (rows * images, 9 channels, places)
    seen = h.transpose(1, 2).reshape(rows, -1, B.shape[2])
    h = t.baddbmm(b[:, None], seen, B.transpose(1, 2)).relu().view(rows, images, -1)
    h = t.baddbmm(c[:, None], h, C.transpose(1, 2)).relu()
    return t.baddbmm(d[:, None], h, D.transpose(1, 2))


def losses(w, x, y):
    """Return the sum over rows of the mean cross-entropy of each; y has the shape of x's images."""
    rows = answers(w, x)
    y = y.expand(rows.shape[:2])
    total = torch().nn.functional.cross_entropy(rows.flatten(0, 1), y.flatten())
    return total * len(w)


def gradient(w, batch):
    """Return the gradient of each row's loss on its own batch."""
    leaf = w.detach().requires_grad_()
    return torch().autograd.grad(losses(leaf, *batch), leaf)[0]


# ------------------------------------------------------------------------------------------------
# Rules
# ------------------------------------------------------------------------------------------------


def batches(x, y, size, seeds):
    """Yield batches for ever, one for each seed at once: every picture once an epoch."""
    orders, t = [np.random.default_rng(seed) for seed in seeds], torch()
    while True:
        epoch = t.from_numpy(np.array([rng.permutation(len(x)) for rng in orders]))
        for begin in range(0, len(x) - size + 1, size):
            chosen = epoch[:, begin : begin + size]
            yield x[chosen], y[chosen]


def course(done):
    """Return the factor of the rate when this share of the steps is done."""
    return float(np.clip(1.0 - 0.99 * (done - 0.5) / 0.4, 0.01, 1.0))


def train(rule, settings, rate, w, x, y, seed):
    """Train one network by a rule, with as many gradients as ``settings["gradients"]``.

    The gradients of all replicas are counted, both of a step of SAM, and those of the inner steps
    of Entropy-SGD. "1 replica" and "10 replicas" take the steps of "replicated SGD", and so other
    numbers of gradients.

    Returns
    -------
    weights : torch.Tensor
        Shape (weights,); of replicas the centre.
    told : dict
        ``steps``; ``used``, gradients; ``spread``, the distance of the replicas from their
        centre, relative to its length.
    """
    number = settings["replicas"] if rule == "replicated SGD" else 1
    steps = settings["gradients"]
    if rule in ("SAM", "ASAM"):
        steps //= 2
    elif rule == "Entropy-SGD":
        steps //= settings["inner"]
    elif "replica" in rule:
        steps //= settings["replicas"]
        number = int(rule.split()[0]) if rule != "replicated SGD" else number
    feed = batches(x, y, settings["batch"], [(*seed, k) for k in range(number)])
    w = w.repeat(number, 1)
    if rule == "Entropy-SGD":
        generator = (
            torch().Generator().manual_seed(int(np.random.default_rng(seed).integers(2**62)))
        )
        w = _entropy(settings, rate, w, feed, steps, generator)
        used = steps * settings["inner"]
    else:
        w = _momentum(rule, settings, rate, w, feed, steps)
        used = steps * (2 if rule in ("SAM", "ASAM") else number)
    centre = w.mean(dim=0)
    spread = (w - centre).norm(dim=1).mean() / centre.norm()
    return centre, {"steps": steps, "used": used, "spread": float(spread)}


def _momentum(rule, settings, rate, w, feed, steps):
    """Return the rows after steps of SGD, SWA, SAM, ASAM or replicated SGD.

    With u = beta u + g and w = w - rate u: SGD. SWA keeps half of the rate in the second half, and
    returns the mean of the weights of its steps (Izmailov et al. 2018, every step instead of every
    epoch). SAM takes g at w + rho g / |g|, ASAM at w + rho T^2 g / |T g|, T = |w| + eta, on the
    same batch (Foret et al., arXiv 2010.01412, eq. 2; Kwon et al., arXiv 2102.11600, eq. 5).
    Replicas are pulled to their centre by a share of the distance that grows geometrically
    (Pittorino et al., arXiv 2006.07897, Algorithm 2).
    """
    low, high = settings["pull"]
    speed, total = torch().zeros_like(w), torch().zeros_like(w)
    for k in range(steps):
        batch = next(feed)
        at = w
        if rule in ("SAM", "ASAM"):
            size = w.abs() + settings["eta"] if rule == "ASAM" else torch().ones_like(w)
            slope = size * gradient(w, batch)
            at = w + settings["rho"][rule] * size * slope / (slope.norm() + 1e-12)
        speed = settings["momentum"] * speed + gradient(at, batch)
        late = k >= steps // 2
        now = 0.5 if rule == "SWA" and late else 1.0 if rule == "SWA" else course(k / steps)
        w = w - rate * now * speed
        if len(w) > 1:
            w = w - low * (high / low) ** (k / max(steps - 1, 1)) * (w - w.mean(dim=0))
        if late:
            total = total + w
    return total / (steps - steps // 2) if rule == "SWA" else w


def _entropy(settings, rate, w, feed, steps, generator):
    """Return the row after outer steps of Entropy-SGD.

    Inner steps x = x - rate (g + gamma (x - w)) + noise, from x = w, with a running mean m of x;
    then u = beta u + w - m and w = w - u. gamma grows geometrically, so that the ball in which the
    entropy is measured shrinks (Chaudhari et al., arXiv 1611.01838, Algorithm 1 and sec. 4.3).
    """
    low, high = settings["gamma"]
    speed = torch().zeros_like(w)
    for k in range(steps):
        gamma, now = low * (high / low) ** (k / max(steps - 1, 1)), rate * course(k / steps)
        x = mean = w
        for _ in range(settings["inner"]):
            noise = torch().randn(w.shape, generator=generator)
            x = x - now * (gradient(x, next(feed)) + gamma * (x - w))
            x = x + settings["heat"] * math.sqrt(now) * noise
            mean = settings["keep"] * mean + (1 - settings["keep"]) * x
        speed = settings["momentum"] * speed + w - mean
        w = w - speed
    return w
