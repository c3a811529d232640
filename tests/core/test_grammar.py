from __future__ import annotations

from lgl_bench.core.grammar import plugin_name, without_values


def test_names_are_what_is_left_of_an_expression():
    assert without_values("good(react(energy(temperature=1.0)),alpha=0.5)") == "good(react(energy))"
    assert without_values("not an expression!") == "not an expression!" and without_values("") == ""


def test_any_text_has_a_first_name():
    assert plugin_name("good(react(energy),alpha=0.5)") == "good" and plugin_name("isomax+") == "isomax+"
    assert plugin_name("dblp-easy-twin (seed=3)") == "dblp-easy-twin"
    assert plugin_name("not an expression!") == "not an expression!" and plugin_name("") == ""
