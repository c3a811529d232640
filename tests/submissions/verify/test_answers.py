from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from tests.support.refusals import NOVELTY, first, refused


def test_swapped_vertices_are_refused(forged, base):
    def swap(frame):
        vertices = frame["vertex"].to_numpy().copy()
        vertices[[0, 1]] = vertices[[1, 0]]
        return frame.assign(vertex=vertices)

    forged.change_table(forged.answers(), swap)
    forged.seal()
    refused(forged, base, forged.answers().name, "column vertex", "row 0")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda frame: frame.iloc[1:], ("column vertex", "missing")),
        (lambda frame: pd.concat([frame, frame.iloc[:1]]), ("rows",)),
        (lambda frame: frame.assign(vertex=frame["vertex"] + 10_000), ("column vertex", "not asked for")),
        (lambda frame: first(frame, "time", 1999), ("column 'time'", "1999")),
        (lambda frame: first(frame, "class_pred", 77), ("class_pred", "77", "known classes")),
        (lambda frame: first(frame, NOVELTY, 1.5), (NOVELTY, "1.5")),
        (lambda frame: first(frame, NOVELTY, np.nan), (NOVELTY, "finite")),
        (lambda frame: first(frame, "confidence", 2.0), ("confidence", "2.0")),
        (lambda frame: frame.drop(columns="confidence"), ("confidence is missing",)),
        (lambda frame: first(frame, "neighbour:msp", -0.1), ("neighbour:msp", "-0.1")),
        (lambda frame: frame.drop(columns=NOVELTY), (f"{NOVELTY} is missing",)),
        (lambda frame: frame.assign(extra=1), ("'extra' has no place",)),
        (lambda frame: frame.assign(**{NOVELTY: frame[NOVELTY].astype("float32")}), (NOVELTY, "float32")),
        (lambda frame: frame.assign(class_pred=frame["class_pred"].astype(str)), ("class_pred", "string")),
        (lambda frame: frame.assign(class_pred=frame["class_pred"].astype("int32")), ("class_pred", "int64")),
        (lambda frame: frame.assign(**{NOVELTY: [pickle.dumps(1)] * len(frame)}), (NOVELTY, "pickle")),
    ],
)
def test_answers_that_answer_something_else_are_refused_by_name(forged, base, change, words):
    forged.change_table(forged.answers(), change)
    forged.seal()
    refused(forged, base, forged.answers().name, *words)


def test_a_class_that_is_born_later_cannot_be_predicted(forged, base):
    # Class 4 is born in the last year: no model can know it.
    forged.change_table(forged.answers(), lambda frame: first(frame, "class_pred", 4))
    forged.seal()
    refused(forged, base, "class_pred", "has 4")
