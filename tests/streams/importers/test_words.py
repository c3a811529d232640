from __future__ import annotations

from lgl_bench.streams.importers.words import normal_name, vocabulary, word_features, words


def test_words_are_lower_case_ascii_runs_of_two_characters_with_a_letter_first() -> None:
    assert words("A Word2Vec x 2nd 2017, F1-score; don't l'arbre") == {"word2vec", "f1", "score", "don", "arbre"}


def test_accents_and_compatibility_forms_are_folded_whichever_way_they_are_written() -> None:
    composed, decomposed = "r\u00e9seau", "re\u0301seau"
    assert words(composed) == words(decomposed) == {"reseau"}
    assert words("\ufb01les \u2167th \u212aelvin") == {"files", "viiith", "kelvin"}


def test_letters_beyond_ascii_are_no_part_of_a_word() -> None:
    assert words("机器翻译 MT перевод stra\u00dfe") == {"mt", "stra"}


def test_names_are_the_same_without_case_accents_and_punctuation() -> None:
    assert normal_name("Ann \u00c5lund") == normal_name("ann  ALUND") == "ann-alund"
    assert normal_name("李 明") == "李-明"
    assert normal_name(" - ") == ""


def test_the_vocabulary_has_the_words_of_most_texts_ties_by_the_alphabet_without_the_common_ones() -> None:
    texts = [{"the", "mts", "of", "parsing"}, {"the", "parsing"}, {"trees", "of", "parsing"}]
    assert vocabulary(texts, 3, 0.7) == ["of", "the", "mts"]
    assert vocabulary(texts, 2, 1.0) == ["parsing", "of"]


def test_a_row_has_a_one_for_each_known_word_of_its_text() -> None:
    found = word_features([{"b", "x", "a"}, set(), {"c"}], ["c", "a", "b"])
    assert found.dense().tolist() == [[0, 1, 1], [0, 0, 0], [1, 0, 0]]
    assert found.indices.tolist() == [1, 2, 0]
