// Sets light or dark before the page is drawn, as the reader chose last time.
"use strict";
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("footnote-theme");
  } catch {
    // Storage may be closed to us; then the system's choice stands.
  }
  if (chosen === "light" || chosen === "dark") {
    document.documentElement.dataset.theme = chosen;
  }
})();
