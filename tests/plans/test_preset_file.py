from __future__ import annotations

import pytest

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.core.expressions import complete, parse
from lgl_bench.plans.preset_entries import DetectorEntry, FitEntry, StrategyEntry
from lgl_bench.plans.preset_file import check_target, load_presets, write_presets
from lgl_bench.strategies import strategies

ON = ("small", "temporal", "gcn")
WHERE = (*ON, "softmax")


def entry(**given) -> FitEntry:
    fields = {"stream": "small", "split": "temporal", "backbone": "gcn", "head": "softmax", "epochs": 5, "lr": 0.01}
    fields |= {"parameters": {"hidden": 8, "dropout": 0.5}, "studies": {"tune-1": 4}}
    return FitEntry(**(fields | given))


def detector(expression: str, **given) -> DetectorEntry:
    return DetectorEntry(expression=expression, **given)


def strategy(text: str, studies: dict[str, int] | None = None, **parameters) -> StrategyEntry:
    where = {"stream": "small", "split": "temporal", "backbone": "gcn"}
    return StrategyEntry(**where, strategy=text, parameters=parameters, studies=studies or {})


def taken(file, text: str, on=ON) -> dict | None:
    asked = parse(text)
    found = file.strategy(*on, asked, complete(asked, strategies))
    return None if found is None else found.parameters


HAND_WRITTEN = """
name = "mine"
[[fits]]
stream = "small"
split = "temporal"
backbone = "gcn"
head = "softmax"
epochs = 20
lr = 0.01
parameters = { layers = 2, hidden = 16, dropout = 0.5, fanout = [5, 2] }
studies = { tune-a = 7, tune-b = 5 }
detectors = [ { expression = "odin(eps=0.05, temperature=1000)" }, { expression = "good(odin(eps=0.1), alpha=0.3)" } ]
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "mine.toml"


@pytest.fixture
def hand_written(path):
    path.write_text(HAND_WRITTEN, encoding="utf-8")
    return load_presets(path)


def test_a_fit_of_the_file_is_a_preset_under_the_name_of_the_file(hand_written):
    found = hand_written.fit(*WHERE)
    assert found.name == "mine"
    assert found.backbone == {"layers": 2, "hidden": 16, "dropout": 0.5, "fanout": (5, 2)}
    assert [type(value) for value in found.backbone.values()] == [int, int, float, tuple]
    assert (found.training.epochs, found.training.lr) == (20, 0.01)


def test_trials_of_all_searches_add_up(hand_written):
    assert hand_written.entry(*WHERE).trials == hand_written.trials == 12


@pytest.mark.parametrize("i", range(4))
def test_what_the_file_does_not_name_is_none(hand_written, i):
    other = tuple("else" if j == i else part for j, part in enumerate(WHERE))
    assert hand_written.fit(*other) is None and hand_written.entry(*other) is None
    if i < 3:
        assert hand_written.detector(*other[:3], "odin") is None
    assert hand_written.detector(*ON, "energy") is None


def test_a_detector_has_its_own_parameters_alone_and_inside_another(hand_written):
    assert hand_written.detector(*ON, "odin") == {"eps": 0.05, "temperature": 1000}
    assert hand_written.detector(*ON, "good(odin)") == {"alpha": 0.3}


@pytest.mark.parametrize(
    ("given", "filled"),
    [
        ("odin", "odin(eps=0.05,temperature=1000)"),
        ("odin(eps=0.9)", "odin(eps=0.9,temperature=1000)"),
        ("good(odin)", "good(odin(eps=0.1),alpha=0.3)"),
        ("good(odin(temperature=1), alpha=0.7)", "good(odin(eps=0.1,temperature=1),alpha=0.7)"),
        ("good(good(odin))", "good(good(odin(eps=0.1),alpha=0.3))"),
        ("good(energy)", "good(energy)"),
    ],
)
def test_an_expression_is_filled_with_what_it_does_not_give_itself(hand_written, given, filled):
    assert str(hand_written.fill(parse(given), *ON)) == filled
    assert str(hand_written.fill(parse(given), "other", *ON[1:])) == str(parse(given))


def test_what_is_written_is_read_again(path):
    tuned = {"metric": "auroc", "value": 0.75, "seeds": 3, "budget": "quick", "search": "tpe"}
    tuned |= {"protocol": "temporal", "checksum": "ab", "lgl_bench": "0.1.0"}
    whole = entry(tuned=tuned, detectors=(detector("odin(eps=0.05)", auroc=0.7, candidates=32), detector("msp")))
    written = write_presets(path, [whole])
    assert written.name == "mine" and load_presets(path) == written
    assert load_presets(path).fits == (whole,)
    assert [file.name for file in path.parent.iterdir() if file.name.endswith("partial")] == []


def test_new_entries_join_those_of_an_existing_file(path):
    write_presets(path, [entry()], "first")
    write_presets(path, [entry(backbone="gat"), entry(head="gdoc")])
    found = load_presets(path)
    assert found.name == "first"
    assert {one.key[2:] for one in found.fits} == {("gcn", "softmax"), ("gcn", "gdoc"), ("gat", "softmax")}
    assert write_presets(path, [], "second").name == load_presets(path).name == "second"


def test_an_entry_that_is_tuned_again_keeps_the_trials_of_the_search_before(path):
    write_presets(path, [entry(studies={"tune-1": 4})])
    write_presets(path, [entry(studies={"tune-2": 10}, lr=0.1)])
    assert load_presets(path).entry(*WHERE).trials == 14
    write_presets(path, [entry(studies={"tune-2": 12}, lr=0.1)])
    assert load_presets(path).entry(*WHERE).trials == 16, "the same search went on"


def test_detectors_tuned_on_another_fit_go_with_it_and_those_on_the_same_stay(path):
    write_presets(path, [entry(detectors=(detector("odin(eps=0.1)"), detector("msp")))])
    write_presets(path, [entry(detectors=(detector("odin(eps=0.5)"),))])
    same = load_presets(path)
    assert same.detector(*ON, "odin") == {"eps": 0.5} and same.detector(*ON, "msp") == {}
    write_presets(path, [entry(lr=0.5, detectors=(detector("energy"),))])
    other = load_presets(path)
    assert other.detector(*ON, "energy") == {} and other.detector(*ON, "odin") is None


def test_a_write_that_fails_leaves_the_file_as_it_was(path):
    write_presets(path, [entry()])
    before = path.read_text(encoding="utf-8")
    with pytest.raises(UsageError, match="paper"):
        write_presets(path, [entry(backbone="gat")], "paper")
    assert path.read_text(encoding="utf-8") == before


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("epochs = 20", "epoch = 20", r"field 'fits\.0\.epochs': Field required"),
        ("epochs = 20", "epochs = 0", r"field 'fits\.0\.epochs'"),
        ("lr = 0.01", "lr = nan", r"field 'fits\.0\.lr'"),
        ('name = "mine"', 'name = "Paper-gcn"', "would pass for the paper's own preset"),
        ('name = "mine"', 'nam = "mine"', "field 'name'"),
        ('name = "mine"', 'name = "my preset"', "'my preset' cannot be a name"),
        ('name = "mine"', 'name = "../mine"', "'../mine' cannot be a name"),
        ("hidden = 16", "hidden = [16]", r"hidden = '\(16,\)': expected a whole number from 1 to 100,000"),
        ("hidden = 16", "hidden = 1000000000", "hidden = '1000000000': expected a whole number from 1 to 100,000"),
        ("dropout = 0.5", "dropout = true", "dropout = 'True': expected a number from 0 to 1"),
        ("epochs = 20", "epochs = true", r"field 'fits\.0\.epochs': Input should be a valid integer"),
        ("epochs = 20", 'epochs = "20"', r"field 'fits\.0\.epochs': Input should be a valid integer"),
        ("epochs = 20", "epochs = 99999999999", r"field 'fits\.0\.epochs': Input should be less than or equal"),
        ('name = "mine"', 'name = "mine"\nnotes = "x"', "field 'notes': Extra inputs are not permitted"),
        ("tune-a = 7", "tune-a = -7", r"field 'fits\.0\.studies\.tune-a'"),
        ('"odin(eps=0.05, temperature=1000)"', '"odin("', r"field 'fits\.0\.detectors\.0\.expression'"),
        ("good(odin(eps=0.1), alpha=0.3)", "odin(eps=0.1)", "odin is there twice"),
        ("[[fits]]", "[fits]", "field 'fits'"),
        ("[[fits]]", "[[fits", "cannot be read"),
    ],
)
def test_a_wrong_file_is_refused_with_its_name_and_the_field(path, old, new, expected):
    assert old in HAND_WRITTEN
    path.write_text(HAND_WRITTEN.replace(old, new), encoding="utf-8")
    with pytest.raises(UsageError, match=expected) as error:
        load_presets(path)
    assert "mine.toml" in str(error.value)


def test_an_entry_given_twice_is_refused(path):
    path.write_text(HAND_WRITTEN + HAND_WRITTEN.replace('name = "mine"', ""), encoding="utf-8")
    with pytest.raises(UsageError, match="small, temporal, gcn, softmax is there twice"):
        load_presets(path)


def test_a_file_that_is_not_there_says_how_to_make_it(path):
    with pytest.raises(UsageError, match="does not exist; 'lgl-bench tune"):
        load_presets(path)


def test_a_file_that_is_no_text_is_refused(path):
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="cannot be read"):
        load_presets(path)


def test_a_target_that_could_not_be_added_to_is_refused_before_anything_is_run(tmp_path, path):
    check_target(path)
    with pytest.raises(UsageError, match="paper"):
        check_target(tmp_path / "paper.toml")
    path.write_text("name = 3", encoding="utf-8")
    with pytest.raises(UsageError, match="field 'name'"):
        check_target(path)


def test_a_folder_that_cannot_be_made_is_an_error_of_the_data(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(DataError, match="cannot be written"):
        write_presets(tmp_path / "file" / "mine.toml", [entry()])


def test_a_strategy_takes_the_entry_that_says_most_of_it_unless_it_gives_a_value_itself(path):
    entries = [
        strategy("replay", size=500),
        strategy("replay(pick=mean)", size=50),
        strategy("twp", loss=1.0, topology=2.0),
    ]
    file = write_presets(path, entries)
    assert load_presets(path) == file
    assert taken(file, "replay") == taken(file, "replay(pick=random)") == {"size": 500}
    assert taken(file, "replay(pick=mean)") == {"size": 50}
    assert taken(file, "replay(size=200)") is None and taken(file, "ewc") is None
    assert taken(file, "twp(loss=1)") is None, "the other value was found together with another one"
    assert taken(file, "twp(gradient=0)") == {"loss": 1.0, "topology": 2.0}
    assert taken(file, "replay", ("small", "temporal", "mlp")) is None


def test_fits_and_strategies_are_added_side_by_side_and_trials_of_a_strategy_add_up(path):
    write_presets(path, [strategy("replay", {"tune-1": 3}, size=500)])
    write_presets(path, [entry()])
    file = write_presets(path, [strategy("replay", {"tune-2": 2}, size=50), strategy("ewc", strength=1.0)])
    assert [one.strategy for one in file.strategies] == ["ewc", "replay"] and len(file.fits) == 1
    assert file.strategies[1].parameters == {"size": 50} and file.strategies[1].trials == 5
    assert file.trials == 9


def test_a_strategy_that_is_there_twice_is_refused(path):
    text = '[[strategies]]\nstream = "a"\nsplit = "temporal"\nbackbone = "gcn"\n'
    text += 'strategy = "{}"\nparameters = {{ size = 5 }}\n'
    path.write_text('name = "x"\n' + text.format("replay") + text.format("Replay()"), encoding="utf-8")
    with pytest.raises(UsageError, match="a, temporal, gcn, strategy, replay is there twice"):
        load_presets(path)
