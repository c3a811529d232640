"""The loops of the native kernels, compiled by numba on first use and kept on disk.

Every result row is summed by one thread, in the order of its arcs, so sums do not depend on the number of threads: a
loop takes the range of rows (or of columns, where it scatters) that one thread computes. Arrays are C-contiguous and
float32; arcs are sorted by target: arcs `starts[v]` to `starts[v + 1]` lead into v, and `sources` says where from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

# Multiplications may be fused with additions, and sums over columns taken in lanes: the same on every run of a machine.
_FLOATS = {"contract", "reassoc", "nsz", "arcp"}


def _compiled(loop: Callable[..., Any]) -> Any:
    """Compiles a loop; without a folder to keep the result in, it is compiled in every process."""
    settings = {"nogil": True, "fastmath": _FLOATS, "error_model": "numpy"}  # a division does not look for zero
    try:
        return numba.njit(loop, cache=True, **settings)
    except RuntimeError:
        return numba.njit(loop, **settings)


# arcs
@_compiled
def sort_by_target(source, target, vertices):
    """Starts and sources of arcs in any order; arcs into a vertex keep theirs."""
    starts = np.zeros(vertices + 1, np.int64)
    for arc in range(len(target)):
        starts[target[arc] + 1] += 1
    for v in range(vertices):
        starts[v + 1] += starts[v]
    place = starts[:-1].copy()
    sources = np.empty(starts[vertices], np.int32)
    for arc in range(len(target)):
        v = target[arc]
        sources[place[v]] = source[arc]
        place[v] += 1
    return starts, sources


@_compiled
def with_loops(starts, sources):
    """The same arcs and a self-loop at every vertex, after its others."""
    vertices = len(starts) - 1
    begins = np.empty(vertices + 1, np.int64)
    of = np.empty(len(sources) + vertices, np.int32)
    for v in range(vertices):
        begins[v] = starts[v] + v
        for arc in range(starts[v], starts[v + 1]):
            of[arc + v] = sources[arc]
        of[starts[v + 1] + v] = v
    begins[vertices] = starts[vertices] + vertices
    return begins, of


@_compiled
def between(starts, sources, vertices, place):
    """The arcs between some vertices, which are numbered in their order; `place` is -1 everywhere, before and after."""
    for i in range(len(vertices)):
        place[vertices[i]] = i
    begins = np.zeros(len(vertices) + 1, np.int64)
    for i in range(len(vertices)):
        begins[i + 1] = begins[i]
        for arc in range(starts[vertices[i]], starts[vertices[i] + 1]):
            begins[i + 1] += place[sources[arc]] >= 0
    of = np.empty(begins[-1], np.int32)
    for i in range(len(vertices)):
        at = begins[i]
        for arc in range(starts[vertices[i]], starts[vertices[i] + 1]):
            if place[sources[arc]] >= 0:
                of[at] = place[sources[arc]]
                at += 1
    for i in range(len(vertices)):
        place[vertices[i]] = -1
    return begins, of


@_compiled
def at_two_hops(starts, sources, most):
    """Arcs from the vertices at distance two, in the order they are found; it stops if there are more than `most`."""
    vertices = len(starts) - 1
    begins = np.zeros(vertices + 1, np.int64)
    of = np.empty(0, np.int32)
    seen = np.full(vertices, -1, np.int64)
    for mark in (0, vertices):  # to count them, then to write them down
        if mark:
            of = np.empty(begins[vertices], np.int32)
        for v in range(vertices):
            seen[v] = mark + v
            for arc in range(starts[v], starts[v + 1]):
                seen[sources[arc]] = mark + v
            at = begins[v]
            for arc in range(starts[v], starts[v + 1]):
                u = sources[arc]
                for further in range(starts[u], starts[u + 1]):
                    w = sources[further]
                    if seen[w] != mark + v:
                        seen[w] = mark + v
                        if mark:
                            of[at] = w
                        at += 1
            begins[v + 1] = at
            if at > most:
                return begins, of
    return begins, of


@_compiled
def sort_by_source(starts, sources, vertices):
    """The same arcs by source: where each source's start, where each leads to, and its place among those by target."""
    begins = np.zeros(vertices + 1, np.int64)
    for arc in range(len(sources)):
        begins[sources[arc] + 1] += 1
    for u in range(vertices):
        begins[u + 1] += begins[u]
    next_place = begins[:-1].copy()
    targets, places = np.empty(len(sources), np.int32), np.empty(len(sources), np.int32)
    for v in range(len(starts) - 1):
        for arc in range(starts[v], starts[v + 1]):
            at = next_place[sources[arc]]
            next_place[sources[arc]] = at + 1
            targets[at], places[at] = v, arc
    return begins, targets, places


@_compiled
def take_rows(starts, sources, values, rows):
    """The arcs into some targets, in the order of `rows`, with their values."""
    taken = np.zeros(len(rows) + 1, np.int64)
    for i in range(len(rows)):
        taken[i + 1] = taken[i] + starts[rows[i] + 1] - starts[rows[i]]
    of, kept = np.empty(taken[-1], np.int32), np.empty(taken[-1], np.float32)
    for i in range(len(rows)):
        at = taken[i]
        for arc in range(starts[rows[i]], starts[rows[i] + 1]):
            of[at], kept[at] = sources[arc], values[arc]
            at += 1
    return taken, of, kept


# sums: inner loops run over slices from 0, because an index that could be negative keeps lanes from being used
@_compiled
def sums(starts, sources, h, out, first, last):
    """out[v] = sum of h[u] over arcs u -> v, four arcs at a time."""
    columns = h.shape[1]
    for v in range(first, last):
        into = out[v]
        for k in range(columns):
            into[k] = 0
        arc, end = starts[v], starts[v + 1]
        while arc + 4 <= end:
            a, b = h[sources[arc]], h[sources[arc + 1]]
            c, d = h[sources[arc + 2]], h[sources[arc + 3]]
            for k in range(columns):
                into[k] += (a[k] + b[k]) + (c[k] + d[k])
            arc += 4
        while arc < end:
            a = h[sources[arc]]
            for k in range(columns):
                into[k] += a[k]
            arc += 1


@_compiled
def weighted_sums(starts, sources, weights, h, out, first, last):
    """out[v] = sum of w h[u] over arcs u -> v, four arcs at a time."""
    columns = h.shape[1]
    for v in range(first, last):
        into = out[v]
        for k in range(columns):
            into[k] = 0
        arc, end = starts[v], starts[v + 1]
        while arc + 4 <= end:
            a, b, wa, wb = h[sources[arc]], h[sources[arc + 1]], weights[arc], weights[arc + 1]
            c, d, wc, wd = h[sources[arc + 2]], h[sources[arc + 3]], weights[arc + 2], weights[arc + 3]
            for k in range(columns):
                into[k] += (wa * a[k] + wb * b[k]) + (wc * c[k] + wd * d[k])
            arc += 4
        while arc < end:
            a, w = h[sources[arc]], weights[arc]
            for k in range(columns):
                into[k] += w * a[k]
            arc += 1


@_compiled
def placed_sums(starts, sources, places, weights, h, out, first, last):
    """out[v] = sum of w h[u] over arcs u -> v, with the weight of an arc at its place."""
    columns = h.shape[1]
    for v in range(first, last):
        into = out[v]
        for k in range(columns):
            into[k] = 0
        for arc in range(starts[v], starts[v + 1]):
            a, w = h[sources[arc]], weights[places[arc]]
            for k in range(columns):
                into[k] += w * a[k]


@_compiled
def placed_sums_and_products(starts, sources, places, weights, h, other, out, along, first, last):
    """The same, and at the place of every arc the product of h at its source and `other` at its target."""
    columns = h.shape[1]
    for v in range(first, last):
        into, own = out[v], other[v]
        for k in range(columns):
            into[k] = 0
        for arc in range(starts[v], starts[v + 1]):
            a, w, total = h[sources[arc]], weights[places[arc]], np.float32(0)
            for k in range(columns):
                into[k] += w * a[k]
                total += own[k] * a[k]
            along[places[arc]] = total


@_compiled
def scattered_sums(starts, sources, grad, out, first, last):
    """out[u] += grad[v] over arcs u -> v, for a range of columns."""
    columns = last - first
    for v in range(len(starts) - 1):
        sent = grad[v, first:last]
        for arc in range(starts[v], starts[v + 1]):
            into = out[sources[arc], first:last]
            for k in range(columns):
                into[k] += sent[k]


@_compiled
def scattered_weighted_sums(starts, sources, weights, grad, out, first, last):
    """out[u] += w grad[v] over arcs u -> v, for a range of columns."""
    columns = last - first
    for v in range(len(starts) - 1):
        sent = grad[v, first:last]
        for arc in range(starts[v], starts[v + 1]):
            into, w = out[sources[arc], first:last], weights[arc]
            for k in range(columns):
                into[k] += w * sent[k]


@_compiled
def products_along(starts, sources, h, grad, out, first, last):
    """out[arc] = h[u] . grad[v] of every arc u -> v."""
    columns = h.shape[1]
    for v in range(first, last):
        received = grad[v]
        for arc in range(starts[v], starts[v + 1]):
            sent, total = h[sources[arc]], np.float32(0)
            for k in range(columns):
                total += sent[k] * received[k]
            out[arc] = total


# attention
@numba.njit(inline="always", fastmath=_FLOATS)
def _exp(x):
    """e^x for x <= 0 to float precision (Cephes' polynomial); unlike the library's, it is computed in lanes."""
    x = max(x, np.float32(-87.0))
    n = np.floor(x * np.float32(1.44269504) + np.float32(0.5))
    r = x - n * np.float32(0.693359375) + n * np.float32(2.12194440e-4)
    p = np.float32(1.9875691500e-4)
    p = p * r + np.float32(1.3981999507e-3)
    p = p * r + np.float32(8.3334519073e-3)
    p = p * r + np.float32(4.1665795894e-2)
    p = p * r + np.float32(1.6666665459e-1)
    p = p * r + np.float32(5.0000001201e-1)
    p = p * r * r + r + np.float32(1)
    return p * np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)


@numba.njit(inline="always")
def _bits(seed, at):
    """16 random bits that depend on a seed and a place alone; `random_bits` is the same in torch."""
    x = np.uint32((np.uint32(at) ^ np.uint32(seed)) * np.uint32(0x9E3779B1))
    x = np.uint32((x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D))
    x = np.uint32((x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B))
    return np.int32((x ^ (x >> np.uint32(16))) & np.uint32(0xFFFF))


@_compiled
def attention(starts, sources, product, heads, slope, seed, dropped, out, peak, total, first, last):
    """Sums over arcs u -> v of softmax(leaky(source[u] + target[v])) message[u], for every head.

    `product` holds per vertex the messages of all heads, then their scores as a source, then those as a target. `peak`
    and `total` receive the maximum and the sum of the softmax, which the way back needs.
    """
    width = out.shape[1] // heads
    at_source, at_target = heads * width, heads * width + heads
    scale = np.float32(65536.0 / (65536 - dropped))
    most = 0
    for v in range(first, last):
        most = max(most, starts[v + 1] - starts[v])
    share = np.empty(most * heads, np.float32)
    for v in range(first, last):
        begin, count = starts[v], starts[v + 1] - starts[v]
        target, highest, whole, into = product[v, at_target:], peak[v], total[v], out[v]
        for h in range(heads):
            highest[h] = -np.inf
            whole[h] = 0
        for k in range(heads * width):
            into[k] = 0
        for i in range(count):
            u = sources[begin + i]
            source, row = product[u, at_source:at_target], share[i * heads : i * heads + heads]
            for h in range(heads):
                z = source[h] + target[h]
                z = max(z, z * slope)
                row[h] = z
                highest[h] = max(highest[h], z)
        for i in range(count):
            row = share[i * heads : i * heads + heads]
            for h in range(heads):
                row[h] = _exp(row[h] - highest[h])
                whole[h] += row[h]
        if dropped > 0:
            for j in range(count * heads):
                kept = _bits(seed, begin * heads + j) >= dropped
                share[j] = share[j] * scale if kept else np.float32(0)
        for i in range(count):
            u = sources[begin + i]
            for h in range(heads):
                w = share[i * heads + h] / whole[h]
                part, message = into[h * width : h * width + width], product[u, h * width : h * width + width]
                for k in range(width):
                    part[k] += w * message[k]


@_compiled
def _attention_again(begins, targets, places, product, settings, peak, first, last, share, score, drawn):
    """For the arcs out of some sources: exponents, slopes of the leaky ReLU, and whether dropout kept them."""
    heads, slope, seed, dropped = settings
    at_source, at_target = product.shape[1] - 2 * heads, product.shape[1] - heads
    offset, size = begins[first], (begins[last] - begins[first]) * heads
    for u in range(first, last):
        source = product[u, at_source:at_target]
        for i in range(begins[u], begins[u + 1]):
            target, highest = product[targets[i], at_target:], peak[targets[i]]
            at, place = (i - offset) * heads, np.uint32(places[i]) * np.uint32(heads)
            to_share, to_score, to_place = share[at : at + heads], score[at : at + heads], drawn[at : at + heads]
            for h in range(heads):
                z = source[h] + target[h]
                to_score[h] = z
                to_share[h] = max(z, z * slope) - highest[h]
                to_place[h] = place + np.uint32(h)
    for j in range(size):
        share[j] = _exp(share[j])
    for j in range(size):
        score[j] = np.float32(1) if score[j] > 0 else slope
    if dropped > 0:
        for j in range(size):
            drawn[j] = np.uint32(1) if _bits(seed, drawn[j]) >= dropped else np.uint32(0)


@_compiled
def attention_backward(
    begins,
    targets,
    places,
    product,
    heads,
    slope,
    seed,
    dropped,
    peak,
    total,
    grad,
    inner,
    to_product,
    to_target,
    first,
    last,
):
    """The way back, source by source: to its messages and its source score; the scores of targets are added to.

    With s the softmax and d what dropout makes of it, d out / d score = s (d (message . grad) - out . grad), because
    the sum of s d (message . grad) over the arcs into a target is out . grad, which is `inner`. So no arc is kept from
    the way forth: exponents and dropout are computed again, some two thousand arcs at a time, which stay in the cache.
    """
    width = product.shape[1] // heads - 2
    at_source, at_target = heads * width, heads * width + heads
    scale = np.float32(65536.0 / (65536 - dropped))
    most = 2048
    for u in range(first, last):
        most = max(most, begins[u + 1] - begins[u])
    share, score = np.empty(most * heads, np.float32), np.empty(most * heads, np.float32)
    drawn = np.empty(most * heads, np.uint32)
    low = first
    while low < last:
        high = low + 1
        while high < last and begins[high + 1] - begins[low] <= most:
            high += 1
        offset = begins[low]
        settings = (heads, slope, seed, dropped)
        _attention_again(begins, targets, places, product, settings, peak, low, high, share, score, drawn)
        for u in range(low, high):
            message, to_message, to_source = product[u], to_product[u], to_product[u, at_source:at_target]
            for k in range(heads * width + heads):
                to_message[k] = 0
            for i in range(begins[u], begins[u + 1]):
                v, at = targets[i], (i - offset) * heads
                received, whole, back, into = grad[v], total[v], inner[v], to_target[v]
                for h in range(heads):
                    softmax, keep = share[at + h] / whole[h], np.float32(1)
                    if dropped > 0:
                        keep = scale * np.float32(drawn[at + h])
                    weight, along, column = softmax * keep, np.float32(0), np.uint64(h) * np.uint64(width)
                    for k in range(np.uint64(width)):
                        along += message[column + k] * received[column + k]
                        to_message[column + k] += weight * received[column + k]
                    found = softmax * (keep * along - back[h]) * score[at + h]
                    into[h] += found
                    to_source[h] += found
        low = high


@_compiled
def row_products(one, other, heads, out, first, last):
    """out[v, h] = one[v] . other[v] over the columns of each head."""
    width = one.shape[1] // heads
    for v in range(first, last):
        for h in range(heads):
            total = np.float32(0)
            for k in range(h * width, h * width + width):
                total += one[v, k] * other[v, k]
            out[v, h] = total


# dense matrices
@_compiled
def scale_by_ends(matrix, shares, first, last):
    """matrix[i, j] *= shares[i] + shares[j]."""
    for i in range(first, last):
        row, share = matrix[i], shares[i]
        for j in range(len(shares)):
            row[j] *= share + shares[j]


# hops
@_compiled
def add_hops(starts, sources, begins, weights, out):
    """out[v] += weights[h] for each of at most 64 different vertices `begins` that is h hops away from v.

    One search for all of them: bit i of a word says whether the i-th has been there.
    """
    vertices = len(starts) - 1
    seen, front, reached = np.zeros(vertices, np.uint64), np.zeros(vertices, np.uint64), np.zeros(vertices, np.uint64)
    for i in range(len(begins)):
        front[begins[i]] |= np.uint64(1) << np.uint64(i)
    for hop in range(len(weights)):
        count = 0
        for v in range(vertices):
            if front[v]:
                here = _ones(front[v])
                seen[v] |= front[v]
                out[v] += weights[hop] * here
                count += here
        if count == 0:
            return
        for v in range(vertices):
            bits = np.uint64(0)
            for arc in range(starts[v], starts[v + 1]):
                bits |= front[sources[arc]]
            reached[v] = bits & ~seen[v]
        front, reached = reached, front


@numba.njit(inline="always")
def _ones(word):
    """How many bits of a word are set."""
    count = 0
    while word:
        word &= word - np.uint64(1)
        count += 1
    return count


# dropout
@_compiled
def dropout(x, seed, dropped, relu, out, first, last):
    """out[i] = x[i] scaled up or 0, after a ReLU if asked for; of 65,536 units `dropped` are dropped."""
    scale = np.float32(65536.0 / (65536 - dropped))
    part, into = x[first:last], out[first:last]
    floor = np.float32(0.0) if relu else np.float32(-np.inf)
    for i in range(last - first):
        kept = _bits(seed, first + i) >= dropped
        # Asked this way round, what is not a number stays what it is.
        into[i] = np.float32(0) if not kept or part[i] < floor else part[i] * scale


@_compiled
def dropout_backward(grad, result, seed, dropped, relu, out, first, last):
    """out[i] = grad[i] scaled up where the unit was kept: after a ReLU these are the results above 0."""
    scale = np.float32(65536.0 / (65536 - dropped))
    part, into, kept = grad[first:last], out[first:last], result[first:last]
    if relu:
        for i in range(last - first):
            into[i] = part[i] * scale if kept[i] > 0 else np.float32(0)
    else:
        for i in range(last - first):
            into[i] = part[i] * scale if _bits(seed, first + i) >= dropped else np.float32(0)


# sampling
@_compiled
def sample(starts, sources, rows, fanout, seed, place):
    """Arcs into the rows, `fanout` of a row with more (Floyd's draw without repetition), and the vertices they read.

    `place` is -1 everywhere, before and after. The vertices read are the rows, then the others as they are met.
    """
    counts = np.zeros(len(rows) + 1, np.int64)
    for i in range(len(rows)):
        counts[i + 1] = counts[i] + min(starts[rows[i] + 1] - starts[rows[i]], fanout)
    taken = np.empty(counts[-1], np.int32)
    read = np.empty(len(rows) + counts[-1], np.int64)
    for i in range(len(rows)):
        read[i] = rows[i]
        place[rows[i]] = i
    found = len(rows)
    drawn = np.empty(fanout, np.int64)
    for i in range(len(rows)):
        begin, degree = starts[rows[i]], starts[rows[i] + 1] - starts[rows[i]]
        count = min(degree, fanout)
        for j in range(count):
            drawn[j] = j
        if degree > fanout:
            for j in range(fanout):
                top = degree - fanout + j
                pick = np.int64(_word(seed, i, j) % np.uint64(top + 1))
                for before in range(j):
                    if drawn[before] == pick:
                        pick = top
                        break
                drawn[j] = pick
        for j in range(count):
            u = sources[begin + drawn[j]]
            if place[u] < 0:
                place[u] = found
                read[found] = u
                found += 1
            taken[counts[i] + j] = place[u]
    for i in range(found):
        place[read[i]] = -1
    return counts, taken, read[:found].copy()


@numba.njit(inline="always")
def _word(seed, row, draw):
    """64 random bits that depend on a seed, a row and the number of a draw alone (the finaliser of SplitMix64)."""
    x = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15) * (
        (np.uint64(row) << np.uint64(20)) + np.uint64(draw) + np.uint64(1)
    )
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
