// An outage on the clock: what the producer has confirmed, what waits, what failed, as curves over time.
const CURVES = [["confirmed", "good"], ["waiting", "warning"], ["failed", "error"]];

stages.timeline = (run, step, width) => {
  const left = 52, right = width - 12, top = 34, bottom = 216, row = run.rows[step], height = 268;
  const times = run.rows.map((one) => one.t), end = Math.max(1, times[times.length - 1]);
  const most = Math.max(1, ...run.rows.flatMap((one) => CURVES.map(([name]) => one.counts[name] ?? 0)));
  const x = (time) => left + (time / end) * (right - left), y = (value) => bottom - (value / most) * (bottom - top);
  const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": countsInWords(row) }, hatching());
  for (const { from, to } of run.outages ?? []) {
    const x1 = x(times[from]), x2 = x(to === null ? end : times[to]);
    svg.append(draw("rect", { x: x1, y: top - 8, width: Math.max(2, x2 - x1), height: bottom - top + 8, class: "shade outage" }),
      draw("text", { x: Math.min(x1 + 8, right - 130), y: top + 8, class: "soft" }, "nothing is confirmed"));
  }
  for (const part of [0, 0.5, 1]) svg.append(draw("line", { x1: left, x2: right, y1: y(most * part), y2: y(most * part), class: "axis" }),
    draw("text", { x: left - 8, y: y(most * part) + 4, "text-anchor": "end", class: "soft number" }, figure(Math.round(most * part))));
  for (const [name, tone] of CURVES) {
    if (!run.rows.some((one) => one.counts[name])) continue;
    const points = run.rows.map((one) => [x(one.t).toFixed(1), y(one.counts[name] ?? 0).toFixed(1)]);
    svg.append(draw("polyline", { points: points.join(" "), class: `curve ${tone}` }),
      ...points.map(([cx, cy]) => draw("circle", { cx, cy, r: 2.5, class: `dot known ${tone}` })),
      draw("circle", { cx: x(row.t), cy: y(row.counts[name] ?? 0), r: 5, class: `dot ${tone}` }));
  }
  let along = left;
  for (const [name, tone] of CURVES) {
    if (!run.rows.some((one) => one.counts[name])) continue;
    const label = `${figure(row.counts[name] ?? 0)} ${name}`;
    svg.append(draw("text", { x: along, y: 14, class: `key ${tone}` }, label));
    along += 26 + label.length * 7.4;
  }
  svg.append(draw("line", { x1: x(row.t), x2: x(row.t), y1: top - 8, y2: bottom, class: "head" }));
  for (const time of ticks(end, Math.max(2, Math.floor((right - left) / 110)))) svg.append(draw("text", { x: x(time), y: bottom + 18, "text-anchor": time ? "middle" : "start", class: "soft number" }, `${time / 1000} s`));
  svg.append(draw("text", { x: left, y: bottom + 42, class: "soft" }, `${row.leader} · ${row.isr}`));
  return svg;
};

const ticks = (end, count) => {
  const rough = end / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) ?? rough;
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, n) => n * step);
};

const countsInWords = (row) => `${CURVES.map(([name]) => `${figure(row.counts[name] ?? 0)} ${name}`).join(", ")}. ${row.leader}, ${row.isr}.`;
