from __future__ import annotations

import json

import pytest

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.streams.store import write_stream
from lgl_bench.submissions.bundle.layout import BundleError, fit_file
from lgl_bench.submissions.bundle.loading import load_bundle, stage, staged_store
from lgl_bench.submissions.bundle.opening import opened
from lgl_bench.submissions.verify.verify import verify
from tests.support.graphs import small_stream
from tests.support.refusals import refused


def staged(forged, base):
    """Loads a bundle and lays it out as a run."""
    with opened(forged.seal()) as bundle:
        store = staged_store(bundle)
        store.prepare()
        return stage(load_bundle(bundle, base.data), store)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"status": "fine"}, ["is no record of a fit", "'status'", "'ok', 'skipped', 'failed' or 'diverged'"]),
        ({"status": 5}, ["'status'"]),
        ({"reason": ["no luck"]}, ["'reason'", "string"]),
        ({"failed": ["msp"]}, ["'failed'"]),
        ({"failed": {"msp": 3}}, ["'failed.msp'", "string"]),
        ({"seconds": "1"}, ["'seconds'", "number"]),
        ({"seconds": True}, ["'seconds'", "number"]),
        ({"seconds": -1.0}, ["seconds = -1.0; it lies between 0 and 1e+12"]),
        ({"peak_memory_mb": 1e13}, ["peak_memory_mb = 10000000000000.0; it lies between"]),
        ({"known": [0, "1"]}, ["'known.1'", "integer"]),
        ({"known": [0, 2**70]}, ["'known.1'"]),
        ({"known": [0]}, ["known = [0]; the protocol says ["]),
        ({"time": 2.5}, ["'time'", "integer"]),
        ({"time": 1999}, ["time = 1999; the protocol says "]),
        ({"role": "headline"}, ["role = 'headline'; the protocol says "]),
        ({"key": "0" * 24}, ["key = '000000000000000000000000'; the protocol says "]),
        ({"reason": "\ud800"}, ["is no JSON", "surrogates not allowed"]),
    ],
)
def test_a_record_of_a_fit_with_a_wrong_value_is_refused_by_its_file_and_field(forged, base, changes, words):
    name = fit_file(forged.plan()["fits"][1])
    forged.change_json(name, lambda fields: fields.update(changes))
    with pytest.raises(BundleError) as caught:
        staged(forged, base)
    assert str(caught.value).startswith(name) and all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1]", "holds no JSON object"),
        ("{", "is no JSON"),
        ("{}", "is no record of a fit: field 'status': Field required"),
        ('{"status": "ok", "status": "failed"}', "a name is given twice"),
        ('{"status": ' + "[" * 100_000, "is no JSON"),
        ('{"seconds": NaN}', "is no record of a fit"),
    ],
)
def test_a_file_that_is_no_record_of_a_fit_is_refused(forged, base, text, words):
    name = fit_file(forged.plan()["fits"][1])
    (forged.folder / name).write_text(text)
    with pytest.raises(BundleError, match=words) as caught:
        staged(forged, base)
    assert str(caught.value).startswith(name)


def test_what_grading_does_not_read_of_a_record_is_not_taken_over(forged, base):
    key = forged.plan()["fits"][1]
    extra = {"weights": "0" * 64, "continued_from": "elsewhere", "matrix_row": "0" * 64, "plugins": "x", "epochs": 9}
    forged.change_json(fit_file(key), lambda fields: fields.update(extra))
    with opened(forged.seal()) as bundle:
        store = staged_store(bundle)
        store.prepare()
        assert stage(load_bundle(bundle, base.data), store) == []
        record = store.fit(key)
    sent = json.loads((forged.folder / fit_file(key)).read_text())
    assert record.status == "ok" and record.known == sent["known"] and record.seconds == sent["seconds"]
    assert record.weights is None and record.matrix_row is None and record.epochs is None
    assert record.continued_from == record.plugins == ""


def test_known_classes_are_the_protocols_not_the_bundles(forged, base):
    key = forged.plan()["fits"][1]
    forged.change_json(f"fits/{key}.json", lambda fields: fields.update(known=[0, 1]))
    forged.seal()
    refused(forged, base, f"fits/{key}.json", "known")


def test_a_stream_of_the_same_name_with_other_data_is_refused(base, tmp_path):
    write_stream(small_stream(seed=4), tmp_path / "small")
    with pytest.raises(BundleError, match="small has the checksum .* yours has"):
        verify(base.bundle, tmp_path)


def test_a_reviewer_without_the_data_is_told_so(base, tmp_path):
    with pytest.raises((DataError, UsageError), match="small"):
        verify(base.bundle, tmp_path)


def test_a_fit_may_not_be_called_skipped_or_have_no_answers(forged, base):
    key = forged.plan()["fits"][1]
    forged.change_json(f"fits/{key}.json", lambda fields: fields.update(status="skipped"))
    forged.seal()
    refused(forged, base, f"fits/{key}.json", "skipped")
    forged.change_json(f"fits/{key}.json", lambda fields: fields.update(status="ok"))
    forged.answers().unlink()
    forged.seal()
    refused(forged, base, f"answers/{key}.parquet is missing")


def test_a_partial_bundle_says_so(forged, base):
    key = forged.plan()["fits"][-1]
    (forged.folder / "answers" / f"{key}.parquet").unlink()
    (forged.folder / "fits" / f"{key}.json").unlink()
    forged.seal()
    refused(forged, base, f"fits/{key}.json is missing")
    forged.change_json("MANIFEST.json", lambda fields: fields.update(partial=True))
    found = verify(forged.folder, base.data)
    assert any("partial" in note for note in found.notes)
    # Its table was made from all of them.
    assert found.differences
