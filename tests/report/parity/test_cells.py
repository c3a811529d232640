from __future__ import annotations

from lgl_bench.report.parity.cells import BACKBONES, TRANSDUCTIVE, Cell, cells_of, paper_expressions, paper_preset


def test_the_cells_are_every_cell_of_the_paper_and_graph_mlps_own_check():
    cells = list(cells_of("cora", "60-20-20"))
    assert len(cells) == 4 * 3 + 1 == len(set(cells))
    (check,) = [cell for cell in cells if cell.split == TRANSDUCTIVE]
    assert (check.backbone, check.head, check.planned_split, check.detector) == (
        "graph-mlp",
        "softmax",
        "planetoid",
        "none",
    )
    assert not any(cell.split == TRANSDUCTIVE for cell in cells_of("dblp-easy", "temporal"))
    assert not any(cell.split == TRANSDUCTIVE for cell in cells_of("cora", "60-20-20", ("gcn",)))


def test_only_the_heads_asked_for_are_run():
    assert {cell.head for cell in cells_of("cora", "60-20-20", BACKBONES, ("gdoc",))} == {"gdoc"}


def test_a_cell_has_the_papers_detector_and_good_if_the_paper_builds_it_on_that_one():
    found = paper_expressions(Cell("cora", "60-20-20", "gcn", "gdoc"))
    assert {name: str(one) for name, one in found.items()} == {"gdoc": "gdoc", "good": "good(gdoc,alpha=0.6)"}
    found = paper_expressions(Cell("cora", "60-20-20", "gcn", "softmax"))
    assert {name: str(one) for name, one in found.items()} == {"odin": "odin(eps=0.05,temperature=1000.0)"}
    assert not paper_expressions(Cell("cora", TRANSDUCTIVE, "graph-mlp", "softmax"))


def test_the_transductive_check_has_the_parameters_of_the_random_split():
    cell = Cell("pubmed", TRANSDUCTIVE, "graph-mlp", "softmax")
    assert paper_preset(cell) == paper_preset(Cell("pubmed", "60-20-20", "graph-mlp", "softmax"))
    assert paper_preset(cell) != paper_preset(Cell("pubmed", "planetoid", "graph-mlp", "softmax"))
