from __future__ import annotations

import errno
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from lgl_bench.core.errors import DataError
from lgl_bench.streams.download import archive as archive_module
from lgl_bench.streams.download.archive import extract_zip


def pack(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def refused(path: Path, into: Path, match: str, **limits: float) -> str:
    """Asserts that the archive is refused, that it is named, and that nothing is left of it."""
    with pytest.raises(DataError, match=match) as caught:
        extract_zip(path, into, **limits)  # type: ignore[arg-type]
    assert str(path) in str(caught.value)
    assert not into.exists()
    return str(caught.value)


def test_a_good_archive_is_extracted_in_its_own_order(tmp_path: Path) -> None:
    path = pack(tmp_path / "good.zip", {"b/c/edges.txt": b"1 2\n", "b/empty/": b"", "a.txt": b"x" * 3_000_000})
    into = tmp_path / "deep" / "out"
    assert extract_zip(path, into) == [into / "b/c/edges.txt", into / "a.txt"]
    assert (into / "b/c/edges.txt").read_bytes() == b"1 2\n"
    assert (into / "a.txt").read_bytes() == b"x" * 3_000_000
    assert (into / "b/empty").is_dir()


@pytest.mark.parametrize(
    "name",
    [
        "../evil.txt",
        "a/../../evil.txt",
        "a/..",
        "/etc/evil.txt",
        "//server/share/evil.txt",
        "..\\evil.txt",
        "a\\b.txt",
        "C:evil.txt",
        "C:/evil.txt",
        "./",
    ],
)
def test_a_name_that_leads_elsewhere_is_refused_before_anything_is_written(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = pack(tmp_path / "evil.zip", {"first.txt": b"harmless", name: b"evil"})
    written: list[str] = []
    monkeypatch.setattr(archive_module._Extraction, "write", lambda *_: written.append("x") or True)
    message = refused(path, tmp_path / "out", "plain relative path|leads out of the folder")
    assert repr(name) in message
    assert "by hand if you trust it" in message
    assert not written
    assert sorted(tmp_path.iterdir()) == [path]


def test_a_name_with_a_zero_byte_is_refused(tmp_path: Path) -> None:
    path = pack(tmp_path / "zero.zip", {"aaaaXevil": b"evil"})
    path.write_bytes(path.read_bytes().replace(b"aaaaXevil", b"aaaa\0evil"))
    refused(path, tmp_path / "out", "plain relative path")


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_a_symbolic_link_or_special_file_is_refused(tmp_path: Path, kind: int) -> None:
    path = tmp_path / "link.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("link")
        info.create_system, info.external_attr = 3, (kind | 0o777) << 16
        archive.writestr(info, "/etc")
        archive.writestr("link/evil.txt", "evil")
    refused(path, tmp_path / "out", "'link'.* is a symbolic link or a special file")


def test_an_encrypted_member_is_refused(tmp_path: Path) -> None:
    path = pack(tmp_path / "secret.zip", {"secret.txt": b"secret"})
    content = bytearray(path.read_bytes())
    content[6] |= 1  # the flag in the local header
    content[content.index(b"PK\x01\x02") + 8] |= 1  # and in the directory
    path.write_bytes(content)
    refused(path, tmp_path / "out", "'secret.txt'.* is encrypted; .*password")


def test_a_compression_without_a_bound_on_memory_is_refused(tmp_path: Path) -> None:
    path = pack(tmp_path / "bzip.zip", {"a.txt": b"a" * 1000}, zipfile.ZIP_BZIP2)
    refused(path, tmp_path / "out", "packed by method 12; repack it with deflate")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_that_clash_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "twice.zip", "w") as archive:
        archive.writestr("a.txt", "one")
        archive.writestr("./a.txt", "two")
    refused(tmp_path / "twice.zip", tmp_path / "out", "appears twice")
    refused(pack(tmp_path / "both.zip", {"a": b"", "a/b": b""}), tmp_path / "out", "is a file elsewhere")


def test_an_archive_that_expands_beyond_the_limit_leaves_nothing_behind(tmp_path: Path) -> None:
    path = pack(tmp_path / "large.zip", {"a.txt": b"a" * 600, "b.txt": b"b" * 600}, zipfile.ZIP_STORED)
    refused(path, tmp_path / "out", "'b.txt'.* beyond the 1,199 bytes", max_bytes=1199)
    assert len(extract_zip(path, tmp_path / "out", max_bytes=1200)) == 2


def test_a_zip_bomb_is_stopped_by_its_ratio_though_its_size_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("zeros", bytes(66 * 2**20))
    refused(path, tmp_path / "out", "'zeros'.* beyond the 67,108,864 bytes", max_ratio=10)
    assert extract_zip(path, tmp_path / "out", max_ratio=1000)


def test_a_small_file_of_zeros_is_no_bomb(tmp_path: Path) -> None:
    assert extract_zip(pack(tmp_path / "zeros.zip", {"zeros": bytes(2**20)}), tmp_path / "out", max_ratio=2)


def test_a_header_that_understates_the_size_does_not_get_more_written(tmp_path: Path) -> None:
    path = pack(tmp_path / "liar.zip", {"zeros": bytes(2**20)})
    path.write_bytes(path.read_bytes().replace(struct.pack("<L", 2**20), struct.pack("<L", 10)))
    refused(path, tmp_path / "out", "'zeros'.* is damaged")


def test_a_member_with_a_bad_crc_is_refused_and_its_predecessors_are_removed(tmp_path: Path) -> None:
    path = pack(tmp_path / "crc.zip", {"good.txt": b"good", "bad.txt": b"payload"}, zipfile.ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b"payload", b"pAyload"))
    refused(path, tmp_path / "out", "'bad.txt'.* is damaged or cut short .*CRC.*; delete .* fetch it again")


def test_an_archive_cut_short_anywhere_is_refused(tmp_path: Path) -> None:
    whole = pack(tmp_path / "whole.zip", {"a/b.txt": bytes(range(256)), "c.txt": b"c" * 99}).read_bytes()
    path = tmp_path / "cut.zip"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        refused(path, tmp_path / "out", "is damaged or cut short")


def test_a_flipped_byte_gives_either_the_right_files_or_a_data_error(tmp_path: Path) -> None:
    content = {"a.txt": b"some text, some text, some text", "b.txt": bytes(range(64))}
    whole = pack(tmp_path / "whole.zip", content).read_bytes()
    path = tmp_path / "flipped.zip"
    refusals = 0
    for position in range(len(whole)):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 0xFF]) + whole[position + 1 :])
        into = tmp_path / f"out{position}"
        try:
            files = extract_zip(path, into)
        except DataError:
            refusals += 1
            assert not into.exists()
        else:
            assert all(file.read_bytes() in content.values() for file in files)
    assert refusals > len(whole) / 3


def test_a_name_that_is_no_text_is_damage(tmp_path: Path) -> None:
    path = pack(tmp_path / "text.zip", {"é.txt": b"x"})
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xff\xff"))
    refused(path, tmp_path / "out", "is damaged")


def test_a_file_that_is_there_already_is_neither_overwritten_nor_removed(tmp_path: Path) -> None:
    path = pack(tmp_path / "good.zip", {"new.txt": b"new", "old.txt": b"new"})
    into = tmp_path / "out"
    into.mkdir()
    (into / "old.txt").write_bytes(b"old")
    with pytest.raises(DataError, match=r"would overwrite .*old\.txt; remove that first"):
        extract_zip(path, into)
    assert [(file.name, file.read_bytes()) for file in into.iterdir()] == [("old.txt", b"old")]


def test_a_missing_archive_is_named(tmp_path: Path) -> None:
    refused(tmp_path / "none.zip", tmp_path / "out", "could not be extracted .*No such file")


@pytest.mark.parametrize("raised", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_full_disk_or_an_interrupt_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raised: BaseException
) -> None:
    path = pack(tmp_path / "good.zip", {"a/first.txt": b"1", "a/second.txt": b"2"})
    write = archive_module._Extraction.write

    def failing(self: object, archive: object, info: zipfile.ZipInfo, limit: int) -> bool:
        if info.filename == "a/second.txt":
            raise raised
        return write(self, archive, info, limit)  # type: ignore[arg-type]

    monkeypatch.setattr(archive_module._Extraction, "write", failing)
    expected = KeyboardInterrupt if isinstance(raised, KeyboardInterrupt) else DataError
    with pytest.raises(expected, match="No space left" if expected is DataError else None):
        extract_zip(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()
