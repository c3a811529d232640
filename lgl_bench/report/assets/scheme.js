// Before the first paint: the scheme the reader chose last, if the browser lets us remember it.
(function () {
  "use strict";
  try {
    var kept = window.localStorage.getItem("lgl-bench-scheme");
    if (kept === "light" || kept === "dark") document.documentElement.dataset.scheme = kept;
  } catch (error) {
    // Storage may be closed to pages from disk; the system's scheme holds then.
  }
})();
