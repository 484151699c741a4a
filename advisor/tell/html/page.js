"use strict";
// Draws the page from its own data. Values enter the document as text, never as markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const main = document.getElementById("page");
  const SVG = "http://www.w3.org/2000/svg";
  const ROW = 28;
  const tones = { error: "var(--error)", warning: "var(--warning)", note: "var(--note)", good: "var(--good)", "": "var(--none)" };
  const severities = ["error", "warning", "note"];

  const make = (name, attributes = {}, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };
  const draw = (name, attributes = {}, text) => {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const figure = (number) => (typeof number === "number" ? number.toLocaleString("en") : number);
  const cut = (text, length) => (text.length > length ? text.slice(0, length - 1) + "…" : text);

  const header = () => {
    const theme = make("button", { type: "button", id: "theme", title: "light or dark" }, "◐ theme");
    theme.onclick = () => {
      const root = document.documentElement;
      const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
    };
    return make("header", {}, make("h1", {}, data.title), make("span", { class: "about" }, data.about), theme);
  };

  const card = (section, ...children) => {
    const node = make("section", {}, make("h2", {}, section.title), ...children);
    if (section.note) node.append(make("p", { class: "note" }, section.note));
    return node;
  };

  const toneClass = (tone) => (tone === "note" ? "toned-note" : tone);

  const numbers = (section) => {
    const node = make("section", { class: "numbers" });
    for (const [word, value, tone] of section.items)
      node.append(make("div", {}, make("b", { class: toneClass(tone) }, figure(value)), word));
    return node;
  };

  const text = (section) => card(section, ...section.lines.map((line) => make("div", {}, line)));

  const legend = (series) => {
    const node = make("div", { class: "legend" });
    for (const [name, tone] of series) node.append(make("span", {}, make("i", { style: `background:${tones[tone] ?? tone}` }), name));
    return node;
  };

  // On a narrow screen a plot is scrolled, so that its words stay readable.
  const chart = (svg) => make("div", { class: "chart" }, svg);

  const bars = (section) => {
    const height = 22, left = 220, width = 960, shown = section.rows.slice(0, 20);
    const most = Math.max(1, ...shown.map(([, values]) => values.reduce((a, b) => a + b, 0)));
    const svg = draw("svg", { viewBox: `0 0 ${width + left + 70} ${shown.length * height + 4}`, role: "img" });
    shown.forEach(([label, values], number) => {
      const y = number * height, total = values.reduce((a, b) => a + b, 0);
      svg.append(draw("text", { x: left - 8, y: y + 15, "text-anchor": "end" }, cut(label, 32)));
      let x = left;
      values.forEach((value, which) => {
        if (!value) return;
        const bar = draw("rect", { x, y: y + 3, width: Math.max(1, (value / most) * width), height: height - 6, fill: tones[section.series[which][1]] ?? section.series[which][1] });
        bar.append(draw("title", {}, `${label}: ${section.series[which][0]} ${figure(value)}`));
        svg.append(bar);
        x += (value / most) * width;
      });
      svg.append(draw("text", { x: x + 6, y: y + 15, class: "soft" }, figure(total)));
    });
    const node = card(section, legend(section.series), chart(svg));
    if (section.rows.length > shown.length) node.append(make("p", { class: "note" }, `the first ${shown.length} of ${figure(section.rows.length)}`));
    return node;
  };

  const heat = (section) => {
    const side = 26, left = 260, top = 170, right = 130, rows = section.rows.slice(0, 40), columns = section.columns.slice(0, 34);
    const svg = draw("svg", { viewBox: `0 0 ${left + columns.length * side + right} ${top + rows.length * side + 4}`, role: "img", style: `width:${left + columns.length * side + right}px;min-width:0` });
    columns.forEach((name, number) => {
      const x = left + number * side + 16;
      svg.append(draw("text", { x, y: top - 8, transform: `rotate(-50 ${x} ${top - 8})` }, cut(name, 30)));
    });
    rows.forEach(([label, values], line) => {
      const y = top + line * side;
      svg.append(draw("text", { x: left - 8, y: y + 17, "text-anchor": "end" }, cut(label, 38)));
      values.slice(0, columns.length).forEach((value, number) => {
        const cell = draw("rect", { x: left + number * side, y, width: side - 2, height: side - 2, rx: 3,
          fill: value === null ? "var(--back)" : `rgb(var(--hot) / ${(0.12 + 0.88 * Math.min(1, value)).toFixed(2)})` });
        cell.append(draw("title", {}, `${label}, ${section.columns[number]}: ${value === null ? "all alike" : (value * 100).toFixed(1) + "% differ"}`));
        svg.append(cell);
      });
    });
    return card(section, chart(svg));
  };

  const trend = (section) => {
    const width = 1100, height = 180, left = 50, count = section.labels.length;
    const most = Math.max(1, ...section.series.flatMap(([, , values]) => values));
    const svg = draw("svg", { viewBox: `0 0 ${width + left + 50} ${height + 40}`, role: "img" });
    const x = (n) => left + (count > 1 ? (n / (count - 1)) * width : width / 2);
    const y = (value) => 10 + height - (value / most) * height;
    svg.append(draw("text", { x: left - 8, y: 18, "text-anchor": "end", class: "soft" }, figure(most)));
    section.labels.forEach((label, n) => {
      if (count <= 12 || n % Math.ceil(count / 12) === 0) svg.append(draw("text", { x: x(n), y: height + 32, "text-anchor": "middle", class: "soft" }, label));
    });
    for (const [name, tone, values] of section.series) {
      svg.append(draw("polyline", { fill: "none", stroke: tones[tone], "stroke-width": 2, points: values.map((v, n) => `${x(n)},${y(v)}`).join(" ") }));
      values.forEach((value, n) => {
        const dot = draw("circle", { cx: x(n), cy: y(value), r: 3.5, fill: tones[tone] });
        dot.append(draw("title", {}, `${section.labels[n]}: ${name} ${figure(value)}`));
        svg.append(dot);
      });
    }
    return card(section, legend(section.series.map(([name, tone]) => [name, tone])), chart(svg));
  };

  // A table draws only the rows in sight; a filter asks each word of a column once, not each row.
  const table = (section) => {
    const columns = section.columns;
    for (const column of columns) if (column.words) column.low = column.words.map((word) => word.toLowerCase());
    const state = { text: "", facets: new Map(), sort: null, down: false };
    // As wide as most of its words need, so that the table scrolls sideways before it hides them.
    const letters = (column) => {
      const lengths = column.words.map((word) => word.length).sort((a, b) => a - b);
      return Math.max(column.name.length + 2, lengths[Math.floor(lengths.length * 0.9)] ?? 0);
    };
    const widths = columns.map((c) => (c.kind === "number" ? 104 : Math.min(c.name === "message" ? 480 : 260, 24 + 8.4 * letters(c))));
    const template = widths.map((width) => `minmax(${Math.round(width)}px,${Math.round(width)}fr)`).join(" ");
    const wide = `${Math.round(widths.reduce((a, b) => a + b, 0))}px`;
    const grid = make("div", { class: "grid", "data-table": section.name, tabindex: "0" });
    const head = make("div", { class: "head", style: `min-width:${wide};grid-template-columns:${template}` });
    const rows = make("div", { class: "rows", style: `min-width:${wide}` });
    const count = make("span", { class: "count" });
    let order = [];

    const pass = () => {
      const asked = state.text.toLowerCase();
      const hits = asked && columns.map((c) => (c.words ? Uint8Array.from(c.low, (word) => word.includes(asked)) : null));
      const facets = [...state.facets].filter(([, word]) => word !== "").map(([c, word]) => [columns[c].rows, columns[c].words.indexOf(word)]);
      const found = [];
      for (let row = 0; row < section.count; row++) {
        if (facets.some(([cells, word]) => cells[row] !== word)) continue;
        if (hits && !columns.some((c, n) => (hits[n] ? hits[n][c.rows[row]] : String(c.values[row]).includes(asked)))) continue;
        found.push(row);
      }
      if (state.sort !== null) {
        const column = columns[state.sort];
        const rank = column.kind === "severity" ? column.words.map((word) => severities.indexOf(word)) : null;
        const key = column.words ? (rank ? (row) => rank[column.rows[row]] : (row) => column.rows[row]) : (row) => column.values[row] ?? -1;
        found.sort((a, b) => (key(a) - key(b)) * (state.down ? -1 : 1) || a - b);
      }
      order = found;
      rows.style.height = `${order.length * ROW}px`;
      count.textContent = `${figure(order.length)} of ${figure(section.count)}`;
      grid.scrollTop = 0;
      show();
    };
    const show = () => {
      const first = Math.max(0, Math.floor(grid.scrollTop / ROW) - 8), last = Math.min(order.length, first + 40);
      rows.replaceChildren();
      for (let number = first; number < last; number++) {
        const row = order[number];
        const node = make("div", { class: "row", style: `top:${number * ROW}px;grid-template-columns:${template}` });
        for (const column of columns) {
          const value = column.words ? column.words[column.rows[row]] : column.values[row];
          const kind = column.kind === "severity" ? toneClass(value) : column.kind === "number" ? "number" : "";
          const cell = make("span", { class: kind });
          if (column.kind === "run" && data.runs[value]) {
            const button = make("button", { type: "button" }, value);
            button.onclick = () => open(value);
            cell.append(button);
          } else cell.textContent = value === null || value === undefined ? "" : figure(value);
          cell.title = cell.textContent;
          node.append(cell);
        }
        rows.append(node);
      }
    };
    columns.forEach((column, number) => {
      const button = make("button", { type: "button", class: column.kind === "number" ? "number" : "" }, column.name);
      button.onclick = () => {
        state.down = state.sort === number ? !state.down : column.kind === "number";
        state.sort = number;
        [...head.children].forEach((other, n) => (other.textContent = columns[n].name + (n === number ? (state.down ? " ↓" : " ↑") : "")));
        pass();
      };
      head.append(button);
    });
    const bar = make("div", { class: "bar" });
    const input = make("input", { type: "search", placeholder: "filter", "aria-label": `filter ${section.title}` });
    let waiting = 0;
    input.oninput = () => { clearTimeout(waiting); waiting = setTimeout(() => { state.text = input.value; pass(); }, 60); };
    bar.append(input);
    columns.forEach((column, number) => {
      if (!column.words || !(column.kind === "facet" || column.kind === "severity" || column.kind === "run") || column.words.length > 400) return;
      const select = make("select", { "aria-label": column.name }, make("option", { value: "" }, `any ${column.name}`));
      for (const word of column.words) if (word) select.append(make("option", { value: word }, cut(word, 60)));
      select.onchange = () => { state.facets.set(number, select.value); pass(); };
      bar.append(select);
    });
    bar.append(count);
    grid.append(head, rows);
    grid.onscroll = show;
    const node = card(section, bar, grid);
    pass();
    return node;
  };

  const dialog = make("dialog", { id: "run" });
  const open = (code) => {
    const found = data.runs[code];
    const close = make("button", { type: "button", class: "close" }, "close");
    close.onclick = () => dialog.close();
    dialog.replaceChildren(close, make("h2", {}, found.title), make("p", {}, found.message));
    const list = (title, head, lines) => {
      if (!lines.length) return;
      const body = make("table", {});
      if (head.length) body.append(make("tr", {}, ...head.map((word) => make("th", {}, word))));
      for (const line of lines) body.append(make("tr", {}, ...line.map((cell) => make("td", {}, make("code", {}, String(cell ?? ""))))));
      dialog.append(make("h3", {}, title), body);
    };
    list("settings", ["component", "key", "value"], found.settings);
    if (found.steps) dialog.append(make("h3", {}, "the shortest run found"), make("pre", {}, found.steps));
    list("numbers", [], found.numbers);
    for (const fix of found.fixes) {
      list("smallest verified change", ["component", "key", "from", "to"], fix.changes);
      for (const note of fix.notes) dialog.append(make("p", { class: "note" }, note));
    }
    list("advice", [], found.advice.map((line) => [line]));
    dialog.showModal();
  };

  const kinds = { numbers, text, bars, heat, trend, table };
  main.append(header());
  for (const section of data.sections) main.append(kinds[section.kind](section));
  document.body.append(dialog);
})();
