"""Communities of a graph: nodes that hold together more than chance would have it (Louvain)."""

from __future__ import annotations

from collections import defaultdict, deque

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Labels = NDArray[np.intp]

VISITS = 10
"""How often, on the mean, a node may think again before communities become nodes."""
LEAST_GAIN = 1e-12


def communities(
    weights: Matrix, start: Labels, *, finer: float, total: float, draws: np.random.Generator
) -> Labels:
    """The community of each node; what `start` puts together stays together.

    Nodes are apart when what links them is less than `finer` times what chance would link among
    `total`: the more of it, the smaller the communities."""
    labels = start
    graph = collapsed(weights, start)
    while True:
        found = moved(graph, finer=finer / total, draws=draws)
        if found.max() + 1 == len(graph):
            return labels
        labels = found[labels]
        graph = collapsed(graph, found)


def collapsed(graph: Matrix, labels: Labels) -> Matrix:
    """Each community as one node, with all that linked its nodes."""
    if labels.max() + 1 == len(graph):
        return graph
    belongs = np.eye(labels.max() + 1)[labels]
    together: Matrix = belongs.T @ graph @ belongs
    return together


def moved(graph: Matrix, *, finer: float, draws: np.random.Generator) -> Labels:
    """Every node where it gains most, until none wants to move; numbered from 0."""
    degrees: list[float] = graph.sum(axis=1).tolist()
    links = [links_of(row, node) for node, row in enumerate(graph)]
    home = list(range(len(graph)))
    load = degrees.copy()
    waiting = deque(draws.permutation(len(graph)).tolist())
    waits = [True] * len(graph)
    for _ in range(VISITS * len(graph)):
        if not waiting:
            break
        node = waiting.popleft()
        waits[node] = False
        own = home[node]
        load[own] -= degrees[node]
        best = best_home(links[node], home, load, own=own, cost=finer * degrees[node])
        load[best] += degrees[node]
        if best != own:
            home[node] = best
            # Who is linked to it and elsewhere may now gain by another home.
            stirred = [n for n, _ in links[node] if home[n] != best and not waits[n]]
            waiting += stirred
            for neighbour in stirred:
                waits[neighbour] = True
    return np.unique(home, return_inverse=True)[1]


def links_of(row: NDArray[np.float64], node: int) -> list[tuple[int, float]]:
    """The other nodes that a node is linked to, each with how much."""
    others = [place for place in np.flatnonzero(row).tolist() if place != node]
    return list(zip(others, row[others].tolist(), strict=True))


def best_home(
    links: list[tuple[int, float]], home: list[int], load: list[float], *, own: int, cost: float
) -> int:
    """The community where a node gains most; its own, unless another is better."""
    pull: defaultdict[int, float] = defaultdict(float)
    for place, weight in links:
        pull[home[place]] += weight
    best, most = own, pull[own] - cost * load[own] + LEAST_GAIN
    for community, weight in pull.items():
        gain = weight - cost * load[community]
        if gain > most:
            best, most = community, gain
    return best
