// The button that changes between light and dark.

const system = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : system.matches;
}

export function themeSwitch(button) {
  const show = () => button.setAttribute("aria-pressed", String(isDark()));
  button.addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem("footnote-theme", theme);
    } catch {
      // Then it holds for this page only.
    }
    show();
  });
  system.addEventListener("change", show);
  show();
}
