// Every drawing as a file, as it is seen: SVG with its styles written out, or PNG drawn from that. Nothing leaves the page.
(function () {
  "use strict";

  var STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap",
    "opacity", "font-size", "font-weight", "font-family", "text-anchor"];
  var NS = "http://www.w3.org/2000/svg";

  function alone(svg) {
    var copy = svg.cloneNode(true);
    var from = svg.querySelectorAll("*"), to = copy.querySelectorAll("*");
    from.forEach(function (node, at) {
      var seen = window.getComputedStyle(node);
      STYLES.forEach(function (name) {
        var value = seen.getPropertyValue(name);
        if (value) to[at].style.setProperty(name, value);
      });
      to[at].removeAttribute("class");
    });
    var box = svg.viewBox.baseVal;
    copy.setAttribute("xmlns", NS);
    copy.setAttribute("width", box.width);
    copy.setAttribute("height", box.height);
    copy.removeAttribute("class");
    var ground = document.createElementNS(NS, "rect");
    ground.setAttribute("width", "100%");
    ground.setAttribute("height", "100%");
    ground.setAttribute("fill", window.getComputedStyle(svg.closest("figure")).backgroundColor);
    copy.insertBefore(ground, copy.firstChild);
    return new XMLSerializer().serializeToString(copy);
  }

  function offer(blob, name) {
    var link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    document.body.appendChild(link);
    link.click();
    link.remove();
    window.setTimeout(function () { URL.revokeObjectURL(link.href); }, 1000);
  }

  function asPng(text, box, then) {
    var image = new Image();
    image.onload = function () {
      var canvas = document.createElement("canvas"), scale = 3;
      canvas.width = Math.ceil(box.width * scale);
      canvas.height = Math.ceil(box.height * scale);
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob(then, "image/png");
    };
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  }

  document.querySelectorAll("figure[data-file]").forEach(function (figure) {
    var svg = figure.querySelector("svg.chart"), name = figure.dataset.file;
    if (!svg) return;
    var bar = document.createElement("div");
    bar.className = "save";
    ["SVG", "PNG"].forEach(function (kind) {
      var button = document.createElement("button");
      button.type = "button";
      button.textContent = kind;
      button.setAttribute("aria-label", "Download " + name + " as " + kind);
      button.addEventListener("click", function () {
        var text = alone(svg);
        if (kind === "SVG") offer(new Blob([text], { type: "image/svg+xml" }), name + ".svg");
        else asPng(text, svg.viewBox.baseVal, function (blob) { offer(blob, name + ".png"); });
      });
      bar.appendChild(button);
    });
    figure.appendChild(bar);
  });
})();
