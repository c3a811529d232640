from __future__ import annotations

import pickle
import stat
import zipfile

import pytest

from lgl_bench.submissions.bundle.layout import MIB, BundleError, refuse_name
from lgl_bench.submissions.bundle.opening import opened
from lgl_bench.submissions.verify.verify import verify
from tests.support.refusals import refused


def open_it(path):
    with opened(path) as bundle:
        return bundle.manifest


def zipped(forged, path, *extra, leave_out=()):
    """The bundle as a zip, with further members as (ZipInfo or name, data)."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(forged.folder.rglob("*")):
            name = file.relative_to(forged.folder).as_posix()
            if file.is_file() and name not in leave_out:
                archive.write(file, name)
        for name, data in extra:
            archive.writestr(name, data)
    return path


def test_every_file_is_copied_and_the_copy_is_gone_afterwards(forged):
    with opened(forged.folder) as bundle:
        copied = bundle.folder
        assert (copied / "plan.json").read_bytes() == (forged.folder / "plan.json").read_bytes()
    assert not copied.exists()


def test_a_missing_file_is_named(forged):
    forged.answers().unlink()
    with pytest.raises(BundleError, match=f"{forged.answers().name} is missing"):
        open_it(forged.folder)


@pytest.mark.parametrize("name", ["plan.json", "leaderboard.csv", "years.parquet", "environment.json"])
def test_a_file_that_neither_the_bundle_nor_its_manifest_has_is_missed(forged, name):
    (forged.folder / name).unlink()
    forged.seal()
    with pytest.raises(BundleError, match=f"{name} is missing"):
        open_it(forged.folder)


def test_an_extra_file_is_named_whether_its_name_is_allowed_or_not(forged):
    (forged.folder / "plugins" / "more.py").write_text("")
    with pytest.raises(BundleError, match="plugins/more.py is not in MANIFEST.json"):
        open_it(forged.folder)
    (forged.folder / "run.sh").write_text("")
    with pytest.raises(BundleError, match=r"'run\.sh' has no place"):
        open_it(forged.folder)


def test_a_pickle_has_no_place(forged):
    (forged.folder / "answers" / "model.pkl").write_bytes(b"\x80\x04.")
    with pytest.raises(BundleError, match=r"model\.pkl' may hold a pickle"):
        open_it(forged.folder)


def test_a_symlink_to_a_file_or_a_folder_is_refused(forged, tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes((forged.folder / "environment.json").read_bytes())
    (forged.folder / "environment.json").unlink()
    (forged.folder / "environment.json").symlink_to(secret)
    with pytest.raises(BundleError, match=r"environment\.json' is a symlink"):
        open_it(forged.folder)
    (forged.folder / "environment.json").unlink()
    (forged.folder / "plugins").rename(tmp_path / "elsewhere")
    (forged.folder / "plugins").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BundleError, match="plugins' is a symlink"):
        open_it(forged.folder)


def test_a_symlink_in_a_zip_is_refused(forged, tmp_path):
    link = zipfile.ZipInfo("environment.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = zipped(forged, tmp_path / "b.zip", (link, "/etc/passwd"), leave_out=["environment.json"])
    with pytest.raises(BundleError, match=r"environment\.json' is a symlink"):
        open_it(path)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../plan.json", "climbs out"),
        ("answers/../../plan.json", "climbs out"),
        ("answers\\..\\..\\plan.json", "climbs out"),
        ("/etc/passwd", "absolute"),
        ("C:/plan.json", "absolute"),
        ("answers/plan.json", "no place"),
        ("plan.json\n", "no place"),
        ("plan.json/", "no place"),
        ("plugins/sub/x.py", "no place"),
        ("answers/" + "A" * 24 + ".parquet", "no place"),
    ],
)
def test_a_path_that_leads_elsewhere_is_refused_in_zip_and_manifest(forged, tmp_path, name, why):
    assert why in refuse_name(name)
    path = zipped(forged, tmp_path / "b.zip", (name, "x"))
    with pytest.raises(BundleError, match=why):
        open_it(path)
    forged.change_json("MANIFEST.json", lambda fields: fields["files"].update({name: {"sha256": "0" * 64, "size": 1}}))
    with pytest.raises(BundleError, match=why):
        open_it(forged.folder)
    assert not (tmp_path.parent / "plan.json").exists()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_is_there_twice_is_refused(forged, tmp_path):
    path = zipped(forged, tmp_path / "b.zip", ("plan.json", "{}"))
    with pytest.raises(BundleError, match=r"plan\.json is there twice"):
        open_it(path)


def test_a_zip_bomb_is_refused_by_what_it_declares(forged, tmp_path):
    path = zipped(forged, tmp_path / "b.zip", ("fits/" + "0" * 24 + ".safetensors", bytes(40 * MIB)))
    assert path.stat().st_size < MIB
    with pytest.raises(BundleError, match="zip bomb"):
        open_it(path)


def test_a_zip_bomb_that_lies_about_its_size_is_not_read_beyond_it(forged, tmp_path):
    path = zipped(forged, tmp_path / "b.zip", ("environment.json", bytes(40 * MIB)), leave_out=["environment.json"])
    data = bytearray(path.read_bytes())
    # Uncompressed size in the central directory: 24 bytes after the signature.
    at = data.rfind(b"environment.json") - 46
    assert data[at : at + 4] == b"PK\x01\x02"
    data[at + 24 : at + 28] = (100).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(BundleError, match=r"environment\.json|zip"):
        open_it(path)


def test_a_file_beyond_its_limit_is_not_read(forged):
    (forged.folder / "environment.json").write_bytes(bytes(2 * MIB))
    forged.seal()
    with pytest.raises(BundleError, match=r"environment\.json claims"):
        open_it(forged.folder)


def test_all_files_together_have_a_limit(forged, monkeypatch):
    monkeypatch.setattr("lgl_bench.submissions.bundle.opening.MAX_BYTES", 1000)
    with pytest.raises(BundleError, match="more than 1,000"):
        open_it(forged.folder)


def test_another_format_is_refused(forged):
    forged.change_json("MANIFEST.json", lambda fields: fields.update(format=2))
    with pytest.raises(BundleError, match="format 2"):
        open_it(forged.folder)


def test_a_submitter_that_is_a_formula_is_refused(forged):
    forged.change_json("MANIFEST.json", lambda fields: fields.update(submitter="=1+1"))
    with pytest.raises(BundleError, match="formula"):
        open_it(forged.folder)


def test_a_folder_without_a_manifest_is_no_bundle(tmp_path):
    with pytest.raises(BundleError, match=r"MANIFEST\.json is missing"):
        open_it(tmp_path)


def test_a_json_that_is_none_is_refused(forged, base):
    for text in ("[" * 100_000, "{", "[]", '{"a": 1, "a": 2}'):
        (forged.folder / "plan.json").write_text(text)
        forged.seal()
        refused(forged, base, "plan.json")


def test_a_bundle_that_is_a_pickle_is_no_zip(base, tmp_path):
    (tmp_path / "bundle.zip").write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(BundleError, match="zip"):
        verify(tmp_path / "bundle.zip", base.data)
