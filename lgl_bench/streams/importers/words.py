"""Words of a text and their presence as features, the same on every machine.

Only what no later version of Unicode changes is looked at: compatibility decomposition (NFKD), the combining marks
U+0300 to U+036F, which are dropped, and ASCII letters and digits, of which words are made. There is no list of stop
words.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from lgl_bench.core.types import Sparse

_MARKS = re.compile("[\u0300-\u036f]")
_WORD = re.compile("(?<![a-z0-9])[a-z][a-z0-9]+")
_BETWEEN_NAMES = re.compile(r"[\s!-/:-@\[-`{-~]+")


def fold(text: str) -> str:
    """Text in lower case, decomposed (NFKD), without accents.

    >>> fold("Résumé ﬁles, Ⅳ")
    'resume files, iv'
    """
    return _MARKS.sub("", unicodedata.normalize("NFKD", text)).lower()


def words(text: str) -> frozenset[str]:
    """The words of a text: runs of a to z and 0 to 9, two characters at least, a letter first.

    >>> sorted(words("A word2vec for Naïve-Bayes in 2nd place: don't"))
    ['bayes', 'don', 'for', 'in', 'naive', 'place', 'word2vec']
    """
    return frozenset(_WORD.findall(fold(text)))


def normal_name(name: str) -> str:
    """A person's name without case, accents and punctuation, its parts joined by dashes.

    >>> normal_name("Hinrich  Schütze"), normal_name("J.-P. O'Hara"), normal_name(" . ")
    ('hinrich-schutze', 'j-p-o-hara', '')
    """
    return _BETWEEN_NAMES.sub("-", fold(name)).strip("-")


def vocabulary(texts: Sequence[Iterable[str]], size: int, common: float) -> list[str]:
    """The `size` words that most texts have, the more frequent first, ties in the order of the alphabet.

    Args:
        texts: The words of each text, each word once.
        size: Most words there are.
        common: Words that a greater share of the texts has are left out: "the" and "of" say little.

    >>> vocabulary([{"the", "cat"}, {"the", "dog"}, {"the", "cat", "ant"}], 2, 0.7)
    ['cat', 'ant']
    """
    counts = Counter(word for text in texts for word in text)
    rare = [(word, count) for word, count in counts.items() if count <= common * len(texts)]
    return [word for word, _ in sorted(rare, key=lambda item: (-item[1], item[0]))[:size]]


def word_features(texts: Sequence[Iterable[str]], known: Sequence[str]) -> Sparse:
    """One row per text, one column per known word: 1 if the text has it."""
    column = {word: k for k, word in enumerate(known)}
    rows = [sorted(column[word] for word in text if word in column) for text in texts]
    indices = np.array([k for row in rows for k in row], dtype=np.int32)
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return Sparse(indptr, indices, np.ones(len(indices), dtype=np.float32), len(known))
