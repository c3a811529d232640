from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.streams import catalogue
from lgl_bench.streams.checksum import prefix_checksums, stream_checksum
from lgl_bench.streams.importers.anthology import AnthologyOptions
from lgl_bench.streams.store import write_stream
from lgl_bench.streams.stream import Stream
from tests.support.importing import assert_refused, by_id, edges_of, import_, pairs, read
from tests.support.stream_files import ANTHOLOGY, ANTHOLOGY_OPTIONS, anthology, paper, volume, zipped


def read_anthology(folder: Path, **changes: str) -> Stream:
    return read("acl-anthology", folder, **(ANTHOLOGY_OPTIONS | changes))


def snapshots(stream: Stream, folder: Path) -> dict[str, bytes]:
    write_stream(stream, folder)
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.glob("snapshots/*/*.parquet"))}


def test_papers_venues_words_and_shared_authors_become_the_stream_worked_out_by_hand(tmp_path: Path) -> None:
    """Vertices by (year, id): 0, 1 = 2000.mt; 2 = 2001.mt; 3, 4 = 2002.tag; 5, 6 = 2003.aa; 7, 8 = 2003.zz."""
    stream = read_anthology(anthology(tmp_path / "clone"))
    assert stream.info.class_names == ("mt", "tag", "aa", "zz")
    assert stream.ids.tolist() == list(range(9))
    assert stream.born.tolist() == [2000, 2000, 2001, 2002, 2002, 2003, 2003, 2003, 2003]
    assert stream.labels.tolist() == [0, 0, 0, 1, 1, 2, 2, 3, 3]
    # Words up to 2001: parsing 3 times of 3 (too common), of and the twice, mts before trees.
    of, the, mts = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]
    none = [0.0, 0.0, 0.0]
    expected = [[1.0, 1.0, 1.0], the, of, the, mts, none, none, of, of]
    assert [row["features"] for row in by_id(stream).values()] == expected
    # Ann Alund: 0, 3; Bo Berg: 0, 1, 4, 8; Di Dean: 4, 7, 8.
    assert edges_of(stream) == pairs((0, 3), (0, 1), (0, 4), (0, 8), (1, 4), (1, 8), (4, 8), (4, 7), (7, 8))
    assert stream.info.imported == {
        "edge_lines": 10, "self_loops": 0, "repeated_edges": 1,
        "front_and_back_matter": 9, "papers_without_year": 1, "papers_without_author": 1, "papers_without_venue": 1,
        "papers_of_general_venues": 1, "papers_of_small_venues": 1,
    }  # fmt: skip


def test_a_venue_that_enters_after_t0_leaves_its_earlier_papers_out_and_one_that_does_not_keeps_them(
    tmp_path: Path,
) -> None:
    folder = anthology(tmp_path / "clone")
    later = read_anthology(folder)
    assert (later.labels == later.info.class_names.index("tag")).sum() == 2
    earlier = read_anthology(folder, t0="2002")
    assert (earlier.labels == earlier.info.class_names.index("tag")).sum() == 3
    assert earlier.born[earlier.labels == 1].tolist() == [2001, 2002, 2002]


def test_a_paper_of_several_venues_belongs_to_the_first_that_is_not_left_out(tmp_path: Path) -> None:
    stream = read_anthology(anthology(tmp_path / "clone"), leave_out="acl ws zz")
    assert stream.info.class_names == ("mt", "tag", "aa")
    assert stream.labels.tolist() == [0, 0, 0, 1, 1, 2, 2, 0, 0]


def test_a_later_year_leaves_the_snapshots_of_the_years_before_byte_for_byte(tmp_path: Path) -> None:
    folder = anthology(tmp_path / "clone")
    found = {year: read_anthology(folder, last_year=str(year)) for year in (2002, 2003, 2004)}
    files = {year: snapshots(stream, tmp_path / str(year)) for year, stream in found.items()}
    for year in (2002, 2003):
        after = files[year + 1]
        assert set(files[year]) < set(after)
        assert files[year] == {name: after[name] for name in files[year]}
        names = found[year].info.class_names
        assert found[year + 1].info.class_names[: len(names)] == names
        assert prefix_checksums(found[year + 1])[year] == stream_checksum(found[year])


def test_later_years_in_the_clone_do_not_change_what_is_imported(tmp_path: Path) -> None:
    papers = paper(1, "The trees of tomorrow", "Ann Alund") + paper(2, "More", "Bo Berg")
    more = {"2005_tag": volume(papers, "2005", "tag"), "2004_new": volume(papers, "2004", "new")}
    with_more = read_anthology(anthology(tmp_path / "later", **more))
    plain = read_anthology(anthology(tmp_path / "clone"))
    assert stream_checksum(with_more) == stream_checksum(plain)
    assert with_more.info == plain.info


def test_neither_names_of_files_nor_line_endings_nor_the_order_of_papers_change_the_stream(tmp_path: Path) -> None:
    plain = read_anthology(anthology(tmp_path / "clone"))
    swapped = paper(2, "Of", "Bo Berg", "Di Dean") + paper(1, "Of", "Di Dean")
    xml = anthology(tmp_path / "other", **{"2003_zz": volume(swapped, "2003", "zz mt")}) / "data" / "xml"
    for number, path in enumerate(sorted(xml.glob("*.xml"), reverse=True)):
        path.with_name(f"{number}.xml").write_bytes(path.read_bytes().replace(b">", b">\r\n", 3))
        path.unlink()
    assert stream_checksum(read_anthology(xml.parent.parent)) == stream_checksum(plain)


def test_the_clone_its_data_folder_its_xml_folder_and_a_zip_of_it_are_read_alike(tmp_path: Path) -> None:
    clone = anthology(tmp_path / "clone")
    sources = [clone, clone / "data", clone / "data" / "xml", zipped(clone, tmp_path / "clone.zip")]
    assert len({stream_checksum(read_anthology(source)) for source in sources}) == 1


BAD_FILES = {
    "entities": ('<!DOCTYPE c [<!ENTITY a "aaaa">]><collection id="x">&a;</collection>', "declares a document type"),
    "an external DTD": ('<!DOCTYPE c SYSTEM "file:///etc/passwd"><collection id="x"/>', "declares a document type"),
    "an unknown entity": ('<collection id="x">&b;</collection>', "undefined entity"),
    "half a file": ('<collection id="x"><volume id="1">', "is it cut short? Get the file again"),
    "no XML": ("nothing", "cannot be read"),
    "an empty file": ("", "cannot be read"),
    "another document": ("<html/>", "is no collection of the ACL Anthology: it has a <html>"),
    "nested elements": ('<collection id="x">' + "<i>" * 40 + "</i>" * 40 + "</collection>", "33 deep"),
    "no id": ("<collection><volume/></collection>", "a collection has the id ''"),
    "no paper id": (f'<collection id="x">{volume("<paper/>")}</collection>', "a paper has the id ''"),
    "a strange venue": ('<collection id="x"><volume id="1"><meta><venue>a b</venue></meta></volume></collection>',
                        "volume x-1: 'a b' is no name of a venue"),
    "an unknown encoding": ("<?xml version='1.0' encoding='klingon'?><collection id='x'/>", "cannot be read"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "reason"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_a_file_that_is_damaged_or_hostile_is_refused_by_its_name(tmp_path: Path, text: str, reason: str) -> None:
    clone = anthology(tmp_path / "clone")
    (clone / "data" / "xml" / "2001.bad.xml").write_text(text)
    options = [part for key, value in ANTHOLOGY_OPTIONS.items() for part in ("--option", f"{key}={value}")]
    result = import_(tmp_path, clone, "--format", "acl-anthology", *options)
    assert_refused(result, tmp_path, "2001.bad.xml", reason)


def test_a_paper_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    xml = anthology(tmp_path / "clone") / "data" / "xml"
    (xml / "copy.xml").write_bytes((xml / "2000.mt.xml").read_bytes())
    with pytest.raises(DataError, match=r"the paper '2000\.mt-1\.1' is there twice"):
        read_anthology(xml)


def test_an_author_of_more_papers_than_edges_can_be_made_of_is_refused(tmp_path: Path) -> None:
    papers = "".join(paper(number, "x", "Bo Berg") for number in range(15_000))
    with pytest.raises(
        DataError, match=r"shared authors make 112,5\d\d,\d\d\d edges, 'bo-berg' alone has 15,00\d papers"
    ):
        read_anthology(anthology(tmp_path / "clone", **{"2000_big": volume(papers)}))


def test_a_folder_without_xml_files_says_what_is_needed(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"holds no data/xml/\*\.xml; --from names a clone"):
        read_anthology(tmp_path)


def test_a_clone_without_a_venue_large_enough_by_t0_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no venue has 4 papers up to 2001"):
        read_anthology(anthology(tmp_path / "clone"), least_papers="4")


def test_t0_must_be_before_the_last_year(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="t0 = 2003 must be before last_year = 2003"):
        read_anthology(anthology(tmp_path / "clone"), t0="2003")


def test_the_options_of_the_manifest_are_those_of_the_format() -> None:
    """So a later last_year, under another name, is one option and gives the same first years."""
    manifest = catalogue.manifests()["acl-anthology"]
    assert manifest.options == AnthologyOptions().model_dump()
    assert manifest.options["t0"] == manifest.t0
    assert set(ANTHOLOGY_OPTIONS) == set(manifest.options)
    assert len(ANTHOLOGY) == 9


@pytest.fixture(scope="module")
def real_clone(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    archive = real_data / "acl-anthology" / "xml-to-2022.tar.xz"
    if not archive.is_file():
        pytest.skip(f"there is no {archive}")
    folder = tmp_path_factory.mktemp("clone")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder


@pytest.mark.real
def test_the_real_anthology_has_the_checksum_of_its_manifest_and_its_years_keep_theirs(
    real_clone: Path, tmp_path: Path
) -> None:
    whole = catalogue.import_stream("acl-anthology", real_clone, tmp_path)  # raises if the checksum is another
    assert stream_checksum(whole) == catalogue.manifests()["acl-anthology"].stream_checksum
    options = {"last_year": "2020"}
    catalogue.import_stream("shorter", real_clone, tmp_path, format_name="acl-anthology", t0=2005, options=options)
    files = sorted((tmp_path / "shorter" / "snapshots").glob("*/*.parquet"))
    assert len(files) == 2 * (len(whole.times) - 2)
    for path in files:
        same = tmp_path / "acl-anthology" / path.relative_to(tmp_path / "shorter")
        assert path.read_bytes() == same.read_bytes()
