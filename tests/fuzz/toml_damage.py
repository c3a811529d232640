"""Damage to a TOML file: values of another type, keys that are renamed, lists that grow, text that is no TOML."""

from __future__ import annotations

import datetime
import json
import random
import tomllib
from pathlib import Path
from typing import Any

from tests.fuzz.mutations import damage_bytes, damage_folder, damage_text, files_in, one_of

ODD: tuple[Any, ...] = (
    True, False, 0, 1, -1, 2, 2.5, -0.0, 1e300, float("nan"), float("inf"), -float("inf"), 10**6, 2**31, 2**63,
    -(2**63), 10**30, 10**400, "", " ", "a b", "a\nb", "a\0b", "../up", "/", ".", "..", "5", "true", "smoke", "paper",
    "temporal", "gcn", "good(good(msp))", "good(auto)", "good(preset)", "{alpha}", "{a}{a}", "\u00e9\u202e", "x" * 400,
    "x" * 100_000, "good(" * 400, "knn(k=" + "9" * 200 + ")", "dblp-easy-twin(birth_size=1e9)", "cora-twin(seed=-1)",
    [], [[]], [{}], {}, ["msp"] * 3, ["msp"] * 2000, list(range(3)), [0.1] * 2000, [True], ["x"], [None], {"a": []},
    {"a": {"b": {"c": [1]}}}, datetime.date(2001, 2, 3), datetime.datetime(2001, 2, 3, 4, 5, 6),
)  # fmt: skip
"""Values that a field may hold though it should not."""
_TEXTS = (
    "a = " + "[" * 3000,
    "a." * 5000 + "a = 1",
    "[" + "a." * 5000 + "a]",
    "a = " + "{a=" * 3000,
    "a = " + "9" * 5000,
    "[[a]]\n" * 5000,
    "a = 1\na = 2",
    "# " + "x" * (2**20 + 1),
    "[sweep]\n" + "".join(f"a{i} = [0, 1]\n" for i in range(40)),
    "[vary]\n" + "".join(f"v{i} = [0, 1]\n" for i in range(40)),
)


def damage_fields(folder: Path, rng: random.Random) -> None:
    """Changes one field anywhere in the tables of the file."""
    path = rng.choice(files_in(folder, ".toml"))
    fields = tomllib.loads(path.read_text(encoding="utf-8"))
    place = rng.choice(_places(fields))
    name = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
    kind = rng.randrange(6)
    if kind == 0:
        del place[name]
    elif kind == 1 and isinstance(place, dict):
        place[rng.choice(["colour", "name", "a b", "", "x" * 300, "a\nb", str(name).upper()])] = place.pop(name)
    elif kind == 2 and isinstance(place, list):
        place.extend([place[name]] * rng.choice([1, 5, 2000]))
    elif kind == 3:
        place[name] = [place[name]]
    else:
        place[name] = rng.choice(ODD)
    path.write_text("\n".join(f"{json.dumps(key)} = {_inline(value)}" for key, value in fields.items()))


def add_text(folder: Path, rng: random.Random) -> None:
    """Adds lines that are hard on a reader."""
    path = rng.choice(files_in(folder, ".toml"))
    parts = [path.read_text(encoding="utf-8", errors="replace"), rng.choice(_TEXTS)]
    path.write_text("\n".join(parts if rng.random() < 0.7 else parts[::-1]), encoding="utf-8")


def damage_words(folder: Path, rng: random.Random) -> None:
    """Puts an odd token into the text."""
    damage_text(folder, rng, ".toml")


damage_toml = one_of(*[damage_fields] * 6, add_text, damage_words, damage_words, damage_bytes, damage_folder)


def _places(value: Any) -> list[Any]:
    """Every table and list that holds something."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [*([value] if inner else []), *(place for one in inner for place in _places(one))]


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_inline(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    if isinstance(value, str | bool):
        return json.dumps(value)
    return "nothing" if value is None else value.isoformat() if isinstance(value, datetime.date) else str(value)
