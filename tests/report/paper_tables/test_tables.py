from __future__ import annotations

from lgl_bench.report.paper_tables.ours import OurNumbers
from lgl_bench.report.paper_tables.tables import paper_tables
from lgl_bench.report.parity.printed import printed_cells
from lgl_bench.report.parity.verdict import Mark
from tests.support.measurements import CELL, measured

PRINTED = printed_cells()


def tables(parity=()):
    return {table.name: table for table in paper_tables(PRINTED, OurNumbers(PRINTED, [], list(parity)))}


def test_every_printed_cell_is_in_one_table_with_or_without_a_number():
    found = [(*cell.printed.place, cell.printed.threshold) for table in tables().values() for cell in table.cells]
    assert len(found) == len(set(found))
    assert set(found) == {(*one.place, one.threshold) for one in PRINTED}
    assert all(cell.verdict.mark == Mark.UNMEASURED for table in tables().values() for cell in table.cells)


def test_tables_are_laid_out_as_in_the_paper():
    found = tables()
    assert list(found) == ["static", "temporal", "thresholds", "transductive", "planetoid"]
    assert found["static"].columns == ("GCN", "GraphSAGE", "GAT", "Graph-MLP")
    assert [title for title, _ in found["temporal"].groups] == ["OGB-arXiv", "dblp-easy", "dblp-hard"]
    rows = {title: [name for name, _ in rows] for title, rows in found["temporal"].groups}
    assert rows["dblp-easy"] == ["ODIN", "IsoMax+", "gDOC", "GOOD"]
    assert rows["dblp-hard"] == ["ODIN", "gDOC", "GOOD"], "the paper prints no IsoMax+ there"
    assert found["thresholds"].columns == ("Open-WRF", "gDOC", "OpenWGL", "Naive")
    assert found["transductive"].columns == ("Cora", "CiteSeer", "PubMed")


def test_a_cell_knows_its_switches_and_those_that_were_not_run():
    parity = measured(CELL, [(0.8, {"odin": 0.7})]) + measured(CELL, [(0.89, {"odin": 0.84})], switch="layer")
    (cell,) = [cell for cell in tables(parity)["static"].cells if cell.ours is not None]
    assert cell.printed.place == ("cora", "60-20-20", "gcn", "odin")
    assert (cell.verdict.mark, cell.verdict.switches) == (Mark.EXPLAINED, ("layer",))
    assert cell.untried == ("odin-step", "layer-and-step", "outputs", "outputs-together")


def test_the_note_on_a_leaking_cell_is_there_without_a_measurement():
    noted = {cell.printed.cell.backbone for cell in tables()["static"].cells if cell.note}
    assert noted == {"graph-mlp"}
