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
from scipy.optimize import linear_sum_assignment

from wfmlib import datasets

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

    The small digits have no test set: the last two are None, and what is not drawn is for
    testing. Fashion-MNIST is averaged over squares of 4 x 4 pixels. Greys are from 0 to 1.
    """
    if data == "digits":
        images, labels = datasets.digits()
        return images / 16, labels, None, None

    result = []
    for split in ("train", "test"):
        images, labels = datasets.fashion_mnist(split, dtype=np.float32)
        result += [images.reshape(-1, 7, 4, 7, 4).mean(axis=(2, 4)) / 255, labels]
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


def shapes():
    """Return the shapes of weights and biases: two convolutions of stride 2, two full layers.

    Pictures of 7 x 7 or 8 x 8 pixels leave 4 x 4 and then 2 x 2 places.
    """
    first, second = CHANNELS
    return [
        (first, 9),
        (first,),
        (second, 9 * first),
        (second,),
        (HIDDEN, 4 * second),
        (HIDDEN,),
        (CLASSES, HIDDEN),
        (CLASSES,),
    ]


def patches(images):
    """Return what the 3 x 3 filters of the first layer see, shape (images, places, 9)."""
    x = images[:, None]
    return torch().nn.functional.unfold(x, 3, padding=1, stride=2).transpose(1, 2).contiguous()


def start(generator):
    """Return weights of a variance of 2 over the number of inputs, and biases of 0 (He)."""
    rows = [
        torch().randn(shape, generator=generator) * math.sqrt(2 / shape[-1])
        if len(shape) > 1
        else torch().zeros(shape)
        for shape in shapes()
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
    sizes = shapes()
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


def activities(w, x):
    """Return what the units of the hidden layers answer, shape (units, answers) each.

    For a filter of the first two layers these are its answers at all places of all pictures.
    """
    f, rows = torch().nn.functional, parts(w)
    h = (x @ rows[0].T + rows[1]).relu()  # (images, places, channels)
    half = math.isqrt(h.shape[1])
    found = [h.flatten(0, 1)]
    seen = f.unfold(h.transpose(1, 2).unflatten(2, (half, half)), 3, padding=1, stride=2)
    h = (seen.transpose(1, 2) @ rows[2].T + rows[3]).relu()
    found.append(h.flatten(0, 1))
    found.append((h.flatten(1) @ rows[4].T + rows[5]).relu())
    return [one.T.double().numpy() for one in found]


def parts(w):
    """Return the arrays of one row of weights."""
    pieces = torch().split(w, [math.prod(shape) for shape in shapes()])
    return [piece.view(shape) for piece, shape in zip(pieces, shapes(), strict=True)]


def matched(w, other, x):
    """Return the function of the row `other`, its filters and units in the order of those of w.

    Each hidden layer is matched so that the correlations of the answers to pictures x add up to
    most: an assignment problem. A unit that never answers has a correlation of 0.
    """
    A, a, B, b, C, c, D, d = parts(other)
    first, second, third = (
        _order(mine, its) for mine, its in zip(activities(w, x), activities(other, x), strict=True)
    )
    B = B.unflatten(1, (len(A), 9))[:, first].flatten(1)[second]
    C = C.unflatten(1, (-1, len(B)))[:, :, second].flatten(1)[third]
    moved = A[first], a[first], B, b[second], C, c[third], D[:, third], d
    return torch().cat([one.reshape(-1) for one in moved])


def _order(mine, its):
    """Return which of its units goes to the place of each of mine."""
    a, b = (rows - rows.mean(axis=1, keepdims=True) for rows in (mine, its))
    size = np.linalg.norm(a, axis=1)[:, None] * np.linalg.norm(b, axis=1)
    alike = np.divide(a @ b.T, size, out=np.zeros_like(size), where=size > 0.0)
    return torch().from_numpy(linear_sum_assignment(alike, maximize=True)[1])


def gradient(w, x, y):
    """Return the gradient of each row's mean cross-entropy on its own pictures, or on all."""
    leaf = w.detach().requires_grad_()
    return torch().autograd.grad(loss(leaf, x, y), leaf)[0]


def loss(w, x, y):
    """Return the sum over rows of each row's mean cross-entropy."""
    found = answers(w, x)
    y = y.expand(found.shape[:2]).flatten()
    return torch().nn.functional.cross_entropy(found.flatten(0, 1), y) * len(w)


# ------------------------------------------------------------------------------------------------
# Rules: each is a generator that yields points and batches, and is sent the gradients there
# ------------------------------------------------------------------------------------------------


def train(settings, rates, first, x, y, seed, names):
    """Train a network by each of some rules at every rate, all side by side.

    The first six rules have as many gradients as ``settings["gradients"]``: both of a step of SAM
    count, those of all replicas, and those of the inner steps of Entropy-SGD. Other numbers of
    replicas take the steps of "replicated SGD", and so other numbers of gradients. Which rules are
    trained side by side changes numbers in their last digits, and with them the way training goes.

    Returns
    -------
    dict
        Of each rule: weights, shape (rates, weights), of replicas the centre; their distance from
        the centre over its length, shape (rates,); steps; gradients of each rate.
    """
    t, all_of_them = torch(), settings["gradients"]
    rate = t.tensor(rates, dtype=t.float32)[:, None]
    w = first.repeat(len(rates), 1)
    batches = Batches(len(x), settings["batch"], len(rates), seed)
    half, part = all_of_them // 2, all_of_them // settings["replicas"]
    outer = all_of_them // settings["inner"]
    noise = t.Generator().manual_seed(int(np.random.default_rng(seed).integers(2**62)))
    playing = {
        "SGD": sgd(settings, rate, w, batches, all_of_them),
        "SWA": swa(settings, rate, w, batches, all_of_them),
        "SAM": sam(settings, rate, w, batches, half, adaptive=False),
        "ASAM": sam(settings, rate, w, batches, half, adaptive=True),
        "Entropy-SGD": entropy_sgd(settings, rate, w, batches, outer, noise),
    }
    steps = dict(zip(playing, (all_of_them, all_of_them, half, half, outer), strict=True))
    for number in (settings["replicas"], *settings["others"]):
        name = f"{number} replica{'s' * (number > 1)}"
        name = "replicated SGD" if number == settings["replicas"] else name
        playing[name] = replicated(settings, rate, w, batches, part, number)
        steps[name] = part
    playing = {name: playing[name] for name in names}
    asked = {name: next(rule) for name, rule in playing.items()}
    used, found = dict.fromkeys(playing, 0), {}
    while asked:
        points, chosen = (t.cat(parts) for parts in zip(*asked.values(), strict=True))
        slopes = t.split(
            gradient(points, x[chosen], y[chosen]), [len(a[0]) for a in asked.values()]
        )
        for name, slope in zip(tuple(asked), slopes, strict=True):
            used[name] += len(slope) // len(rates)
            try:
                asked[name] = playing[name].send(slope)
            except StopIteration as end:
                found[name] = (*end.value, steps[name], used[name])
                del asked[name]
    return found


class Batches:
    """Which pictures the k-th batch holds: the same for all rules and rates, by replica."""

    def __init__(self, pictures, size, rates, seed):
        self.pictures, self.size, self.rates, self.seed = pictures, size, rates, seed
        self.orders = {}

    def __call__(self, k, replicas=1):
        """Return the places of the pictures, shape (rates * replicas, size)."""
        each = self.pictures // self.size
        rows = [self._epoch(k // each, one) for one in range(replicas)]
        begin = k % each * self.size
        chosen = np.array([row[begin : begin + self.size] for row in rows])
        return torch().from_numpy(np.tile(chosen, (self.rates, 1)))

    def _epoch(self, epoch, replica):
        if (epoch, replica) not in self.orders:
            rng = np.random.default_rng((*self.seed, epoch, replica))
            self.orders[epoch, replica] = rng.permutation(self.pictures)
        return self.orders[epoch, replica]


def course(done):
    """Return the factor of the rate when this share of the steps is done."""
    return float(np.clip(1.0 - 0.99 * (done - 0.5) / 0.4, 0.01, 1.0))


def growing(ends, k, steps):
    """Return what grows geometrically from one end to the other."""
    return ends[0] * (ends[1] / ends[0]) ** (k / max(steps - 1, 1))


def alone(w):
    """Return weights, and that there are no replicas away from them."""
    return w, torch().zeros(len(w))


def sgd(settings, rate, w, batches, steps):
    """Let u = beta u + g and w = w - rate u."""
    u = 0.0
    for k in range(steps):
        u = settings["momentum"] * u + (yield w, batches(k))
        w = w - rate * course(k / steps) * u
    return alone(w)


def swa(settings, rate, w, batches, steps):
    """Take steps of SGD, half as large in the second half, and return the mean of that half.

    Izmailov et al., arXiv 1803.05407, but with the weights of every step instead of every epoch.
    """
    u, total = 0.0, 0.0
    for k in range(steps):
        u = settings["momentum"] * u + (yield w, batches(k))
        late = k >= steps // 2
        w = w - rate * (0.5 if late else 1.0) * u
        total = total + w if late else total
    return alone(total / (steps - steps // 2))


def sam(settings, rate, w, batches, steps, adaptive):
    """Take the gradient where the batch's loss is higher: at w + rho T^2 g / |T g|.

    T = 1 (Foret et al., arXiv 2010.01412), or |w| + eta (Kwon et al., arXiv 2102.11600,
    which is "adaptive").
    """
    u, rho = 0.0, settings["rho"]["ASAM" if adaptive else "SAM"]
    for k in range(steps):
        size = w.abs() + settings["eta"] if adaptive else torch().ones_like(w)
        slope = size * (yield w, batches(k))
        slope = slope / (slope.norm(dim=1, keepdim=True) + 1e-12)
        u = settings["momentum"] * u + (yield w + rho * size * slope, batches(k))
        w = w - rate * course(k / steps) * u
    return alone(w)


def entropy_sgd(settings, rate, w, batches, steps, generator):
    """Follow the gradient of a local entropy, which is towards the mean m of nearby weights.

    Inner steps x = x - rate (g + gamma (x - w)) + noise, from x = w, with a running mean m of x;
    then u = beta u + w - m and w = w - u. gamma grows, so that the ball in which the entropy is
    measured shrinks (Chaudhari et al., arXiv 1611.01838).
    """
    u, inner = 0.0, settings["inner"]
    for k in range(steps):
        gamma, now = growing(settings["gamma"], k, steps), rate * course(k / steps)
        x = mean = w
        for j in range(inner):
            heat = torch().randn(w.shape, generator=generator) * settings["heat"]
            x = x - now * ((yield x, batches(k * inner + j)) + gamma * (x - w)) + now.sqrt() * heat
            mean = settings["keep"] * mean + (1 - settings["keep"]) * x
        u = settings["momentum"] * u + w - mean
        w = w - u
    return alone(w)


def replicated(settings, rate, w, batches, steps, number):
    """Take steps of SGD in replicas with batches of their own, and pull them to their centre.

    All begin at the same weights. The pull is a share of the distance, which grows (Pittorino et
    al., arXiv 2006.07897).
    """
    u, rates = 0.0, len(w)
    w, rate = w.repeat_interleave(number, dim=0), rate.repeat_interleave(number, dim=0)
    for k in range(steps):
        u = settings["momentum"] * u + (yield w, batches(k, number))
        w = (w - rate * course(k / steps) * u).view(rates, number, -1)
        w = w - growing(settings["pull"], k, steps) * (w - w.mean(dim=1, keepdim=True))
        w = w.flatten(0, 1)
    w = w.view(rates, number, -1)
    centre = w.mean(dim=1)
    return centre, (w - centre[:, None]).norm(dim=2).mean(dim=1) / centre.norm(dim=1)
