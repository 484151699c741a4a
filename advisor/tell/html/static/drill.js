// Who has something, by team or by cluster: the most first, each opens to what it has.
const DRILLED_MAX = 200;

const drill = (section) => {
  const state = { by: 0, text: "" };
  const list = make("div", { class: "drill" }), count = make("span", { class: "count", role: "status" });
  const switcher = make("fieldset", { class: "versions" }, make("legend", {}, "group by"), ...section.by.map((name, number) => {
    const choice = make("input", { type: "radio", name: `drill-${section.name}` });
    choice.checked = number === 0;
    choice.onchange = () => { state.by = number; show(); };
    return make("label", {}, choice, make("span", {}, `By ${name}`));
  }));
  const input = make("input", { type: "search", placeholder: "Filter", "aria-label": `filter ${section.title}` });
  input.oninput = () => { state.text = input.value.trim().toLowerCase(); show(); };

  const show = () => {
    const other = section.by.length > 1 ? 1 - state.by : null, groups = new Map();
    for (const row of section.rows) {
      if (state.text && !row.some((cell) => cell.toLowerCase().includes(state.text))) continue;
      const name = row[state.by];
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(row);
    }
    const found = [...groups].sort((a, b) => b[1].length - a[1].length || (a[0] < b[0] ? -1 : 1));
    const most = Math.max(1, ...found.map(([, rows]) => rows.length));
    count.textContent = `${figure(sum(found.map(([, rows]) => rows.length)))} ${section.what} of ${figure(found.length)} ${section.by[state.by]}${found.length === 1 ? "" : "s"}`;
    list.replaceChildren(...found.slice(0, DRILLED_MAX).map(([name, rows]) => group(name, rows, most, other)));
    if (found.length > DRILLED_MAX) list.append(make("p", { class: "note" }, `and ${figure(found.length - DRILLED_MAX)} more: filter to find them`));
  };
  const group = (name, rows, most, other) => {
    const bar = make("i", { class: "share" }), body = make("div", { class: "drilled" });
    bar.style.width = `${Math.max(1, (rows.length / most) * 100)}%`;
    const node = make("details", {}, make("summary", {}, make("span", { class: "who" }, name), make("span", { class: "number" }, figure(rows.length)), make("span", { class: "track" }, bar)), body);
    // Drawn when it is opened: a team may have thousands.
    node.ontoggle = () => {
      if (!node.open || body.firstChild) return;
      const shown = rows.slice(0, DRILLED_MAX).map((row) => make("tr", {}, ...row.filter((_, n) => n !== state.by).map((cell) => make("td", {}, cell))));
      const heads = [...section.by, ...section.columns].filter((_, n) => n !== state.by);
      body.append(make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": `${section.what} of ${name}` },
        make("table", { class: "plain" }, make("thead", {}, make("tr", {}, ...heads.map((word) => make("th", { scope: "col" }, word)))), make("tbody", {}, ...shown))));
      if (rows.length > DRILLED_MAX) body.append(make("p", { class: "note" }, `and ${figure(rows.length - DRILLED_MAX)} more`));
      if (tables.findings) body.append(button("All findings of this one", {}, () => tables.findings({ [section.by[state.by] === "team" ? "owner" : section.by[state.by]]: name })));
    };
    return node;
  };
  const node = card(section, section.by.length > 1 ? switcher : null, make("div", { class: "filters" }, input, count), list);
  show();
  return node;
};
