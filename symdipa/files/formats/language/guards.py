"""The guards of a ``.dipa`` text: what a branch compares.

A guard is read as a list of *alternatives*, each a conjunction: ``a || b`` has two, and so has
``abs(x) >= u``, which is ``x >= u``, or ``x < u && x <= -u``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from symdipa.files.formats.branches import MAX_PIECES
from symdipa.files.formats.common import shown
from symdipa.files.formats.language.words import AHEAD, NAME, RESERVED, SECOND_SAMPLE, SIGNS, Words, means
from symdipa.model.automaton import Atom, Guard, Term, atom, guarded

_AND = frozenset(["&&", "and", "∧"])
_OR = frozenset(["||", "or", "∨"])
_JOINS = _AND | _OR
_AT_LEAST = frozenset([">=", ">", "≥"])
_BELOW = frozenset(["<", "<=", "≤"])
_COMPARES = _AT_LEAST | _BELOW
_STRICT = frozenset([">", "<"])
_AS_WRITTEN = frozenset([">=", "≥", "<"])
"""Comparisons of ``insample`` with a variable that mean the same whether ties count or not."""
_EQUALS = frozenset(["=", "==", "!=", "≠"])
_AFTER_ATOM = frozenset([")", "then", ""]) | _JOINS
_END = frozenset([")", "then", ""]) | _JOINS | AHEAD


@dataclass(slots=True)
class Conjunction:
    """Comparisons that hold together, as a guard that grows."""

    ge: set[str] = field(default_factory=set)
    lt: set[str] = field(default_factory=set)
    others: set[Atom] = field(default_factory=set)

    def add(self, other: Conjunction) -> None:
        self.ge |= other.ge
        self.lt |= other.lt
        self.others |= other.others

    def both(self, other: Conjunction) -> Conjunction:
        return Conjunction(self.ge | other.ge, self.lt | other.lt, self.others | other.others)

    def guard(self, ties: bool) -> Guard:
        """The guard; ``ties``: whether ``insample`` can equal what it is compared with (:func:`guarded`)."""
        if not self.others:
            return Guard(frozenset(self.ge), frozenset(self.lt))
        rest = guarded(self.others, ties)
        return Guard(rest.ge | self.ge, rest.lt | self.lt, rest.others)


def both(alternatives: list[Conjunction], others: list[Conjunction]) -> list[Conjunction]:
    """One of the alternatives, and one of the others; no alternative at all stands for ``true``."""
    if not alternatives or not others:
        return alternatives or others
    if len(others) == 1:
        for each in alternatives:
            each.add(others[0])
        return alternatives
    return [each.both(other) for each in alternatives for other in others]


@dataclass(slots=True)
class Sum:
    """A side of a comparison: names with factors, plus a constant; ``absolute``: within ``abs(...)``."""

    text: str = ""
    factors: dict[str, int] = field(default_factory=dict)
    constant: Fraction = Fraction(0)
    absolute: bool = False

    def minus(self, other: Sum, sign: int = 1) -> Sum:
        """``sign`` times this sum, minus the other."""
        factors = {name: sign * factor for name, factor in self.factors.items()}
        for name, factor in other.factors.items():
            factors[name] = factors.get(name, 0) - factor
        kept = {name: factor for name, factor in factors.items() if factor}
        return Sum(factors=kept, constant=sign * self.constant - other.constant)

    def below_zero(self, strict: bool) -> Atom:
        """The comparison that says so; the sum has one or two names."""
        (name, factor), *more = sorted(self.factors.items())
        low = Term(name, Fraction(0), factor < 0)
        if abs(factor) == 2:
            high = Term(name, -self.constant, factor > 0)
        elif more:
            other, its = more[0]
            high = Term(other, -self.constant, its > 0)
        else:
            high = Term(None, -self.constant)
        return atom(low, high, strict)

    @property
    def fault(self) -> str:
        """What keeps ``self < 0`` from being a comparison, if anything does."""
        names = list(self.factors)
        if not names:
            return "says nothing about stored values: leave it out, or compare something else"
        if len(names) > 2:
            return f"compares {len(names)} values ({', '.join(names)}); it may have two, plus a constant"
        most = 2 if len(names) == 1 else 1
        large = next((name for name, factor in self.factors.items() if abs(factor) > most), None)
        return (
            f"has a multiple of {large}; values are compared as they are, or mirrored (-{large})"
            if large
            else ""
        )


class GuardParser(Words):
    """Parses what a branch compares."""

    def guard(self, reads: dict[str, int], ties: bool) -> tuple[Guard, ...]:
        """The alternatives of the guard that stands here; ``reads`` gets the variables and where they are."""
        start, too_many = self.offset, False
        opened: list[tuple[list[Conjunction], list[Conjunction], int]] = []
        done: list[Conjunction] = []
        current: list[Conjunction] = []
        while True:
            while self.accept("("):
                opened.append((done, current, self.starts[self.next - 1]))
                done, current = [], []
            if not self.accept("true") and not self.simple_atom(current, reads, ties):
                current = both(current, self.atom(reads))
            while opened and self.accept(")"):
                inner = [*done, *(current or [Conjunction()])] if done else current
                done, current, _ = opened.pop()
                if len(inner) * len(current) > MAX_PIECES:
                    inner, too_many = inner[:1], True
                current = both(current, inner)
            if len(done) + len(current) > MAX_PIECES:
                done, current, too_many = [], current[:1], True
            joined = self.join()
            if not joined:
                break
            if joined == "or":
                done += current or [Conjunction()]
                current = []
        if too_many:
            message = f"this guard has more than {MAX_PIECES} alternatives; write some of them as branches"
            self.fault(message, start)
            self.lost = False
        if opened and self.word in ("then", ""):
            place = self.report.position(opened[-1][2])
            self.expected(f"')' for the '(' at {place.line}:{place.column}")
        if self.word == ")":
            self.expected("'then' (this ')' closes nothing)")
        if not self.expect("then", "or '&&' after a comparison") and not self.stores():
            self.skip_to(AHEAD | {"then"})
            self.accept("then")
        return tuple(each.guard(ties) for each in (*done, *(current or [Conjunction()])))

    def join(self) -> str:
        """``and`` or ``or`` if another comparison follows; passes over the word between."""
        word = self.word
        if word in _AND or word in _OR:
            self.advance()
            return "and" if word in _AND else "or"
        if word in ("&", "|") or word.lower() in ("and", "or"):
            meant = "&&" if word == "&" or word.lower() == "and" else "||"
            self.expected(f"'{meant}'")
            self.advance()
            return "and" if meant == "&&" else "or"
        return ""

    def simple_atom(self, current: list[Conjunction], reads: dict[str, int], ties: bool) -> bool:
        """Read ``insample >= x`` or ``insample < x``, if that is what stands here."""
        left, operator, name, after = self.words[self.next : self.next + 4]
        if left != "insample" or operator not in _COMPARES or after not in _AFTER_ATOM:
            return False
        if name in RESERVED or not NAME.fullmatch(name) or (ties and operator not in _AS_WRITTEN):
            return False
        if not current:
            current.append(Conjunction())
        for each in current:
            (each.ge if operator in _AT_LEAST else each.lt).add(name)
        reads.setdefault(name, self.starts[self.next + 2])
        self.next += 3
        self.lost = False
        return True

    def atom(self, reads: dict[str, int]) -> list[Conjunction]:
        """The alternatives of any comparison; what cannot be read is reported, and says nothing."""
        at = self.offset
        if self.bad_beginning() or (left := self.sum(reads)) is None:
            self.skip_atom()
            return []
        operator = self.word
        if operator not in _COMPARES:
            self.no_comparison(left)
            self.skip_atom()
            return []
        self.advance()
        middle = self.next
        if (right := self.sum(reads)) is None:
            self.skip_atom()
            return []
        found = self.compared(left, operator, right, at)
        while self.word in _COMPARES:
            second, end = self.word, self.offset
            self.next += 1
            if (other := self.sum(reads)) is None:
                self.skip_atom()
                break
            both_sides = f"{left.text} {operator} {right.text} && {right.text} {second} {other.text}"
            self.report.add("spelling", f"a comparison has two sides: write {both_sides}", end)
            found = both(found, self.compared(right, second, other, self.starts[middle]))
            left, operator, right, middle = right, second, other, self.next
        if self.word and self.word not in _END and self.word.lower() not in ("&", "|", "and", "or"):
            self.after_comparison()
        return found

    def bad_beginning(self) -> bool:
        """Report what cannot begin a comparison, at the word that is to blame."""
        left, operator = self.words[self.next : self.next + 2]
        if left in SECOND_SAMPLE:
            self.fault("guards compare insample with variables; insample' can only be output")
        elif left in ("!", "not", "¬") and (left != "not" or operator not in _COMPARES):
            self.fault(f"{shown(left)}: there is no negation; write insample < x for !(insample >= x)")
        elif means(left, "true") and operator not in _COMPARES:
            self.expected("a comparison such as insample >= x", "true")
        elif left == "insample" or left in SIGNS or left.lstrip(".")[:1].isdigit():
            return False
        elif left in RESERVED or not NAME.fullmatch(left):
            self.expected("a comparison such as insample >= x")
        else:
            return False
        return True

    def no_comparison(self, left: Sum) -> None:
        equality = " (samples are equal with probability 0)" if self.word in _EQUALS else ""
        self.expected(f"'>=' or '<' after {left.text}{equality}")

    def after_comparison(self) -> None:
        """Report what follows a comparison and cannot."""
        if self.word in SIGNS or self.word == "(":
            self.fault(
                f"{shown(self.word)}: a side of a comparison is a value, or its negative, plus a constant"
            )
            self.skip_atom()

    def compared(self, left: Sum, operator: str, right: Sum, at: int) -> list[Conjunction]:
        """The alternatives of a comparison of two sums."""
        if left.absolute and right.absolute:
            self.fault("abs(...) stands on one side of a comparison; the other is a single value", at)
            self.lost = False
            return []
        at_least, strict = operator in _AT_LEAST, operator in _STRICT
        if right.absolute:
            left, right, at_least = right, left, not at_least
        low, high = (right, left) if at_least else (left, right)
        ends = [low.minus(high)]
        if left.absolute:
            ends = [left.minus(right), left.minus(right, -1)]
        for end in ends:
            if fault := end.fault:
                written = f"{left.text} {operator} {right.text}"
                self.fault(f"{shown(written)} {fault}", at)
                self.lost = False
                return []
        if not left.absolute:
            return [Conjunction(others={ends[0].below_zero(strict)})]
        if not at_least:
            return [Conjunction(others={end.below_zero(strict) for end in ends})]
        below = ends[0].below_zero(not strict)
        return [
            Conjunction(others={below.negation}),
            Conjunction(others={below, ends[1].below_zero(not strict).negation}),
        ]

    # Sums, up to a word that does not belong to one.

    def sum(self, reads: dict[str, int]) -> Sum | None:
        """A value or its negative, plus or minus constants (or values); ``None`` after a fault."""
        start = self.next
        if self.words[start : start + 2] == ["abs", "("]:
            self.next += 2
            found = self.plain_sum(reads)
            if found is None:
                return None
            if not self.accept(")"):
                self.expected("')' after abs(...")
                self.skip_atom()
                self.next += self.word == ")"
                return None
            found.absolute, found.text = True, self.written(start)
            if self.word in SIGNS:
                self.fault("abs(...) stands alone on its side: bring what is added to it to the other")
                return None
            return found
        return self.plain_sum(reads)

    def plain_sum(self, reads: dict[str, int]) -> Sum | None:
        start, found = self.next, Sum()
        sign = 1
        if self.word in ("-", "+"):
            sign = -1 if self.word == "-" else 1
            self.next += 1
        while self.summand(found, sign, reads):
            if self.word in ("*", "/"):
                self.fault(
                    f"{shown(self.written(start) + ' ' + self.word)}: no products, no quotients of values: "
                    "a value is compared as it is, or mirrored, plus a constant"
                )
                return None
            if self.word not in ("-", "+"):
                found.text = self.written(start)
                return found
            sign = -1 if self.word == "-" else 1
            self.next += 1
        return None

    def summand(self, found: Sum, sign: int, reads: dict[str, int]) -> bool:
        """Add a number or a value; whether there was one."""
        word, at = self.word, self.offset
        if word.lstrip(".")[:1].isdigit():
            start = self.next
            self.next += 1
            if word[-1:].isalpha() and NAME.fullmatch(word.lstrip("0123456789.")):
                meant = word.lstrip("0123456789.")
                self.fault(f"{shown(word)}: no products: compare {meant} itself, plus a constant", at)
                return False
            if self.word == "/" and self.words[self.next + 1].lstrip(".")[:1].isdigit():
                self.next += 2
            found.constant += sign * self.rational(start)
            return True
        if word == "(":
            self.fault("a side of a comparison is written without parentheses, such as t + 3")
            return False
        if word in SECOND_SAMPLE:
            self.fault("guards compare insample with variables; insample' can only be output")
            return False
        if word == "insample":
            self.next += 1
            self.lost = False
        elif word not in self.source.variables and means(word, "insample"):
            self.expected("'insample'", "insample")
            return False
        elif word == "input" and word not in self.source.variables:
            self.fault("an input is compared as a sample without noise: let the state draw it with inf")
            return False
        elif not (word := self.name_of_value()):
            return False
        else:
            reads.setdefault(word, at)
        found.factors[word] = found.factors.get(word, 0) + sign
        return True

    def name_of_value(self) -> str:
        """A variable; in a sum ``-`` is no part of a name."""
        word = self.word
        if word in RESERVED or not NAME.fullmatch(word):
            self.name("a variable") if word in RESERVED else self.expected("a variable or a number")
            return ""
        self.next += 1
        self.lost = False
        return word

    def skip_atom(self) -> None:
        """Go to the end of something that was meant to be a comparison."""
        depth = 0
        while self.word and self.word not in AHEAD and self.word != "then":
            if depth == 0 and (self.word == ")" or self.word in _JOINS):
                return
            depth += (self.word == "(") - (self.word == ")")
            self.next += 1
