// The segments of one log over time: what is kept, what is gone, up to now.
stages.log = (run, step, width) => {
  const row = run.rows[step], left = 4, right = width - 12, top = 40, high = 54, height = 148;
  const end = Math.max(1, run.rows[run.rows.length - 1].t), x = (time) => left + (time / end) * (right - left);
  const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": row.cells.map((cell, n) => `${run.columns[n].title}: ${cell.text}.`).join(" ") });
  svg.append(draw("line", { x1: left, x2: right, y1: top + high + 8.5, y2: top + high + 8.5, class: "axis" }));
  const here = new Set(row.segments.map((segment) => segment.base));
  const gone = new Map(run.rows.slice(0, step).flatMap((one) => one.segments).filter((segment) => !here.has(segment.base)).map((segment) => [segment.base, segment]));
  let free = left;
  for (const [segment, kind] of [...[...gone.values()].map((one) => [one, "gone"]), ...row.segments.map((one) => [one, one.closed ? "closed" : "active"])].sort((a, b) => a[0].base - b[0].base)) {
    const from = Math.max(free, x(segment.first_ms)), to = Math.max(from + 10, x(segment.last_ms));
    const before = step ? run.rows[step - 1].segments.find((one) => one.base === segment.base) : null;
    const changed = kind === "gone" ? before : before?.closed !== segment.closed;
    const wide = to - from, group = draw("g", { class: `segment ${kind}${changed ? " changed" : ""}` }, draw("rect", { x: from, y: top, width: wide, height: high, rx: 5 }), draw("title", {}, `segment ${segment.base}: ${segment.size}, ${kind}`));
    if (wide > 64) group.append(draw("text", { x: from + 10, y: top + 23, class: "name" }, segment.base), draw("text", { x: from + 10, y: top + 41, class: "soft" }, kind === "gone" ? "deleted" : segment.size));
    svg.append(group);
    free = to + 2;
  }
  if (row.more) svg.append(draw("text", { x: Math.min(free + 10, right - 130), y: top + 32, class: "soft" }, `and ${figure(row.more)} more`));
  const now = x(row.t);
  svg.append(draw("line", { x1: now, x2: now, y1: top - 14, y2: top + high + 14, class: "head" }),
    draw("text", { x: now, y: top - 20, "text-anchor": now > right - 60 ? "end" : now < 40 ? "start" : "middle", class: "name" }, row.time),
    draw("text", { x: left, y: top + high + 34, class: "soft" }, row.cells.map((cell, n) => (run.columns[n].id === "segments" ? null : `${run.columns[n].title}: ${cell.text}`)).filter(Boolean).join(" · ")));
  return svg;
};

// Transactions: one partition's log with its markers, how far a reader may go and has gone, and who writes.
stages.transaction = (run, step, width) => {
  const row = run.rows[step], before = step ? run.rows[step - 1] : null, height = 210;
  const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": row.cells.map((cell, n) => `${run.columns[n].title}: ${cell.text}.`).join(" ") });
  let along = 0;
  for (const { text, tone, key } of row.parties) {
    const wide = 24 + text.length * 7, changed = before && before.parties.find((one) => one.key === key)?.text !== text;
    if (along + wide > width) break;
    svg.append(draw("g", { class: `chip ${tone}${changed ? " changed" : ""}` }, draw("rect", { x: along + 1, y: 1, width: wide, height: 30, rx: 15 }), draw("text", { x: along + 13, y: 21 }, text)));
    along += wide + 10;
  }
  const top = 48, left = 22, y = top + 62;
  svg.append(draw("rect", { x: 0.5, y: top, width: width - 1, height: 156, rx: 8, class: "card" }), draw("text", { x: 16, y: top + 26, class: "name" }, "Log of the partition"),
    draw("line", { x1: left, x2: width - 20, y1: y + BLOCK + 0.5, y2: y + BLOCK + 0.5, class: "track" }));
  const wide = row.log.map((entry) => (/^[ro]\d/.test(entry) ? BLOCK : 58)), at = (offset) => left + wide.slice(0, offset).reduce((a, b) => a + b + 6, 0);
  row.log.forEach((entry, offset) => {
    const marker = wide[offset] !== BLOCK, fresh = before ? before.log[offset] !== entry : true;
    svg.append(draw("g", { class: `block ${marker ? "marker" : entry[0] === "o" ? "tone-2" : recordTone(entry)}${fresh ? " changed" : ""}${row.wrong?.includes(entry) ? " twice" : ""}` },
      draw("rect", { x: at(offset), y, width: wide[offset], height: BLOCK - 4, rx: 5 }), draw("text", { x: at(offset) + wide[offset] / 2, y: y + 20, "text-anchor": "middle" }, entry)),
      draw("text", { x: at(offset) + wide[offset] / 2, y: y + BLOCK + 15, "text-anchor": "middle", class: "offset" }, offset));
  });
  if (row.lso !== null) svg.append(pointer(at(row.lso) - 3, y, BLOCK, `LSO ${row.lso}`, before && before.lso !== row.lso));
  const reader = at(row.position) - 3;
  svg.append(draw("g", { class: `reader${before && before.position !== row.position ? " changed" : ""}` },
    draw("path", { d: `M${reader} ${y + BLOCK + 20}l6 9h-12z` }), draw("text", { x: reader + 10, y: y + BLOCK + 32 }, `reader${row.read.length ? `, has processed ${row.read.join(" ")}` : ""}`)));
  return svg;
};
