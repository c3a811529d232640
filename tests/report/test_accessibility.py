"""Every kind of page in a real browser, held to what axe-core asks for, written out by hand: nothing is downloaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lgl_bench.report.paper_tables.write import write_paper_tables
from lgl_bench.report.parity.measured import FILE, write_measured
from lgl_bench.report.site import build_site
from tests.report.browsing import resize
from tests.report.paper_tables.made import with_every_mark
from tests.support.report_boards import write_run, year_frame

PAGES = (
    *("site/index.html", "site/figures.html", "site/guide.html", "site/paper.html"),
    *("site/streams/dblp-easy-twin-*.html", "site/methods/gcn-good-msp-*.html", "tables/index.html"),
)

# Each returns what is wrong, in words.
CHECKS = {
    "the page has a language, a title and one heading of the first level": """
        const bad = [];
        if (document.documentElement.lang !== 'en') bad.push('no language');
        if (!document.title.trim()) bad.push('no title');
        if (document.querySelectorAll('h1').length !== 1) bad.push('not one h1');
        return bad;""",
    "no heading skips a level": """
        const levels = [...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(node => Number(node.tagName[1]));
        return levels.filter((level, at) => at && level > levels[at - 1] + 1).map(String);""",
    "landmarks are there once, and those of a kind have names": """
        const bad = [];
        for (const name of ['main', 'body > header', 'body > footer'])
            if (document.querySelectorAll(name).length !== 1) bad.push(name);
        const names = [...document.querySelectorAll('nav')].map(node => node.getAttribute('aria-label'));
        if (names.some(name => !name) || new Set(names).size !== names.length) bad.push('nav: ' + names);
        return bad;""",
    "no id is there twice, and whatever is referred to exists": """
        const ids = [...document.querySelectorAll('[id]')].map(node => node.id), bad = [];
        ids.filter((id, at) => ids.indexOf(id) !== at).forEach(id => bad.push('twice: ' + id));
        document.querySelectorAll('[aria-labelledby],[aria-describedby]').forEach(node =>
            (node.getAttribute('aria-labelledby') || node.getAttribute('aria-describedby')).split(' ')
                .filter(id => !document.getElementById(id)).forEach(id => bad.push('missing: ' + id)));
        return bad;""",
    "every control and link has a name": """
        const name = node => (node.getAttribute('aria-label') || node.textContent ||
            (node.labels && node.labels.length ? node.labels[0].textContent : '') || '').trim();
        const roles = '[role=region],[role=group],[role=search]';
        return [...document.querySelectorAll('a[href],button,input,select,summary,' + roles)]
            .filter(node => !name(node) && !node.getAttribute('aria-labelledby'))
            .map(node => node.outerHTML.slice(0, 80));""",
    "every drawing has a title or is hidden": """
        return [...document.querySelectorAll('svg')].filter(node => !node.closest('[aria-hidden=true]') &&
            !(node.getAttribute('role') === 'img' && node.querySelector(':scope > title')?.textContent.trim()))
            .map(node => node.outerHTML.slice(0, 80));""",
    "every table has a caption, and its headings say what they head": """
        const bad = [];
        document.querySelectorAll('table').forEach(table => {
            if (!table.caption || !table.caption.textContent.trim()) bad.push('no caption');
            table.querySelectorAll('th').forEach(node => { if (!node.scope) bad.push(node.outerHTML.slice(0, 60)); });
            table.querySelectorAll('[aria-sort]').forEach(node => {
                if (!['none', 'ascending', 'descending'].includes(node.getAttribute('aria-sort'))) bad.push('sort'); });
        });
        return bad;""",
    "what scrolls can be reached by the keyboard": """
        return [...document.querySelectorAll('main *')].filter(node =>
            node.scrollWidth > node.clientWidth + 1 && ['auto', 'scroll'].includes(getComputedStyle(node).overflowX) &&
            node.tabIndex < 0).map(node => node.outerHTML.slice(0, 80));""",
    "the focus goes through the page in the order of its text, and nowhere unseen": """
        const bad = [...document.querySelectorAll('[tabindex]')].filter(node => node.tabIndex > 0)
            .map(node => 'tabindex ' + node.outerHTML.slice(0, 60));
        document.querySelectorAll('[aria-hidden=true]').forEach(node => {
            if (node.querySelector('a[href],button,input,select,[tabindex="0"]')) bad.push(node.outerHTML.slice(0, 60));
        });
        return bad;""",
    "lists hold items and nothing else": """
        return [...document.querySelectorAll('ul,ol')].filter(node =>
            [...node.children].some(child => child.tagName !== 'LI')).map(node => node.outerHTML.slice(0, 60));""",
    "words stand out from their ground": """
        const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
        const rgb = colour => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
            return Array.from(canvas.getImageData(0, 0, 1, 1).data); };
        const linear = v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
        const light = c => { const [r, g, b] = c.map(linear); return .2126 * r + .7152 * g + .0722 * b; };
        const ground = node => { for (; node; node = node.parentElement) {
            const c = rgb(getComputedStyle(node).backgroundColor); if (c[3] === 255) return c; }
            return [255, 255, 255, 255]; };
        const over = node => {  // a word in a cell of a map lies on the cell, which lies on the card
            const below = ground(node), cell = node.parentElement.querySelector(':scope > rect.heat');
            if (!cell) return below;
            const style = getComputedStyle(cell), share = Number(style.fillOpacity), fill = rgb(style.fill);
            return below.map((part, at) => share * fill[at] + (1 - share) * part); };
        const bad = [];
        for (const node of document.querySelectorAll('main *, footer *, header *')) {
            if (!Array.from(node.childNodes).some(n => n.nodeType === 3 && n.textContent.trim())) continue;
            if (node.closest('[hidden], .hidden, .why, option, title, desc') || !node.getClientRects().length) continue;
            const inside = node.closest('svg'), style = getComputedStyle(node);
            if (inside && node.tagName !== 'text') continue;
            if (inside && node.classList.contains('on')) continue;  // a number on a dot, which has its own ground
            const [a, b] = [light(rgb(inside ? style.fill : style.color)), light(inside ? over(node) : ground(node))];
            const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
            if (ratio < 4.5) bad.push(node.tagName + '.' + node.getAttribute('class') + ' ' + ratio.toFixed(2));
        }
        return Array.from(new Set(bad));""",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("accessible")
    detectors = ["good(msp,alpha=0.5)", "msp", "degree", "energy(temperature=1.0)"]
    years = year_frame(["dblp-easy-twin", "one"], detectors, ("gcn", "mlp"), ["", "naive(delta=0.1)"])
    run = write_run(folder / "run", years)
    write_measured(with_every_mark(), run / FILE)
    build_site([run], folder / "site", command="lgl-bench report run --html site")
    write_paper_tables([run], folder / "tables", command="lgl-bench report run --paper-tables tables")
    return folder


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("page", PAGES)
def test_every_kind_of_page_passes_every_check(browser, site, page, width, scheme):
    resize(browser, width, scheme)
    (address,) = sorted(site.glob(page))[:1]
    browser.get(address.as_uri())
    found: dict[str, Any] = {name: browser.execute_script(script) for name, script in CHECKS.items()}
    assert {name: bad for name, bad in found.items() if bad} == {}


def test_the_checks_find_what_is_wrong(browser, tmp_path):
    wrong = """<!doctype html><html><head></head><body><main><h1>a</h1><h3 id=x>b</h3><p id=x style="color:#999">c</p>
        <div style="overflow-x:auto;width:50px"><p style="width:500px">wide</p></div><nav></nav><svg></svg>
        <button></button><span tabindex=3></span><ul><p>d</p></ul>
        <table><tr><th>e</th></tr></table></main></body></html>"""
    (tmp_path / "wrong.html").write_text(wrong, encoding="utf-8")
    resize(browser, 1440, "light")
    browser.get((tmp_path / "wrong.html").as_uri())
    silent = [name for name, script in CHECKS.items() if not browser.execute_script(script)]
    assert silent == []
