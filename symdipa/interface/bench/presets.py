"""Ready sweeps: the table and the two scaling figures of the paper's evaluation, on our own automata."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from symdipa.interface.bench.machine import SOURCE
from symdipa.interface.bench.plan import BadSweep, Expected, Item, member, sizes
from symdipa.model.patterns import Pattern


@dataclass(frozen=True, slots=True)
class Preset:
    """A sweep of ``examples`` (the paper's name, the file, what is known) and of ``members`` of families."""

    title: str
    members: tuple[tuple[str, str], ...]
    examples: tuple[tuple[str, str, Expected], ...] = ()

    def items(self, folder: Path | None) -> list[tuple[Item, Path | None]]:
        """The items, with the file of each that is an example. Raises :class:`BadSweep`."""
        found: list[tuple[Item, Path | None]] = []
        where = examples(folder) if self.examples else Path()
        for name, file, expected in self.examples:
            path = where / file
            if not path.is_file():
                raise BadSweep(f"the preset needs the example {file}, which is not in {where}")
            found.append((Item(name, file=file, expected=expected, published=name), path))
        for family, numbers in self.members:
            found += [(member(family, size), None) for size in sizes(numbers)]
        return found


def examples(folder: Path | None) -> Path:
    """The folder of the project's examples: ``folder``, or else that beside the package, or in this folder.

    Raises :class:`BadSweep` which says where they were looked for: an installed package has none.
    """
    places = [folder] if folder is not None else [SOURCE / "examples", Path.cwd() / "examples"]
    for place in places:
        if (place / "well_formed" / "svt.dipa").is_file():
            return place
    looked = " or ".join(map(str, dict.fromkeys(places)))
    raise BadSweep(
        f"the example files of symdipa are not in {looked}: they come with the source, not with the "
        "installed package; say with --examples FOLDER where they are"
    )


def _private(bound: str) -> Expected:
    return Expected((), "private", bound)


def _bad(pattern: Pattern) -> Expected:
    return Expected((pattern.key,), "not-private")


PRESETS: dict[str, Preset] = {
    "table1": Preset(
        "the paper's examples and the largest members of its families",
        (("k-minmax", "200"), ("m-range", "80")),
        (
            ("SVT", "well_formed/svt.dipa", _private("5/4")),
            ("Num-Sparse", "well_formed/num_sparse.dipa", _private("7/4")),
            ("DC-Example", "disclosing_cycle/dc_example.dipa", _bad(Pattern.DISCLOSING_CYCLE)),
            ("Num-Range-1", "privacy_violating_path/num_range_1.dipa", _bad(Pattern.PRIVACY_VIOLATING_PATH)),
            ("Num-Range-2", "well_formed/num_range_2.dipa", _private("5/4")),
            ("LC-Example", "leaking_cycle/lc_example.dipa", _bad(Pattern.LEAKING_CYCLE)),
            ("Two-Range-1", "leaking_pair/two_range_1.dipa", _bad(Pattern.LEAKING_PAIR)),
            ("Two-Range-2", "well_formed/two_range_2.dipa", _private("2")),
        ),
    ),
    "k-minmax": Preset("k-MinMax up to k = 200", (("k-minmax", "2,5,10,20:200:20"),)),
    "m-range": Preset("m-Range up to m = 80", (("m-range", "1,2,5,10:80:10"),)),
}


def files(names: Sequence[str]) -> list[tuple[str, Path]]:
    """The files that the arguments name, with their names in the results; folders stand for what is in them.

    Of a folder (with those in it) every ``.dipa`` file is taken, in order of their names. Raises
    :class:`BadSweep`.
    """
    found: dict[Path, str] = {}
    for name in names:
        path = Path(name)
        if not path.is_dir():
            found.setdefault(path, name)
            continue
        inside = sorted(file for file in path.rglob("*.dipa") if file.is_file())
        if not inside:
            raise BadSweep(f"there is no .dipa file in the folder {name}")
        for file in inside:
            found.setdefault(file, str(file))
    return [(name, path) for path, name in found.items()]
