"""Programs that know nothing of symdipa and answer exported queries: z3, cvc5, Spacer, ABC, BtorMC.

Each function says ``True`` if the pattern is there according to the query, ``False`` if it is not (within the
bound, where there is one).
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest
import z3

SECONDS = 60
ABC = shutil.which("berkeley-abc") or shutil.which("abc")

needs_abc = pytest.mark.skipif(ABC is None, reason="ABC is not installed")


def z3_says(text: str) -> str:
    solver = z3.Solver()
    solver.from_string(text)
    return str(solver.check())


def cvc5_says(text: str) -> str:
    """What cvc5's own parser makes of the text, command by command."""
    cvc5 = pytest.importorskip("cvc5")
    solver = cvc5.Solver()
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "query")
    symbols, said = parser.getSymbolManager(), ""
    while not (command := parser.nextCommand()).isNull():
        said += command.invoke(solver, symbols)
    return said.strip()


def spacer_says(text: str) -> str:
    solver = z3.SolverFor("HORN")
    solver.set(timeout=1000 * SECONDS)
    solver.from_string(text)
    return str(solver.check())


def of_smtlib(said: str) -> bool:
    return {"sat": True, "unsat": False}[said]


def of_chc(said: str) -> bool:
    return {"unsat": True, "sat": False}[said]


def abc(*questions: tuple[Path, str]) -> list[bool]:
    """What ABC's ``pdr`` or ``bmc3`` says about binary AIGER files, one after another in one process."""
    commands = [f"read_aiger {file}; {command}; echo {'=' * 9}" for file, command in questions]
    words = [str(ABC), "-c", "; ".join(commands)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=2 * SECONDS)
    told = done.stdout.partition("\n")[2].split("=" * 9)[:-1]  # the first line repeats the commands
    assert len(told) == len(questions), done.stdout
    return [_abc_found(said) for said in told]


def _abc_found(said: str) -> bool:
    if "was asserted in frame" in said:
        return True
    assert "Property proved" in said or "No output asserted" in said, said
    return False


class BtorMC:
    """The model checker of Boolector, out of the library that PyBoolector brings."""

    def __init__(self) -> None:
        found = pytest.importorskip("pyboolector")
        folders = [Path(found.__file__).parent, Path(found.__file__).parent / "pyboolector.libs"]
        files = [file for folder in folders for file in folder.glob("libboolector*")]
        if not files:
            pytest.skip("PyBoolector without its library")
        self._lib = ctypes.CDLL(str(files[0]))
        self._libc = ctypes.CDLL(None)

    def call(self, name: str, *arguments: object, number: bool = False) -> int | None:
        """A function of the library; pointers and numbers are integers, texts bytes."""
        function = getattr(self._lib, name)
        function.restype = ctypes.c_int32 if number else ctypes.c_void_p
        return function(*(ctypes.c_void_p(a) if isinstance(a, int) and a > 2**31 else a for a in arguments))

    def parse_error(self, file: Path) -> str | None:
        """What the reference parser of BTOR2 has to say against a file."""
        self._libc.fopen.restype = ctypes.c_void_p
        stream = self._libc.fopen(str(file).encode(), b"r")
        parser = self.call("btor2parser_new")
        assert stream and parser
        fine = self.call("btor2parser_read_lines", parser, stream, number=True)
        self._lib.btor2parser_error.restype = ctypes.c_char_p
        error = None if fine else self._lib.btor2parser_error(ctypes.c_void_p(parser)).decode()
        self.call("btor2parser_delete", parser)
        self._libc.fclose(ctypes.c_void_p(stream))
        return error

    def reached(self, text: str, bound: int) -> bool:
        """Whether its bounded search finds the bad state within so many steps."""
        mc = self.call("boolector_mc_new")
        btor = self.call("boolector_mc_get_btor", mc)
        node: dict[str, int | None] = {}
        for line in text.splitlines():
            if line.startswith(";"):
                continue
            number, what, *words = line.split(" ")
            match what, words:
                case "sort", ["bitvec", "1"]:
                    node[number] = self.call("boolector_bitvec_sort", btor, 1)
                case "zero" | "one", [sort]:
                    node[number] = self.call(f"boolector_{what}", btor, node[sort])
                case "input" | "state", [sort, name]:
                    node[number] = self.call(f"boolector_mc_{what}", mc, node[sort], name.encode())
                case "init" | "next", [_, state, value]:
                    self.call(f"boolector_mc_{what}", mc, node[state], node[value])
                case "and", [_, a, b]:
                    node[number] = self.call("boolector_and", btor, node[a], node[b])
                case "not", [_, a]:
                    node[number] = self.call("boolector_not", btor, node[a])
                case "bad", [a, "bad"]:
                    self.call("boolector_mc_bad", mc, node[a])
                case _:
                    raise AssertionError(f"not in the part of BTOR2 that is written: {line}")
        return bool(self.call("boolector_mc_bmc", mc, 0, bound, number=True) != -1)
