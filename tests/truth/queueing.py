"""Queues whose waiting times are known: by theory, and by an event simulation that shares nothing with it."""

import heapq
import math
import random

import numpy as np


def waiting_time_m_d_c(arrivals_per_s: float, service_s: float, servers: int) -> float:
    """Mean time in the queue of M/D/c, in seconds.

    Crommelin's argument: whoever is in service now has left one service time later, so the numbers in the system
    at t and t + D are linked by N' = max(N - c, 0) + Poisson(λD). The stationary law of that chain gives the mean
    queue, Little's law the wait. C. D. Crommelin, Delay probability formulae when the holding times are constant,
    P.O. Electrical Engineers' Journal 25 (1932), 41-50; H. C. Tijms, A First Course in Stochastic Models (2003),
    section 9.6.2.
    """
    offered = arrivals_per_s * service_s
    if not 0 < offered < servers:
        raise ValueError("the queue is not stable")
    states = 400
    numbers = np.arange(states)
    poisson = np.exp(-offered + numbers * math.log(offered) - np.array([math.lgamma(n + 1) for n in numbers]))
    law = np.zeros(states)
    law[0] = 1.0
    change = 1.0
    while change > 1e-14:
        left = np.zeros(states)
        left[0] = law[: servers + 1].sum()
        left[1 : states - servers] = law[servers + 1 :]
        following = np.convolve(left, poisson)[:states]
        change = float(np.abs(following - law).max())
        law = following
    queue = float((np.maximum(numbers - servers, 0) * law).sum())
    return queue / arrivals_per_s


def simulate_finite_source(
    clients: int, think_s: float, service_s: float, servers: int, transactions: int, seed: int
) -> float:
    """Mean time in the queue in seconds when `clients` think for exponential times and then ask once."""
    rng = random.Random(seed)
    arrivals = [rng.expovariate(1 / think_s) for _ in range(clients)]
    heapq.heapify(arrivals)
    free_at = [0.0] * servers
    waited = 0.0
    for _ in range(transactions):
        now = heapq.heappop(arrivals)
        start = max(now, heapq.heappop(free_at))
        heapq.heappush(free_at, start + service_s)
        heapq.heappush(arrivals, start + service_s + rng.expovariate(1 / think_s))
        waited += start - now
    return waited / transactions
