// A site of pages: their runs, and a search through all of them without asking anybody.
const FOUND_MAX = 12;

const rankOf = (asked, [title, , , words]) => {
  const low = title.toLowerCase();
  if (low === asked) return 0;
  if (low.startsWith(asked)) return 1;
  if (low.includes(asked)) return 2;
  return asked.split(/\s+/).every((word) => low.includes(word) || words.toLowerCase().includes(word)) ? 3 : null;
};
const searched = (text, index) => {
  const asked = text.trim().toLowerCase();
  if (!asked) return [];
  return index.map((entry) => [rankOf(asked, entry), entry]).filter(([rank]) => rank !== null)
    .sort((a, b) => a[0] - b[0] || a[1][0].length - b[1][0].length || (a[1][0] < b[1][0] ? -1 : 1)).map(([, entry]) => entry);
};

const startSearch = () => {
  const input = document.getElementById("search"), list = document.getElementById("found");
  const root = input.dataset.root;
  input.parentElement.hidden = false;
  const show = () => {
    const found = searched(input.value, SEARCH);
    list.hidden = !input.value.trim();
    list.replaceChildren(...found.slice(0, FOUND_MAX).map(([title, kind, path]) => make("li", {}, make("a", { href: root + path }, make("span", {}, title), make("small", {}, kind)))));
    if (!found.length && !list.hidden) list.append(make("li", { class: "none" }, "nothing found"));
    if (found.length > FOUND_MAX) list.append(make("li", { class: "none" }, `and ${figure(found.length - FOUND_MAX)} more`));
  };
  const links = () => [...list.querySelectorAll("a")];
  input.oninput = show;
  input.parentElement.addEventListener("keydown", (event) => {
    const all = links(), place = all.indexOf(document.activeElement);
    if (event.key === "Escape") { input.value = ""; show(); input.focus(); }
    if (event.key === "ArrowDown" && all.length) { event.preventDefault(); all[Math.min(place + 1, all.length - 1)].focus(); }
    if (event.key === "ArrowUp" && place >= 0) { event.preventDefault(); (all[place - 1] ?? input).focus(); }
    if (event.key === "Enter" && event.target === input && all.length) all[0].click();
  });
  addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) { event.preventDefault(); input.focus(); }
  });
};

startPlayers(JSON.parse(document.getElementById("data").textContent).runs);
startFindings();
startSearch();
