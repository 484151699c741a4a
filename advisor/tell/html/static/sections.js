// A page made of sections: numbers, texts, plots and tables, drawn from its own data.
const data = JSON.parse(document.getElementById("data").textContent);

const numbers = (section) => make("section", { class: "numbers" }, ...section.items.map(([word, value, tone]) => make("div", {}, make("b", { class: toneClass(tone) }, figure(value)), word)));
const text = (section) => card(section, ...section.lines.map((line) => make("p", {}, line)));

// An example of a rule is a dialog of the page.
const openExample = (code) => {
  const dialog = document.getElementById(`example-${code}`);
  return dialog ? () => dialog.showModal() : null;
};
const kinds = { numbers, text, bars, heat, trend, drill, table: (section) => table(section, openExample) };
for (const section of data.sections) document.getElementById("page").append(kinds[section.kind](section));
for (const close of document.querySelectorAll("dialog .close")) close.onclick = () => close.closest("dialog").close();
startPlayers(data.runs);
