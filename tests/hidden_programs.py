"""Mechanisms in which something that is no function of Python runs functions and keeps values meanwhile; and
ways to find the largest of some noisy values."""

from __future__ import annotations

import functools
import heapq
import math
import operator

from symdipa import laplace, mechanism


@mechanism
def key_with_statements(queries, *, k=3):
    noisy = [next(queries) + laplace(2) for _ in range(k)]

    def score(i):
        value = noisy[i]
        return value

    yield max(range(k), key=score)


@mechanism
def order_with_statements(queries, *, k=3):
    noisy = [next(queries) + laplace(2) for _ in range(k)]

    def score(i):
        value = noisy[i]
        return value

    yield tuple(sorted(range(k), key=score))


@mechanism
def sum_of_a_generator(queries, *, k=3):
    def entries():
        for _ in range(k):
            q = next(queries)
            yield q

    yield sum(entries()) + laplace(1)


@mechanism
def largest_of_a_generator(queries, *, k=3):
    left = [True] * k

    def noisy():
        while left:
            left.pop()
            yield next(queries) + laplace(2)

    yield max(noisy())


@mechanism
def both_of_two_generators(queries, *, k=2):
    def some(scale):
        for _ in range(k):
            value = next(queries) + laplace(scale)
            yield value

    for a, b in zip(some(2), some(3), strict=True):
        yield "above" if a >= b else "below"


@mechanism
def filtered(queries, *, k=3):
    t = laplace(2)

    def is_above(pair):
        _, noisy = pair
        answer = noisy >= t
        del pair, noisy
        return answer

    for i, _ in filter(is_above, ((i, next(queries) + laplace(4)) for i in range(k))):
        yield i


@mechanism
def folded(queries, *, k=3):
    def larger(a, b):
        if a >= b:
            return a
        return b

    yield functools.reduce(larger, (next(queries) + laplace(2) for _ in range(k)))


@mechanism
def counted_in_an_expression(queries, *, k=3):
    def above():
        if next(queries) + laplace(2) >= 0:
            return 1
        return 0

    for _ in range(k):
        yield 2 + above()
        yield above() + above()


class Pair:
    def __init__(self, first, queries):
        self.first = first
        self.second = next(queries) + laplace(3)


@mechanism
def made_by_a_class(queries, *, k=2):
    for _ in range(k):
        pair = Pair(next(queries) + laplace(2), queries)
        yield "above" if pair.first >= pair.second else "below"


@mechanism
def asked_of_generators(queries, *, k=2):
    t = laplace(3)

    def answers():
        for _ in range(k):
            noisy = next(queries) + laplace(2)
            yield noisy >= t

    yield any(answers())
    yield all(answers())
    later = answers()
    yield next(later)
    yield next(later)


@mechanism
def delegated(queries, *, k=2):
    t = laplace(3)

    def answers(n):
        for _ in range(n):
            noisy = next(queries) + laplace(2)
            yield "high" if noisy >= t else "low"

    yield from answers(k)
    yield from map(str.upper, answers(k))
    for i, answer in enumerate(answers(k)):
        yield answer, i


@mechanism
def gap_of_two_entries(queries):
    """Each noise is drawn around its own entry, though only their difference is shown."""
    x = next(queries) + 1 + laplace(4)
    y = next(queries) + laplace(3)
    yield "gap", x - y
    z = laplace(2)
    yield "now"
    for _ in range(3):
        noisy = next(queries) + 1 + laplace(5)
        if noisy < -2 and y < z:
            yield "low"
        elif noisy >= -2 and y < z:
            yield "high", noisy - y


@mechanism
def entries_without_noise(queries):
    """Which of two entries was compared is kept apart."""
    x = next(queries) + laplace(2)
    y = -2
    while True:
        entry = next(queries)
        if x < y:
            x, y = entry, x
            yield "below"
        else:
            y = entry
            yield "above"
            break
    while True:
        noisy = laplace(4)
        if y > noisy:
            break
        yield "again"
    yield "z" if next(queries) + laplace(3) >= x else "w"


HIDDEN = [
    gap_of_two_entries,
    entries_without_noise,
    key_with_statements,
    order_with_statements,
    sum_of_a_generator,
    largest_of_a_generator,
    both_of_two_generators,
    filtered,
    folded,
    counted_in_an_expression,
    made_by_a_class,
    asked_of_generators,
    delegated,
]


@mechanism
def loop(queries, *, k=3):
    best, index = -math.inf, 0
    for i in range(k):
        noisy = next(queries) + laplace(2)
        if noisy > best:
            best, index = noisy, i
    yield index


@mechanism
def loop_from_none(queries, *, k=3):
    best = index = None
    for i in range(k):
        noisy = next(queries) + laplace(2)
        if best is None or noisy > best:
            best, index = noisy, i
    yield index


@mechanism
def enumerated(queries, *, k=3):
    best, index = -math.inf, 0
    for i, _ in enumerate(range(k)):
        noisy = next(queries) + laplace(2)
        if noisy > best:
            best, index = noisy, i
    yield index


@mechanism
def key_of_position(queries, *, k=3):
    noisy = [next(queries) + laplace(2) for _ in range(k)]
    yield max(range(k), key=lambda i: noisy[i])


@mechanism
def key_of_list(queries, *, k=3):
    noisy = [queries[i] + laplace(2) for i in range(k)]
    yield max(range(k), key=noisy.__getitem__)


@mechanism
def index_of_largest(queries, *, k=3):
    noisy = [next(queries) + laplace(2) for _ in range(k)]
    yield noisy.index(max(noisy))


@mechanism
def index_in_two_steps(queries, *, k=3):
    noisy = [next(queries) + laplace(2) for _ in range(k)]
    best = max(noisy)
    yield noisy.index(best)


@mechanism
def largest_pair(queries, *, k=3):
    yield max((next(queries) + laplace(2), i) for i in range(k))[1]


@mechanism
def zipped(queries, *, k=3):
    noisy = [next(queries) + laplace(2) for _ in range(k)]
    yield max(zip(noisy, range(k), strict=True))[1]


@mechanism
def enumerated_key(queries, *, k=3):
    noisy = [next(queries) + laplace(2) for _ in range(k)]
    yield max(enumerate(noisy), key=operator.itemgetter(1))[0]


@mechanism
def dictionary(queries, *, k=3):
    noisy = {i: next(queries) + laplace(2) for i in range(k)}
    yield max(noisy, key=noisy.get)


@mechanism
def last_in_order(queries, *, k=3):
    noisy = [next(queries) + laplace(2) for _ in range(k)]
    yield sorted(range(k), key=lambda i: noisy[i])[-1]


@mechanism
def pairs_in_order(queries, *, k=3):
    noisy = [next(queries) + laplace(2) for _ in range(k)]
    yield sorted(zip(noisy, range(k), strict=True), reverse=True)[0][1]


@mechanism
def reduced(queries, *, k=3):
    noisy = [next(queries) + laplace(2) for _ in range(k)]
    yield functools.reduce(lambda i, j: j if noisy[j] > noisy[i] else i, range(k))


@mechanism
def from_a_heap(queries, *, k=3):
    noisy = [next(queries) + laplace(2) for _ in range(k)]
    yield heapq.nlargest(1, range(k), key=lambda i: noisy[i])[0]


@mechanism
def above_all(queries, *, k=3):
    noisy = [next(queries) + laplace(2) for _ in range(k)]
    yield next(i for i in range(k) if all(noisy[i] >= x for x in noisy))


@mechanism
def equal_to_largest(queries, *, k=3):
    noisy = [next(queries) + laplace(2) for _ in range(k)]
    best = max(noisy)
    yield next(i for i, x in enumerate(noisy) if x == best)


@mechanism
def equal_in_a_loop(queries, *, k=3):
    noisy = [next(queries) + laplace(2) for _ in range(k)]
    best = max(noisy)
    for i in range(k):
        if noisy[i] == best:
            yield i
            return


@mechanism
def where_another_step_is_between(queries, *, k=3):
    noisy = [next(queries) + laplace(2) for _ in range(k)]
    best = max(noisy)
    for _ in range(k):
        if noisy[-1] < 0:
            best = max(noisy)
    yield noisy.index(best)


ARGMAX = [
    loop,
    loop_from_none,
    enumerated,
    key_of_position,
    key_of_list,
    index_of_largest,
    index_in_two_steps,
    largest_pair,
    zipped,
    enumerated_key,
    dictionary,
    last_in_order,
    pairs_in_order,
    reduced,
    from_a_heap,
    above_all,
    equal_to_largest,
    equal_in_a_loop,
    where_another_step_is_between,
]


@mechanism
def two_largest(queries, *, k=3):
    noisy = [next(queries) + laplace(2) for _ in range(k)]
    first = max(noisy)
    yield noisy.index(first)
    noisy.remove(first)
    yield noisy.index(max(noisy))


@mechanism(integer=True)
def of_integers(queries, *, k=3):
    """Where two are equal, it is the first."""
    noisy = [next(queries) + laplace(2) for _ in range(k)]
    yield noisy.index(max(noisy))
