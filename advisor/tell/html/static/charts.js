// Bars, grids and lines of a page made of sections.
const tones = { error: "var(--error)", warning: "var(--warning)", note: "var(--note)", good: "var(--good)", "": "var(--none)" };
const colour = (tone) => tones[tone] ?? tone;
const sum = (values) => values.reduce((a, b) => a + b, 0);

const card = (section, ...children) => make("section", { class: "card" }, make("h2", {}, section.title), ...children, section.note ? make("p", { class: "note" }, section.note) : null);

const legend = (series) => make("div", { class: "legend" }, ...series.map(([name, tone]) => {
  const sign = make("i", {});
  sign.style.background = colour(tone);
  return make("span", {}, sign, name);
}));

// On a narrow screen a plot is scrolled, so that its words stay readable.
const chart = (title, svg, width) => {
  svg.style.minWidth = `${width}px`;
  return make("div", { class: "chart", tabindex: 0, role: "region", "aria-label": title }, svg);
};
const picture = (title, width, height) => draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title });

// Room for the labels that there are, so that on a phone the plot itself is in sight.
const isNarrow = innerWidth < 560;
const besideLabels = (rows, most) => 18 + 7.4 * Math.min(isNarrow ? 18 : most, Math.max(6, ...rows.map(([label]) => label.length)));

const bars = (section) => {
  const height = 26, shown = section.rows.slice(0, 20), left = besideLabels(shown, 30);
  const most = Math.max(1, ...shown.map(([, values]) => sum(values)));
  const right = Math.max(70, 18 + 7.4 * figure(most).length);
  const width = isNarrow ? Math.max(100, innerWidth - left - right - 30) : 700;
  const svg = picture(section.title, width + left + right, shown.length * height + 4);
  shown.forEach(([label, values], number) => {
    const y = number * height;
    let x = left;
    svg.append(draw("text", { x: left - 10, y: y + 17, "text-anchor": "end" }, cut(label, isNarrow ? 18 : 30)));
    values.forEach((value, which) => {
      if (!value) return;
      const [name, tone] = section.series[which], wide = (value / most) * width;
      svg.append(draw("rect", { x, y: y + 4, width: Math.max(1, wide - 1), height: height - 9, rx: 2, fill: colour(tone) }, draw("title", {}, `${label}: ${name} ${figure(value)}`)));
      x += wide;
    });
    svg.append(draw("text", { x: x + 8, y: y + 17, class: "soft" }, figure(sum(values))));
  });
  const rest = section.rows.length - shown.length;
  return card(section, legend(section.series), chart(section.title, svg, isNarrow ? 0 : 760), rest > 0 ? make("p", { class: "note" }, `the first ${shown.length} of ${figure(section.rows.length)}`) : null);
};

const heat = (section) => {
  const side = 26, right = 130, rows = section.rows.slice(0, 40), columns = section.columns.slice(0, 34);
  const left = besideLabels(rows, 38), top = 24 + 5.7 * Math.min(30, Math.max(0, ...columns.map((name) => name.length)));
  const width = left + columns.length * side + right;
  const svg = picture(section.title, width, top + rows.length * side + 4);
  svg.style.width = `${width}px`;
  columns.forEach((name, number) => {
    const x = left + number * side + 16;
    svg.append(draw("text", { x, y: top - 8, transform: `rotate(-50 ${x} ${top - 8})` }, cut(name, 30)));
  });
  rows.forEach(([label, values], line) => {
    const y = top + line * side;
    svg.append(draw("text", { x: left - 8, y: y + 17, "text-anchor": "end" }, cut(label, isNarrow ? 18 : 38)));
    values.slice(0, columns.length).forEach((value, number) => svg.append(draw("rect", {
      x: left + number * side, y, width: side - 2, height: side - 2, rx: 3,
      fill: value === null ? "var(--rail)" : `rgb(var(--hot) / ${(0.12 + 0.88 * Math.min(1, value)).toFixed(2)})`,
    }, draw("title", {}, `${label}, ${section.columns[number]}: ${value === null ? section.words[0] : `${(value * 100).toFixed(1)}% ${section.words[1]}`}`))));
  });
  return card(section, chart(section.title, svg, 0));
};

const trend = (section) => {
  const height = 180, count = section.labels.length;
  const most = Math.max(1, ...section.series.flatMap(([, , values]) => values));
  const left = 18 + 7.4 * figure(most).length, right = 50;
  const width = isNarrow ? Math.max(160, innerWidth - left - right - 24) : 930 - left;
  const svg = picture(section.title, width + left + right, height + 40);
  const x = (n) => left + (count > 1 ? (n / (count - 1)) * width : width / 2), y = (value) => 10 + height - (value / most) * height;
  for (const value of [...new Set([0, Math.floor(most / 2), most])]) {
    svg.append(draw("line", { x1: left, x2: left + width, y1: y(value), y2: y(value), stroke: "var(--rail)" }));
    svg.append(draw("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end", class: "soft" }, figure(value)));
  }
  const wide = 16 + 7.4 * Math.max(...section.labels.map((label) => label.length));
  const every = Math.max(1, Math.ceil(count / Math.max(1, Math.floor((width + right) / wide))));
  section.labels.forEach((label, n) => {
    if (n % every === 0) svg.append(draw("text", { x: Math.max(x(n), wide / 2), y: height + 32, "text-anchor": "middle", class: "soft" }, label));
  });
  for (const [name, tone, values] of section.series) {
    svg.append(draw("polyline", { fill: "none", stroke: colour(tone), "stroke-width": 2, points: values.map((v, n) => `${x(n)},${y(v)}`).join(" ") }));
    values.forEach((value, n) => svg.append(draw("circle", { cx: x(n), cy: y(value), r: count > 40 ? 2 : 3.5, fill: colour(tone) }, draw("title", {}, `${section.labels[n]}: ${name} ${figure(value)}`))));
  }
  return card(section, legend(section.series.map(([name, tone]) => [name, tone])), chart(section.title, svg, isNarrow ? 0 : 640));
};
