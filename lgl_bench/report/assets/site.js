// Sorting, filtering and the scheme. Everything is readable without it.
(function () {
  "use strict";

  function setUpScheme() {
    var button = document.getElementById("scheme");
    var system = window.matchMedia("(prefers-color-scheme: dark)");
    function dark() {
      var chosen = document.documentElement.dataset.scheme;
      return chosen ? chosen === "dark" : system.matches;
    }
    function show() {
      button.setAttribute("aria-label", dark() ? "Switch to light colours" : "Switch to dark colours");
    }
    button.addEventListener("click", function () {
      var next = dark() ? "light" : "dark";
      document.documentElement.dataset.scheme = next;
      try {
        window.localStorage.setItem("lgl-bench-scheme", next);
      } catch (error) {
        // Not remembered, but switched.
      }
      show();
    });
    system.addEventListener("change", show);
    show();
  }

  function Board(table) {
    this.table = table;
    this.limit = Number(table.dataset.limit) || Infinity;
    this.headers = Array.from(table.tHead.rows[0].cells);
    this.groups = Array.from(table.tBodies).map(function (body) {
      return {
        body: body,
        rows: Array.from(body.querySelectorAll("tr.row")),
        more: body.querySelector("tr.more"),
        open: false,
      };
    });
    var board = this;
    this.headers.forEach(function (header, column) {
      var button = header.querySelector("button");
      if (button) button.addEventListener("click", function () { board.sort(column); });
    });
    this.groups.forEach(function (group) {
      if (!group.more) return;
      var button = group.more.querySelector("button");
      button.dataset.closed = button.textContent;
      button.addEventListener("click", function () {
        group.open = !group.open;
        button.setAttribute("aria-expanded", String(group.open));
        button.textContent = group.open ? "Show the first " + board.limit : button.dataset.closed;
        board.show();
      });
    });
    this.wanted = null;
    this.show();
  }

  // Within each stream; what is undefined stays last whichever way.
  Board.prototype.sort = function (column) {
    var header = this.headers[column];
    var button = header.querySelector("button");
    var numeric = button.dataset.type === "number";
    var before = header.getAttribute("aria-sort");
    var first = button.dataset.first || "ascending";
    var order = before === "none" ? first : before === "ascending" ? "descending" : "ascending";
    this.headers.forEach(function (other) { if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none"); });
    header.setAttribute("aria-sort", order);
    var sign = order === "ascending" ? 1 : -1;
    this.groups.forEach(function (group) {
      var keyed = group.rows.map(function (row) {
        var cell = row.cells[column], name = cell.querySelector("bdi");
        var key = "sort" in cell.dataset ? cell.dataset.sort : (name || cell).textContent;
        return { row: row, key: key === "" ? null : numeric ? Number(key) : key };
      });
      keyed.sort(function (a, b) {
        if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
        if (numeric) return sign * (a.key - b.key);
        return sign * (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
      });
      group.rows = keyed.map(function (one) { return one.row; });
      var parts = document.createDocumentFragment();
      group.rows.forEach(function (row) { parts.appendChild(row); });
      group.body.insertBefore(parts, group.more);
    });
    this.show();
  };

  Board.prototype.show = function () {
    var wanted = this.wanted, limit = this.limit, found = 0;
    this.groups.forEach(function (group) {
      var fits = group.rows.filter(function (row) { return !wanted || wanted(row); });
      var kept = group.open ? fits : fits.slice(0, limit);
      var visible = new Set(kept);
      group.rows.forEach(function (row) { row.hidden = !visible.has(row); });
      if (group.more) group.more.hidden = fits.length <= limit;
      if (group.more && !group.open) group.more.querySelector("button").textContent = "Show all " + fits.length;
      group.body.hidden = fits.length === 0;
      found += fits.length;
    });
    return found;
  };

  // What a search looks through: the names of a row, read once.
  var texts = new WeakMap();
  function textOf(row) {
    if (!texts.has(row)) {
      var parts = [row.dataset.stream, row.dataset.strategy, row.dataset.backbone];
      row.querySelectorAll("bdi").forEach(function (name) { parts.push(name.textContent); });
      texts.set(row, parts.join(" ").toLowerCase());
    }
    return texts.get(row);
  }

  function setUpFilters(boards) {
    var form = document.getElementById("filters");
    if (!form) return;
    var output = document.getElementById("found");
    function apply() {
      var words = form.elements.search.value.toLowerCase().split(/\s+/).filter(Boolean);
      var chosen = Array.from(form.querySelectorAll("select")).filter(function (one) { return one.value !== ""; });
      var active = words.length > 0 || chosen.length > 0;
      var found = 0;
      boards.forEach(function (board) {
        board.wanted = !active ? null : function (row) {
          return words.every(function (word) { return textOf(row).indexOf(word) >= 0; }) &&
            chosen.every(function (one) {
              // A threshold says nothing about rows without one: the ranking of detectors stays as it is.
              if (one.name === "threshold" && row.dataset.threshold === "") return true;
              return row.dataset[one.name] === one.value;
            });
        };
        found += board.show();
      });
      output.textContent = active ? (found === 1 ? "1 row" : found + " rows") : "";
    }
    form.addEventListener("input", apply);
    form.addEventListener("change", apply);
    form.addEventListener("submit", function (event) { event.preventDefault(); });
    form.addEventListener("reset", function () { window.setTimeout(apply, 0); });
    // A browser that goes back may keep what was typed.
    apply();
  }

  setUpScheme();
  setUpFilters(Array.from(document.querySelectorAll("table[data-board]")).map(function (table) { return new Board(table); }));
})();
