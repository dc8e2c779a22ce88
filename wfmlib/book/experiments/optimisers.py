"""Rules of deep learning that look for flat minima, each one step on an array of weights.

A `gradient` is a function of weights, of one mini-batch: its sum or mean, as the caller likes.
Norms are those of all weights together. What the weights are, and what is done to them after a
step (here each unit is brought back to norm one), is the caller's.
"""

from __future__ import annotations

import numpy as np


def sgd(w, gradient, eta):
    """Return ``w - eta g(w)``: plain stochastic gradient descent."""
    return w - eta * gradient(w)


def sam(w, gradient, eta, *, rho):
    """Return the step of sharpness-aware minimisation, ``w - eta g(w + rho g(w) / |g(w)|)``.

    The gradient is taken where, to first order, the loss is largest at distance rho. Source:
    P. Foret and others, ICLR (2021), eqs. (2) and (3). Both gradients are of one mini-batch.
    """
    first = gradient(w)
    size = np.linalg.norm(first)
    return w - eta * gradient(w + rho * first / size if size > 0 else w)


def asam(w, gradient, eta, *, rho, floor=0.01):
    """Return the step of adaptive SAM, ``w - eta g(w + rho T^2 g / |T g|)``, T = |w| + floor.

    T multiplies weight by weight, so that a rescaling of weights that leaves the function as it is
    moves the point with them (but for the floor). Source: J. Kwon and others, ICML (2021), eq. (7)
    and Algorithm 1; elementwise T, with its ``eta = 0.01`` as floor.
    """
    first = gradient(w)
    scaled = (np.abs(w) + floor) * first
    size = np.linalg.norm(scaled)
    ascent = rho * (np.abs(w) + floor) * scaled / size if size > 0 else 0.0
    return w - eta * gradient(w + ascent)


def averaged(mean, w, count):
    """Return the mean of `count` weights and one more: stochastic weight averaging.

    ``(count mean + w) / (count + 1)``. Source: P. Izmailov and others, UAI (2018), Algorithm 1.
    """
    return (count * mean + w) / (count + 1)


def entropy_sgd(w, gradients, eta, *, scope, inner_eta, noise, alpha, rng):
    """Return ``w - eta scope (w - mu)``, mu the mean of a short Langevin chain around w.

    The chain, from ``x = mu = w``, for each gradient g in turn::

        x = x - inner_eta (g(x) - scope (w - x)) + sqrt(inner_eta) noise z,  z normal
        mu = (1 - alpha) mu + alpha x

    ``scope (w - mu)`` is the gradient of minus the local entropy. Source: P. Chaudhari and others,
    ICLR (2017), Algorithm 1.
    """
    x, mu = w, w
    for gradient in gradients:
        pull = gradient(x) - scope * (w - x)
        kick = np.sqrt(inner_eta) * noise * rng.standard_normal(w.shape).astype(w.dtype)
        x = x - inner_eta * pull + kick
        mu = (1 - alpha) * mu + alpha * x
    return w - eta * scope * (w - mu)


def replicated(replicas, gradients, eta, *, spring):
    """Return replicas after ``w_a - eta (g_a(w_a) + spring (w_a - mean of all))``.

    Each has a gradient of its own mini-batch. A `spring` above ``1 / eta`` brings a replica to the
    mean and not beyond. Source: F. Pittorino and others, ICLR (2021), Sec. 4.
    """
    centre = replicas.mean(axis=0)
    moved = [w - eta * g(w) for w, g in zip(replicas, gradients, strict=True)]
    return np.array(moved) - min(eta * spring, 1.0) * (replicas - centre)
