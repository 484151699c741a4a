// Light or dark: as the system says, until somebody chooses.
const switchTheme = () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
};
document.documentElement.classList.add("scripted");
for (const node of document.querySelectorAll("[data-action=theme]")) {
  node.hidden = false;
  node.onclick = switchTheme;
}
