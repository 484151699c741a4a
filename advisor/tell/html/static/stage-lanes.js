// A consumer group: a lane for each member, the partitions it owns as bars over time, and below what nobody reads.
// A run that knows its records has them above, partition by partition.
stages.group = (run, step, width) => {
  const row = run.rows[step], lanes = laneNames(run), logs = row.partitions ?? [];
  const top = logs.length ? 118 : 6, plan = lanePlan(run, lanes, width, top);
  const svg = draw("svg", { width, height: plan.height, viewBox: `0 0 ${width} ${plan.height}`, role: "img", "aria-label": groupInWords(row) });
  svg.append(hatching());
  logs.forEach((log, number) => svg.append(partitionCard(log, step ? run.rows[step - 1].partitions[number] : null, number, logs.length, width)));
  const now = plan.at[step];
  svg.append(draw("rect", { x: plan.left, y: top, width: now - plan.left, height: plan.bottom - top, class: "past" }));
  lanes.forEach((name) => svg.append(lane(name, run, step, plan)));
  svg.append(timeAxis(run, step, plan), draw("line", { x1: now, x2: now, y1: top, y2: plan.bottom, class: "head" }));
  return svg;
};
stages["told group"] = (run, step, width) => (run.rows[0].members ? stages.group : stages.table)(run, step, width);

const NOBODY = "nobody";
const laneNames = (run) => {
  const names = new Set(run.rows.flatMap((row) => row.members.map((member) => member.id)));
  return run.rows.some((row) => row.unread.length) ? [...names, NOBODY] : [...names];
};
const ownedBy = (row, name) => (name === NOBODY ? row.unread : row.members.find((member) => member.id === name)?.owns ?? []);

const lanePlan = (run, lanes, width, top) => {
  const left = width < 520 ? 74 : 104, right = width - 16, most = Math.max(1, ...lanes.map((name) => Math.max(...run.rows.map((row) => ownedBy(row, name).length))));
  const bar = most <= 3 ? 16 : most <= 6 ? 9 : 5, places = {};
  let y = top;
  for (const name of lanes) {
    const owned = Math.max(1, ...run.rows.map((row) => ownedBy(row, name).length));
    const height = Math.max(40, owned * (bar + 3) + 22);
    places[name] = { y, height };
    y += height + 8;
  }
  return { left, right, at: stepPlaces(run, left + 10, right), bar, places, bottom: y, height: y + 30 };
};

// Steps of one moment stand close together, and a long wait takes more room than a short one, but not as much more
// as it is longer: the axis names the times.
const stepPlaces = (run, left, right) => {
  const times = run.rows.map((row, number) => row.t ?? number * 1000);
  const gaps = times.map((time, number) => (!number ? 0 : time === times[number - 1] ? 6 : 14 + Math.sqrt(time - times[number - 1])));
  const total = gaps.reduce((a, b) => a + b, 0) || 1;
  let sum = 0;
  return gaps.map((gap) => left + ((sum += gap) / total) * (right - left - 40));
};

const lane = (name, run, step, plan) => {
  const { y, height } = plan.places[name], group = draw("g", { class: `lane${name === NOBODY ? " nobody" : ""}` });
  const title = name === NOBODY ? "not read" : run.columns.find((column) => column.id === name)?.title ?? name;
  group.append(draw("line", { x1: plan.left, x2: plan.right, y1: y + height + 3.5, y2: y + height + 3.5, class: "axis" }));
  group.append(draw("text", { x: 0, y: y + 20, class: "name" }, title[0].toUpperCase() + title.slice(1)));
  if (name !== NOBODY && run.rows[step].members.find((member) => member.id === name)?.alive === false) group.append(draw("text", { x: 0, y: y + 37, class: "soft" }, "gone"));
  for (const { from, to, kind } of (run.spans ?? []).filter((span) => span.member === name))
    group.append(draw("rect", { x: plan.at[from], y: y + 2, width: Math.max(3, (plan.at[to] ?? plan.right) - plan.at[from]), height: height - 4, class: `shade ${kind}` }));
  for (const { partition, from, to, slot } of ownership(run, name)) {
    const x = plan.at[from], end = to === null ? plan.right : plan.at[to], past = from <= step;
    const bar = draw("g", { class: `bar tone-${partition % 5}${past ? "" : " future"}${from === step ? " changed" : ""}` },
      draw("rect", { x, y: y + 14 + slot * (plan.bar + 3), width: Math.max(3, end - x - 1), height: plan.bar, rx: 3 }),
      draw("title", {}, `partition ${partition}`));
    if (plan.bar >= 9 && end - x > 26) bar.append(draw("text", { x: x + 5, y: y + 14 + slot * (plan.bar + 3) + plan.bar / 2 + 4 }, `p${partition}`));
    group.append(bar);
  }
  run.rows.forEach((row, number) => {
    if (row.event?.member !== name) return;
    group.append(draw("g", { class: `event ${row.event.tone}${number > step ? " future" : ""}${number === step ? " now" : ""}` },
      eventSign(row.event, plan.at[number], y + 6), draw("title", {}, row.words)));
  });
  return group;
};

const eventSign = ({ tone }, x, y) => (tone === "bad"
  ? draw("path", { d: `M${x - 4} ${y - 4}l8 8m0 -8l-8 8`, class: "cross" })
  : draw("circle", { cx: x, cy: y, r: 4 }));

// From which step to which a lane has a partition, and in which row of the lane.
const ownership = (run, name) => {
  const open = new Map(), found = [];
  run.rows.forEach((row, number) => {
    const owned = new Set(ownedBy(row, name));
    for (const [partition, bar] of [...open]) if (!owned.has(partition)) { bar.to = number; open.delete(partition); }
    for (const partition of owned) if (!open.has(partition)) {
      const taken = new Set([...open.values()].map((bar) => bar.slot));
      let slot = 0;
      while (taken.has(slot)) slot++;
      const bar = { partition, from: number, to: null, slot };
      open.set(partition, bar);
      found.push(bar);
    }
  });
  return found;
};

const timeAxis = (run, step, plan) => {
  const group = draw("g", { class: "times" });
  if (run.rows[0].time && plan.left > 100) group.append(draw("text", { x: 0, y: plan.bottom + 16 }, "time, not to scale"));
  let last = -Infinity;
  run.rows.forEach((row, number) => {
    const x = plan.at[number], label = row.time ?? String(number + 1);
    if (number !== step && (x - last < 62 || Math.abs(x - plan.at[step]) < 62)) return;
    last = x;
    group.append(draw("text", { x, y: plan.bottom + 16, "text-anchor": x > plan.right - 40 ? "end" : number ? "middle" : "start", class: number === step ? "now" : "" }, label));
  });
  return group;
};

const partitionCard = (log, before, number, count, width) => {
  const gap = 16, wide = (width - gap * (count - 1)) / count, x = number * (wide + gap);
  const group = draw("g", { transform: `translate(${x} 0)` },
    draw("rect", { x: 0.5, y: 0.5, width: wide - 1, height: 100, rx: 8, class: "card" }),
    draw("text", { x: 16, y: 24, class: "name" }, wide < 190 ? `p${log.id}` : `Partition ${log.id}`));
  log.records.forEach((status, offset) => {
    const left = 20 + offset * PITCH, changed = before && before.records[offset] !== status;
    group.append(draw("g", { class: `block record ${status}${changed ? " changed" : ""}` },
      draw("rect", { x: left, y: 48, width: BLOCK, height: BLOCK - 4, rx: 5 }),
      draw("text", { x: left + BLOCK / 2, y: 68, "text-anchor": "middle" }, RECORD_SIGN[status]),
      draw("text", { x: left + BLOCK / 2, y: 94, "text-anchor": "middle", class: "offset" }, offset),
      draw("title", {}, `record ${offset}: ${RECORD_WORDS[status]}`)));
  });
  if (log.committed !== null) {
    group.append(pointer(20 + log.committed * PITCH - 3, 48, BLOCK, `committed ${log.committed}`, before && before.committed !== log.committed));
  }
  return group;
};
const RECORD_SIGN = { waiting: "", hand: "…", done: "✓", twice: "2×", skipped: "✗" };
const RECORD_WORDS = { waiting: "not read yet", hand: "being processed", done: "processed", twice: "processed twice", skipped: "skipped" };

const hatching = () => draw("defs", {}, draw("pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, draw("rect", { width: 2.5, height: 6 })));

const groupInWords = (row) => [
  ...row.members.map((member) => `${member.id}: ${member.alive === false ? "gone" : member.owns.length ? `owns ${member.owns.map((one) => `p${one}`).join(" ")}` : "owns nothing"}.`),
  ...(row.unread.length ? [`Nobody reads ${row.unread.map((one) => `p${one}`).join(" ")}.`] : []),
  ...(row.partitions ?? []).flatMap((log) => log.records.map((status, offset) => `p${log.id}:${offset} ${RECORD_WORDS[status]}.`)),
].join(" ");
