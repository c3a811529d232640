"""Hooks of the docs build: links that leave docs/ lead to copies of the files in the site.

A page may link to any file of the repository as it is seen there (`../leaderboard/parity/parity.csv`). The site has no
such folder, so every linked file is taken along under `repository/` and the link is turned to it. A link to a file that
is not there stays as it is, and the strict build complains.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
_LINK = re.compile(r"(\]\()(?!#|/|[a-z]+:)([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Adds every file outside docs/ that a page links to, and what such a file links to in turn."""
    pages = [file for file in files if file.is_documentation_page()]
    while pages:
        page = pages.pop()
        for target in outside(page.content_string, repository_path(page)):
            if files.get_file_from_path(site_path(target)) is None:
                added = File.generated(config, site_path(target), abs_src_path=str(ROOT / target))
                files.append(added)
                pages += [added] if added.is_documentation_page() else []
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turns links between files of the repository into links between files of the site."""
    source = repository_path(page.file)

    def turn(link: re.Match[str]) -> str:
        target = resolved(link[2], source)
        if not (ROOT / target).is_file():
            return link[0]
        return f"{link[1]}{relpath(site_path(target), str(PurePosixPath(site_path(source)).parent))}{link[3] or ''})"

    return _LINK.sub(turn, markdown)


def outside(markdown: str, source: str) -> list[str]:
    """Files of the repository that a text links to and that are not in docs/."""
    found = (resolved(link[2], source) for link in _LINK.finditer(markdown))
    return [target for target in found if not target.startswith(("docs/", "../")) and (ROOT / target).is_file()]


def resolved(link: str, source: str) -> str:
    """Where a link of a file leads, from the top of the repository."""
    return normpath(str(PurePosixPath(source).parent / link))


def repository_path(file: Any) -> str:
    """Where a file of the site lies in the repository."""
    path: str = file.src_uri
    return path.removeprefix("repository/") if path.startswith("repository/") else f"docs/{path}"


def site_path(path: str) -> str:
    """Where a file of the repository lies in the site."""
    return path.removeprefix("docs/") if path.startswith("docs/") else f"repository/{path}"
