// A table of up to a hundred thousand rows: only those in sight are drawn, and a filter asks each word of a column
// once, not each row.
const ROW = 30;
const SEVERITIES = ["error", "warning", "note"];
const toneClass = (tone) => (tone === "note" ? "toned-note" : tone);
const tables = {};

const table = (section, openExample) => {
  const columns = section.columns;
  for (const column of columns) if (column.words) column.low = column.words.map((word) => word.toLowerCase());
  const state = { text: "", facets: new Map(), sort: null, down: false };
  const widths = columns.map(columnWidth), wide = `${sum(widths)}px`;
  const template = widths.map((width) => `minmax(${width}px,${width}fr)`).join(" ");
  const grid = make("div", { class: "grid", "data-table": section.name, tabindex: 0, role: "table", "aria-label": section.title, "aria-rowcount": section.count });
  const head = laid(make("div", { class: "head", role: "row" }), template), rows = make("div", { class: "rows", role: "rowgroup" });
  head.style.minWidth = rows.style.minWidth = wide;
  const count = make("span", { class: "count", role: "status" });
  let order = [];

  const pass = () => {
    order = sorted(passing(columns, section.count, state), columns, state);
    rows.style.height = `${order.length * ROW}px`;
    count.textContent = `${figure(order.length)} of ${figure(section.count)}`;
    grid.scrollTop = 0;
    show();
  };
  const show = () => {
    const first = Math.max(0, Math.floor(grid.scrollTop / ROW) - 8), last = Math.min(order.length, first + 40);
    rows.replaceChildren(...order.slice(first, last).map((row, number) => {
      const node = laid(make("div", { class: "row", role: "row", "aria-rowindex": first + number + 1 }), template);
      node.style.top = `${(first + number) * ROW}px`;
      node.append(...columns.map((column) => cellOf(column, row, openExample)));
      return node;
    }));
  };
  columns.forEach((column, number) => {
    const title = make("span", { role: "columnheader", "aria-sort": "none" });
    title.append(button(column.name, { class: column.kind === "number" ? "number" : "" }, () => {
      state.down = state.sort === number ? !state.down : column.kind === "number";
      state.sort = number;
      [...head.children].forEach((other, n) => {
        other.setAttribute("aria-sort", n !== number ? "none" : state.down ? "descending" : "ascending");
        other.firstChild.textContent = columns[n].name + (n === number ? (state.down ? " ↓" : " ↑") : "");
      });
      pass();
    }));
    head.append(title);
  });
  const bar = make("div", { class: "filters" });
  const input = make("input", { type: "search", placeholder: "Filter", "aria-label": `filter ${section.title}` });
  let waiting = 0;
  input.oninput = () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { state.text = input.value; pass(); }, 60);
  };
  bar.append(input);
  const selects = new Map();
  columns.forEach((column, number) => {
    if (!column.words || !["facet", "severity", "run"].includes(column.kind) || column.words.length > 400) return;
    const select = make("select", { "aria-label": column.name }, make("option", { value: "" }, `any ${column.name}`));
    for (const word of column.words) if (word) select.append(make("option", { value: word }, cut(word, 60)));
    select.onchange = () => { state.facets.set(number, select.value); pass(); };
    selects.set(column.name, [select, number]);
    bar.append(select);
  });
  bar.append(count);
  grid.append(head, rows);
  grid.onscroll = show;
  // From elsewhere in the page: show the rows in which these columns have these words.
  tables[section.name] = (chosen) => {
    for (const [name, [select, number]] of selects) {
      select.value = chosen[name] ?? "";
      state.facets.set(number, chosen[name] ?? "");
    }
    pass();
    grid.scrollIntoView({ block: "center" });
  };
  const node = card(section, bar, grid);
  pass();
  return node;
};

// As wide as most of its words need, so that the table scrolls sideways before it hides them.
const columnWidth = (column) => {
  if (column.kind === "number") return 104;
  const lengths = column.words.map((word) => word.length).sort((a, b) => a - b);
  const letters = Math.max(column.name.length + 2, lengths[Math.floor(lengths.length * 0.9)] ?? 0);
  return Math.round(Math.min(column.name === "message" ? 480 : 260, 26 + 8.2 * letters));
};
const laid = (node, template) => {
  node.style.gridTemplateColumns = template;
  return node;
};

const passing = (columns, count, { text, facets }) => {
  const asked = text.toLowerCase();
  const hits = asked && columns.map((column) => (column.words ? Uint8Array.from(column.low, (word) => word.includes(asked)) : null));
  const chosen = [...facets].filter(([, word]) => word !== "").map(([number, word]) => [columns[number].rows, columns[number].words.indexOf(word)]);
  const found = [];
  for (let row = 0; row < count; row++) {
    if (chosen.some(([cells, word]) => cells[row] !== word)) continue;
    if (hits && !columns.some((column, n) => (hits[n] ? hits[n][column.rows[row]] : String(column.values[row]).includes(asked)))) continue;
    found.push(row);
  }
  return found;
};

const sorted = (found, columns, { sort, down }) => {
  if (sort === null) return found;
  const column = columns[sort], rank = column.kind === "severity" ? column.words.map((word) => SEVERITIES.indexOf(word)) : null;
  const key = column.words ? (rank ? (row) => rank[column.rows[row]] : (row) => column.rows[row]) : (row) => column.values[row] ?? -1;
  return found.sort((a, b) => (key(a) - key(b)) * (down ? -1 : 1) || a - b);
};

const cellOf = (column, row, openExample) => {
  const value = column.words ? column.words[column.rows[row]] : column.values[row];
  const kind = column.kind === "severity" ? toneClass(value) : column.kind === "number" ? "number" : "";
  const cell = make("span", { class: kind, role: "cell" });
  const example = column.kind === "run" ? openExample(column.opens ? column.names[column.opens[row]] : value) : null;
  cell.append(example ? button(value, {}, example) : String(value === null || value === undefined ? "" : figure(value)));
  cell.title = cell.textContent;
  return cell;
};
