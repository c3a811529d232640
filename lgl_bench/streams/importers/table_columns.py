"""Which columns of a table are read: those an option names, else those with a usual name, each of its type.

What is taken for what is said, and so is what is ignored. A year, a label or features that are not there are an error
that says how to go on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pyarrow as pa
import pyarrow.csv
from pydantic import Field

from lgl_bench.core.errors import DataError
from lgl_bench.core.parquet import (
    ColumnError,
    ColumnType,
    ParquetError,
    check_columns,
    is_list,
    is_number,
    is_text,
    open_parquet,
    read_columns,
)
from lgl_bench.streams.importers.files import MAX_FEATURES, Options
from lgl_bench.streams.stream import Unit

USUAL = {
    "id": ("id", "doi", "arxiv_id", "arxiv", "paper_id", "paper", "node_id", "node", "vertex_id", "vertex", "key"),
    "time": ("time", "year", "publication_year", "pub_year", "node_year", "date", "publication_date", "published"),
    "label": ("label", "class", "topic", "category", "field", "subject", "venue", "y"),
    "split": ("split",),
    "source": ("source", "citing", "citing_id", "citing_doi", "citing_paper", "src", "from"),
    "target": ("target", "cited", "cited_id", "cited_doi", "cited_paper", "dst", "to"),
}
"""Names that a column has in tables people have, the first of them first; spelled with capitals or spaces too."""
FEATURES = ("features", "feat", "embedding", "x", "f_*", "feature_*", "feat_*", "x_*", "emb_*", "embedding_*")
"""Usual names of a list of features, and patterns of columns that are a feature each."""
NONE, STRUCTURE = "none", "structure"
_GO_ON = {
    "id": "",
    "time": f", or give --option time={NONE} for a graph without time",
    "label": f", or give --option label={NONE} for a graph that nothing can be learned on",
    "features": f", give --option features={STRUCTURE} to compute them from what each paper cites, or "
    f"--option features={NONE} to have none",
    "source": "",
    "target": "",
}
_SHOWN = 8  # columns named in a note


class TableOptions(Options):
    """Names of the columns, if they are not the usual ones, and how they are read.

    Attributes:
        time: A column of years or dates, or "none".
        label: A column of numbers or names, or "none".
        features: A list column, a pattern such as `f_*`, "structure" or "none".
        dimensions: How many features "structure" makes.
        unit: What dates are rounded to.
        unknown: What happens to an edge to a vertex that is not there.
    """

    id: str | None = None
    time: str | None = None
    label: str | None = None
    split: str | None = None
    features: str | None = None
    feature_index: str = "feature_index"
    feature_value: str = "feature_value"
    feature_count: int | None = Field(default=None, ge=1, le=MAX_FEATURES)
    dimensions: int = Field(default=64, ge=1, le=65_536)
    source: str | None = None
    target: str | None = None
    unit: Unit = "year"
    unknown: Literal["drop", "error"] = "drop"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The columns of a table that are read.

    Attributes:
        names: The column that is an id, a time, a label, ...; a part that is not read is missing.
        types: Of which type each must be.
        features: The columns of features.
        note: What is taken for what.
        ignored: The other columns.
    """

    names: dict[str, str]
    types: dict[str, ColumnType]
    features: tuple[str, ...] = ()
    note: str = ""
    ignored: tuple[str, ...] = ()

    @property
    def ids(self) -> list[str]:
        """The columns that hold ids: they are text, whatever they look like."""
        return [name for part, name in self.names.items() if part in ("id", "source", "target")]


def _is_plain(kind: Any) -> bool:
    """Numbers, or what a message can show that says why it is none."""
    if pa.types.is_dictionary(kind):
        return is_text(kind) or is_number(kind.value_type)
    others = (pa.types.is_boolean, pa.types.is_null, pa.types.is_decimal, pa.types.is_date, pa.types.is_timestamp)
    return is_number(kind) or is_text(kind) or any(check(kind) for check in others)


def _is_label(kind: Any) -> bool:
    return _is_plain(kind) and not pa.types.is_temporal(kind) and not pa.types.is_decimal(kind)


def _is_feature(kind: Any) -> bool:
    # A column of empty cells has no type; the first cell is named later.
    return is_number(kind) or bool(pa.types.is_boolean(kind) or pa.types.is_null(kind))


def _is_word(kind: Any) -> bool:
    return is_text(kind) or bool(pa.types.is_null(kind))


def _is_number_list(kind: Any) -> bool:
    return is_list(kind) and is_number(kind.value_type)


def _is_index_list(kind: Any) -> bool:
    return is_list(kind) and bool(pa.types.is_integer(kind.value_type))


_ID = ColumnType("a number or a name per row", _is_plain)
_TYPES = {
    "id": _ID,
    "time": ColumnType("a year or a date per row", _is_plain),
    "label": ColumnType("a number or a name per row", _is_label),
    "split": ColumnType("a word per row", _is_word),
    "source": _ID,
    "target": _ID,
}
_FEATURE = ColumnType("a number per row", _is_feature)
_LIST = ColumnType("a list of numbers per row", _is_number_list)
_INDEX = ColumnType("a list of whole numbers per row", _is_index_list)

Choose: TypeAlias = Callable[[pa.Schema], Chosen]
"""What is read of a table, by its schema."""


def choose_vertices(options: TableOptions) -> Choose:
    """Id, time, label, split and features."""

    def choose(schema: pa.Schema) -> Chosen:
        names = _parts(schema, options, ("id", "time", "label", "split"))
        features, types = _features(schema, options, set(names.values()))
        said = [f"{part} from '{name}'" for part, name in names.items()]
        if options.features == STRUCTURE:
            said.append("features from what each vertex cites")
        elif features:
            few = ", ".join(f"'{name}'" for name in features)
            several = f"the {len(features):,} columns '{features[0]}' to '{features[-1]}'"
            said.append(f"features from {few if len(features) < 3 else several}")
        used = {*names.values(), *features}
        return Chosen(
            names,
            # A pattern that fits all columns must not make features of label and time.
            types | {name: _TYPES[part] for part, name in names.items()},
            features,
            ", ".join(said),
            tuple(name for name in schema.names if name not in used),
        )

    return choose


def choose_edges(options: TableOptions) -> Choose:
    """Two ids."""

    def choose(schema: pa.Schema) -> Chosen:
        names = _parts(schema, options, ("source", "target"))
        said = ", ".join(f"{part} from '{name}'" for part, name in names.items())
        others = tuple(name for name in schema.names if name not in names.values())
        return Chosen(names, {name: _TYPES[part] for part, name in names.items()}, note=said, ignored=others)

    return choose


def ignored_note(file: str, ignored: Sequence[str]) -> tuple[str, ...]:
    """A sentence on columns that are not read."""
    if not ignored:
        return ()
    shown = ", ".join(ignored[:_SHOWN]) + (f" and {len(ignored) - _SHOWN:,} more" if len(ignored) > _SHOWN else "")
    return (f"ignored the column{'s' if len(ignored) > 1 else ''} {shown} of {file}",)


def _parts(schema: pa.Schema, options: TableOptions, parts: Sequence[str]) -> dict[str, str]:
    """The column of each part, as an option or its usual name has it."""
    found: dict[str, str] = {}
    for part in parts:
        given = getattr(options, part)
        if given == NONE and part in ("time", "label", "split"):
            continue
        column = given or usual_name(schema.names, part, options.unit)
        if column:
            found[part] = column
        elif part != "split":
            raise ColumnError(_missing(part, USUAL[part], schema.names))
    return found


def usual_name(columns: Sequence[str], part: str, unit: Unit = "year") -> str:
    """The column with the first of the usual names; empty if there is none."""
    names = USUAL[part]
    if part == "time" and unit == "month":  # a year cannot tell months
        names = tuple(sorted(names, key=lambda name: "year" in name))
    plain = {"_".join(column.casefold().replace("-", " ").split()): column for column in reversed(columns)}
    return next((plain[name] for name in names if name in plain), "")


def _features(
    schema: pa.Schema, options: TableOptions, used: set[str]
) -> tuple[tuple[str, ...], dict[str, ColumnType]]:
    """Lists of index and value, else a list, else every column that fits the pattern."""
    if options.features in (NONE, STRUCTURE):
        return (), {}
    if options.features is None and options.feature_index in schema.names:
        pair = options.feature_index, options.feature_value
        return pair, dict(zip(pair, (_INDEX, _LIST), strict=True))
    for pattern in FEATURES if options.features is None else (options.features,):
        if any(field.name == pattern and not _is_feature(field.type) for field in schema):
            return (pattern,), {pattern: _LIST}
        fitting = [field for field in schema if fnmatchcase(field.name, pattern) and field.name not in used]
        if options.features is None:  # what merely looks like a feature must be a number
            fitting = [field for field in fitting if _is_feature(field.type)]
        if fitting:
            columns = tuple(dict.fromkeys(field.name for field in fitting))
            return columns, dict.fromkeys(columns, _FEATURE)
    if options.features is not None:
        raise ColumnError(f"has no column '{options.features}'; its columns are {', '.join(schema.names)}")
    raise ColumnError(_missing("features", FEATURES, schema.names))


def _missing(part: str, usual: Sequence[str], columns: Sequence[str]) -> str:
    what = {"id": "ids", "time": "years or dates", "label": "labels", "source": "the citing ids"}.get(part, part)
    what = "the cited ids" if part == "target" else what
    return (
        f"has no column with {what}: none of its columns {', '.join(columns)} has a usual name ({', '.join(usual)}). "
        f"Name it with --option {part}=COLUMN{_GO_ON[part]}"
    )


def read_table_file(path: Path, choose: Choose) -> tuple[pa.Table, Chosen]:
    """The columns of a Parquet or CSV file that are chosen, each once and of its type."""
    try:
        if path.suffix == ".parquet":
            file = open_parquet(path, path.stat().st_size)
            chosen = choose(file.schema_arrow)
            return read_columns(file, chosen.types), chosen
        with pyarrow.csv.open_csv(path) as reader:
            chosen = choose(reader.schema)
        # Ids are text: as numbers, the arXiv ids 1501.0001 and 1501.00010 would be one.
        text = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(chosen.ids, pa.string()))
        return select(pyarrow.csv.read_csv(path, convert_options=text), chosen), chosen
    except ColumnError as error:
        raise column_problem(path.name, error) from error
    except ParquetError as error:
        raise DataError(f"{path} {error}; is the file cut short? Write it again") from error
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read ({error}); is the file cut short? Write it again") from error


def select(table: pa.Table, chosen: Chosen) -> pa.Table:
    """The columns of a table that are chosen, each once and of its type."""
    return table.select(check_columns(table.schema, chosen.types))


def column_problem(file: str, error: ColumnError) -> DataError:
    """What is wrong with the columns of a table, and how to name others."""
    named = "--option" in str(error)
    remedy = "" if named else ". Name the right columns with --option, for example --option id=paper_id"
    return DataError(f"{file} {error}{remedy}")
