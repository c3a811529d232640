from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lgl_bench.core.errors import UnknownNameError, UsageError
from lgl_bench.core.expressions import Expression, build, complete, parse
from lgl_bench.core.grammar import DEEPEST, LONGEST, LONGEST_NUMBER
from lgl_bench.core.registry import Registry
from lgl_bench.detectors import detectors
from lgl_bench.detectors.variants import variants
from lgl_bench.thresholds import thresholds


def canonical(text, registry=detectors):
    return str(complete(parse(text), registry))


def message(call):
    with pytest.raises(UsageError) as caught:
        call()
    return str(caught.value)


def test_a_bare_name_is_an_expression_without_arguments_or_values():
    assert parse("msp") == Expression("msp")
    assert parse("  msp()  ") == Expression("msp")


def test_names_may_hold_a_hyphen_and_end_in_a_plus():
    assert parse("good(isomax+, alpha=1)") == Expression("good", (Expression("isomax+"),), (("alpha", 1),))
    assert parse("open-wrf").name == "open-wrf"


def test_numbers_words_and_truth_values_keep_their_types():
    found = dict(parse("x(a=3, b=.5, c=-2e-3, d=Train, e=TRUE, f=false, g=1.)").parameters)
    assert found == {"a": 3, "b": 0.5, "c": -0.002, "d": "train", "e": True, "f": False, "g": 1.0}
    assert [type(found[key]) for key in "abcdefg"] == [int, float, float, str, bool, bool, float]


def test_plugins_nest():
    assert parse("good(react(energy))") == Expression("good", (Expression("react", (Expression("energy"),)),))


def test_the_canonical_text_fills_in_defaults_sorts_values_and_is_in_lower_case_without_spaces():
    assert canonical("GOOD( Odin, ALPHA = .6 )") == "good(odin(eps=0.05,temperature=1000.0),alpha=0.6)"
    assert canonical("odin(temperature=10, eps=0)") == "odin(eps=0.0,temperature=10.0)"
    assert canonical("good(react(energy))") == "good(react(energy(temperature=1.0),percentile=90.0),alpha=0.5)"
    assert canonical("msp") == "msp"
    assert canonical("open-wrf(q=.2)", thresholds) == (
        "open-wrf(balance=true,dropout=0.5,epochs=200,fit=train,hidden=64,lr=0.01,q=0.2)"
    )


def test_a_preset_fills_in_what_was_not_given_and_loses_to_what_was():
    def preset(name):
        return {"odin": {"eps": 0.01, "temperature": 10}}.get(name, {})

    found = complete(parse("good(odin(eps=0.2))"), detectors, preset)
    assert str(found) == "good(odin(eps=0.2,temperature=10.0),alpha=0.5)"


def test_building_gives_the_plugin_with_its_values_and_what_it_wraps():
    found = build(parse("good(react(energy(temperature=2), percentile=80), alpha=1)"), detectors)
    assert type(found) is detectors.get("good")
    assert (found.alpha, found.base.percentile, found.base.base.temperature) == (1.0, 80.0, 2.0)
    assert isinstance(found.alpha, float)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "'', position 1: expected a name, found nothing more"),
        ("5", "'5', position 1: expected a name, found '5'"),
        ("odin energy", "'odin energy', position 6: expected the end, found 'energy'"),
        ("odin(eps=1))", "'odin(eps=1))', position 12: expected the end, found ')'"),
        ("good(odin", "'good(odin', position 10: expected ',' or ')', found nothing more"),
        ("good(odin, alpha=0.6", "'good(odin, alpha=0.6', position 21: expected ',' or ')', found nothing more"),
        ("good(odin energy)", "'good(odin energy)', position 11: expected ',' or ')', found 'energy'"),
        ("odin(eps=)", "'odin(eps=)', position 10: expected a number or a word, found ')'"),
        ("odin(=3)", "'odin(=3)', position 6: expected a name, found '='"),
        ("good(odin(eps=1)=3)", "'good(odin(eps=1)=3)', position 17: expected ',' or ')', found '='"),
        (
            "good(odin; alpha=1)",
            "'good(odin; alpha=1)', position 10: ';' has no place in an expression such as good(odin, alpha=0.6)",
        ),
        (
            "good(alpha=0.6, odin)",
            "'good(alpha=0.6, odin)', position 17: 'odin' stands after a named value; put it first",
        ),
        ("odin(eps=1, EPS=2)", "'odin(eps=1, EPS=2)', position 13: 'eps' is given twice"),
    ],
)
def test_text_that_is_no_expression_is_refused_with_the_position_and_what_was_found(text, expected):
    assert message(lambda: parse(text)) == expected


@pytest.mark.parametrize("text", ["odn", "good(odn)", "good(good(ODN))"])
def test_an_unknown_name_at_any_depth_gets_the_nearest_one(text):
    with pytest.raises(UnknownNameError) as caught:
        complete(parse(text), detectors)
    assert str(caught.value) == (
        "unknown detector 'odn'; did you mean 'odin'? 'lgl-bench list detectors' shows them all"
    )


def test_an_unknown_parameter_gets_the_nearest_one_and_all_there_are():
    assert message(lambda: canonical("odin(temprature=3)")) == (
        "detector 'odin' has no parameter 'temprature'; did you mean 'temperature'? It takes: eps, temperature"
    )


def test_an_unknown_parameter_near_to_none_still_makes_two_sentences():
    assert message(lambda: canonical("msp(zzz=3)")) == "detector 'msp' has no parameter 'zzz'. It takes: none"


@pytest.mark.parametrize(
    ("text", "registry", "expected"),
    [
        ("good(msp, alpha=high)", detectors, "detector 'good', alpha = high: expected float"),
        ("good(msp, alpha=true)", detectors, "detector 'good', alpha = true: expected float"),
        ("knn(k=2.5)", detectors, "detector 'knn', k = 2.5: expected int"),
        ("knn(k=true)", detectors, "detector 'knn', k = true: expected int"),
        ("open-wrf(balance=1)", thresholds, "threshold 'open-wrf', balance = 1: expected bool"),
        ("openwgl(fit=both)", thresholds, "threshold 'openwgl', fit = both: expected train or test"),
    ],
)
def test_a_value_of_the_wrong_type_is_named_with_the_type_it_should_have(text, registry, expected):
    assert message(lambda: canonical(text, registry)) == expected


def test_a_whole_number_serves_as_an_integer_however_it_is_written():
    assert canonical("knn(k=5.0)") == "knn(k=5)"


def test_a_trailing_comma_and_a_call_that_is_given_a_value_are_refused():
    assert "expected an argument, found ')'" in message(lambda: canonical("good(odin,)"))
    assert "expected ',' or ')', found '='" in message(lambda: canonical("good(odin()=3)"))


def test_a_number_too_large_to_hold_is_refused_like_any_other():
    assert message(lambda: canonical("knn(k=1e999)")) == (
        "'knn(k=1e999)', position 7: 1e999 is larger than any number that can be held"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("good", "detector 'good' wraps 1: base; 0 given in 'good'"),
        ("good(msp, odin)", "detector 'good' wraps 1: base; 2 given in 'good(msp,odin)'"),
        ("odin(msp)", "detector 'odin' wraps none; 1 given in 'odin(msp)'"),
        ("good(odin(msp))", "detector 'odin' wraps none; 1 given in 'odin(msp)'"),
    ],
)
def test_a_wrong_number_of_wrapped_plugins_is_told(text, expected):
    assert message(lambda: canonical(text)) == expected


def test_a_value_without_a_default_must_be_given():
    registry = Registry("detector", "lgl_bench.test_expressions")

    @registry.register("bare")
    class Bare:
        def __init__(self, size: int, kind: Literal["a", "b"] = "a") -> None:
            self.size, self.kind = size, kind

    assert message(lambda: canonical("bare", registry)) == "detector 'bare' needs a value for 'size'"
    assert canonical("bare(size=2)", registry) == "bare(kind=a,size=2)"


@pytest.mark.parametrize(
    ("text", "registry", "expected"),
    [
        ("good(msp, alpha=1.5)", detectors, "alpha = 1.5: it must lie in [0, 1]"),
        ("good(msp, alpha=-0.1)", detectors, "alpha = -0.1: it must lie in [0, 1]"),
        ("good(good(msp, alpha=2))", detectors, "alpha = 2.0: it must lie in [0, 1]"),
        ("odin(temperature=0)", detectors, "eps = 0.05, temperature = 0.0: eps >= 0 and temperature > 0, both finite"),
        ("odin(eps=-1)", detectors, "eps = -1.0, temperature = 1000.0: eps >= 0 and temperature > 0, both finite"),
        ("energy(temperature=-1)", detectors, "temperature = -1.0: it must be positive and finite"),
        ("react(energy, percentile=0)", detectors, "percentile = 0.0: it must lie in (0, 100]"),
        ("react(energy, percentile=101)", detectors, "percentile = 101.0: it must lie in (0, 100]"),
        ("knn(k=0)", detectors, "k = 0: it must be at least 1"),
        ("open-wrf(q=0)", thresholds, "q = 0.0: it must lie in (0, 1)"),
        ("open-wrf(q=1)", thresholds, "q = 1.0: it must lie in (0, 1)"),
        ("quantile(q=1)", thresholds, "q = 1.0: it must lie in (0, 1)"),
        ("conformal(q=0)", thresholds, "q = 0.0: it must lie in (0, 1)"),
        ("naive(delta=1)", thresholds, "delta = 1.0: it must lie in (0, 1)"),
        ("gdoc(delta_min=1)", thresholds, "delta_min = 1.0, scale = 3.0: delta_min in [0, 1), scale > 0 and finite"),
    ],
)
def test_a_value_outside_its_range_is_refused_when_the_plugin_is_built(text, registry, expected):
    assert message(lambda: build(parse(text), registry)) == expected


@pytest.mark.parametrize("alpha", [0, 1])
def test_the_ends_of_the_range_of_alpha_are_inside(alpha):
    assert build(parse(f"good(msp, alpha={alpha})"), detectors).alpha == alpha


NAMES = st.from_regex(r"[a-z][a-z0-9_-]{0,6}\+?", fullmatch=True)
WORDS = NAMES.filter(lambda word: word not in ("true", "false"))
VALUES = st.one_of(st.integers(-(10**9), 10**9), st.booleans(), st.floats(allow_nan=False, allow_infinity=False), WORDS)
PARAMETERS = st.dictionaries(NAMES, VALUES, max_size=3).map(lambda found: tuple(sorted(found.items())))
EXPRESSIONS = st.recursive(
    st.builds(Expression, NAMES, st.just(()), PARAMETERS),
    lambda inner: st.builds(Expression, NAMES, st.lists(inner, max_size=2).map(tuple), PARAMETERS),
    max_leaves=4,
)


@settings(max_examples=80, deadline=None)
@given(EXPRESSIONS.filter(lambda expression: len(str(expression)) <= LONGEST))
def test_the_text_of_an_expression_parses_back_to_it_types_and_all(expression):
    again = parse(str(expression))
    assert again == expression
    assert repr(again) == repr(expression)


@pytest.mark.parametrize("text", ["good(odin, alpha=0.6)", "good(react(mahalanobis))", "knn(k=3)"])
def test_a_canonical_expression_is_complete_already(text):
    once = complete(parse(text), detectors)
    assert complete(parse(str(once)), detectors) == once


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("good(" * 1000 + "msp" + ")" * 1000, f"an expression has at most {LONGEST} characters"),
        ("good(" * 9 + "msp" + ")" * 9, f"position 45: plugins nest at most {DEEPEST} deep"),
        ("(" * 100, "position 1: expected a name, found '('"),
        ("knn(k=" + "1" * 4301 + ")", f"(4,308 characters): an expression has at most {LONGEST} characters"),
        ("knn(k=" + "1" * 41 + ")", f"position 7: a number has at most {LONGEST_NUMBER} characters, found 41"),
        ("knn(k=1e99999999999999999999)", "position 7: 1e99999999999999999999 is larger than any number"),
        ("msp\x00", "'msp\\x00', position 4: '\\x00' has no place"),
        ("msp\ud800", "'msp\\ud800', position 4: '\\ud800' has no place"),
        ("knn(k=\u0663)", "position 7: '\u0663' has no place"),
        ("msp\u00a0", "position 4: '\\xa0' has no place"),
        ("m\u0131sp", "position 2: '\u0131' has no place"),
    ],
)
def test_whatever_is_given_is_refused_in_one_short_printable_sentence(text, expected):
    told = message(lambda: parse(text))
    assert expected in told
    assert len(told) < 400 and told.isprintable()


def test_plugins_nest_as_deep_as_is_allowed_and_build():
    text = "good(" * DEEPEST + "msp" + ")" * DEEPEST
    assert build(parse(text), detectors).base.base.alpha == 0.5
    assert canonical(text).count("alpha=0.5") == DEEPEST


def test_an_expression_that_grows_too_long_with_its_defaults_is_refused():
    registry = Registry("detector", "lgl_bench.test_expressions")

    @registry.register("wordy")
    class Wordy:
        def __init__(self, kind: str = "x" * LONGEST) -> None:
            self.kind = kind

    assert "with all its values written out an expression has at most" in message(lambda: canonical("wordy", registry))
    assert canonical("wordy(kind=short)", registry) == "wordy(kind=short)"


@pytest.mark.parametrize("value", ["1e308", "9223372036854775808", "-1e19", "1" * 40])
def test_an_integer_that_no_array_can_hold_is_refused(value):
    assert "an integer lies between -2**63 and 2**63" in message(lambda: build(parse(f"knn(k={value})"), detectors))


@pytest.mark.parametrize("raised", [ValueError, OverflowError, KeyError, MemoryError])
def test_whatever_a_plugins_constructor_raises_is_told_with_the_expression(raised):
    registry = Registry("detector", "lgl_bench.test_expressions")

    @registry.register("picky")
    class Picky:
        def __init__(self, size: int = 1) -> None:
            raise raised("out of range")

    told = message(lambda: build(parse("picky(size=7)"), registry))
    assert told.startswith(f"detector 'picky(size=7)' cannot be made: {raised.__name__}:") and "out of range" in told


def test_settings_to_choose_among_are_counted_before_they_are_made(monkeypatch):
    monkeypatch.setattr(detectors.get("odin"), "grid", {"eps": tuple(range(100)), "temperature": tuple(range(100))})
    assert "stands for 10,000 settings to choose among" in message(lambda: variants(parse("good(odin)")))
