// A partition: the producer above, a card for each broker with its log. Brokers stand side by side, or one below
// the other where that is too narrow.
const BLOCK = 34, PITCH = 40, NARROW = 170;

stages.partition = (run, step, width) => {
  const row = run.rows[step], before = step ? run.rows[step - 1] : null;
  const side = width / row.brokers.length >= NARROW;
  const flows = run.rows.some((one) => one.flows.length);
  const plan = side ? sideBySide(row.brokers.length, width, flows) : oneBelowTheOther(row.brokers.length, width);
  const svg = draw("svg", { width, height: plan.height, viewBox: `0 0 ${width} ${plan.height}`, role: "img", "aria-label": brokersInWords(row) }, arrowHeads());
  svg.append(producerBox(row, before, plan));
  row.brokers.forEach((broker, number) => svg.append(brokerCard(broker, before?.brokers[number], plan.cards[number], run.scale, row)));
  for (const flow of row.flows) svg.append(flowArrow(flow, plan, row));
  return svg;
};
stages.producer = stages.partition;
// On a clock: the same, and what the producer has counted so far.
stages.schedule = (run, step, width) => make("div", {}, stages.partition(run, step, width), stages.timeline(run, step, width));

// -- where things go ---------------------------------------------------------------------------------------

const sideBySide = (count, width, flows) => {
  const gap = 16, wide = (width - gap * (count - 1)) / count, top = flows ? 116 : 72, high = 136;
  return {
    side: true, height: top + high + (flows ? 44 : 18), client: { x: 0, y: 0, width, height: 58 },
    cards: Array.from({ length: count }, (_, n) => ({ x: n * (wide + gap), y: top, width: wide, height: high, log: 20, logY: 66 })),
  };
};
const oneBelowTheOther = (count, width) => {
  const gutter = 30, top = 96, high = 118, gap = 10;
  return {
    side: false, height: top + count * (high + gap), client: { x: 0, y: 0, width, height: 70 },
    cards: Array.from({ length: count }, (_, n) => ({ x: gutter, y: top + n * (high + gap), width: width - 2 * gutter, height: high, log: 20, logY: 58 })),
  };
};

// -- the producer ------------------------------------------------------------------------------------------

const STATUS = { confirmed: "confirmed", waiting: "not confirmed yet", refused: "refused", failed: "failed", lost: "confirmed, lost", queued: "to be sent", sent: "on the wire" };
const SIGN = { confirmed: "✓", waiting: "…", refused: "✗", failed: "✗", lost: "✗", queued: "·", sent: "→" };

const producerBox = (row, before, plan) => {
  const { width, height } = plan.client;
  const group = draw("g", { class: `client${row.client.alive === false ? " down" : ""}` },
    draw("rect", { x: 0.5, y: 0.5, width: width - 1, height: height - 1, rx: 8, class: "card" }),
    draw("text", { x: 16, y: plan.side ? 35 : 24, class: "name" }, "Producer"));
  let x = plan.side ? 110 : 14, y = plan.side ? 14 : 34;
  for (const { record, status } of row.client.records) {
    const label = `${record}  ${SIGN[status]} ${STATUS[status]}`, wide = 26 + label.length * 7;
    if (x + wide > width) break;
    const old = before?.client.records.find((one) => one.record === record);
    const changed = before ? old?.status !== status : true;
    group.append(draw("g", { class: `chip ${status}${changed ? " changed" : ""}` },
      draw("rect", { x, y, width: wide, height: 30, rx: 15 }),
      draw("circle", { cx: x + 15, cy: y + 15, r: 5, class: recordTone(record) }),
      draw("text", { x: x + 26, y: y + 20 }, label)));
    x += wide + 10;
  }
  if (row.client.text) group.append(draw("text", { x: plan.side ? 110 : 14, y: plan.side ? 35 : 54, class: "soft" }, row.client.text));
  return group;
};

// -- a broker ----------------------------------------------------------------------------------------------

const recordTone = (record) => `tone-${Number.parseInt(record.slice(1), 10) % 5 || 0}`;

const roleOf = (broker, row) => {
  if (broker.gone) return ["lost for good", "down"];
  if (!broker.alive) return [broker.leads ? "down, still leader" : "down", "down"];
  if (broker.frozen) return ["frozen", "down"];
  if (broker.leads) return [row.epoch ? `leader, epoch ${row.epoch}` : "leader", "leads"];
  if (broker.in_sync) return ["in sync", "in-sync"];
  return broker.eligible ? ["eligible leader", "eligible"] : ["out of sync", "out"];
};

const brokerCard = (broker, before, at, scale, row) => {
  const [role, tone] = roleOf(broker, row);
  const old = before ? [before.alive, before.leads, before.in_sync, before.eligible, before.gone, before.frozen].join() : null;
  const now = [broker.alive, broker.leads, broker.in_sync, broker.eligible, broker.gone, broker.frozen].join();
  const changed = old !== null && old !== now;
  const group = draw("g", { class: `broker ${tone}${broker.alive ? "" : " down"}${changed ? " changed" : ""}`, transform: `translate(${at.x} ${at.y})` },
    draw("rect", { x: 0.5, y: 0.5, width: at.width - 1, height: at.height - 1, rx: 8, class: "card" }));
  if (broker.in_sync) group.append(draw("rect", { x: 10, y: at.height - 5, width: at.width - 20, height: 3, rx: 1.5, class: "isr" }));
  group.append(draw("text", { x: 16, y: 28, class: "name" }, `Broker ${broker.id}`), pill(role, tone, at.width - 14, 12));
  if (!broker.gone) group.append(scale > 8 ? logBar(broker, before, at, scale) : logBlocks(broker, before, at));
  return group;
};

const pill = (text, tone, right, y) => {
  const wide = 20 + text.length * 6.6;
  return draw("g", { class: `pill ${tone}` },
    draw("rect", { x: right - wide, y, width: wide, height: 22, rx: 11 }),
    draw("text", { x: right - wide / 2, y: y + 15, "text-anchor": "middle" }, text));
};

const logBlocks = (broker, before, at) => {
  const group = draw("g", { class: "log" });
  const fits = Math.floor((at.width - 2 * at.log - 30) / PITCH), skip = Math.max(0, broker.log.length - fits);
  const place = (offset) => at.log + (offset - skip) * PITCH, y = at.logY;
  group.append(draw("line", { x1: at.log, x2: at.width - at.log, y1: y + BLOCK + 0.5, y2: y + BLOCK + 0.5, class: "track" }));
  broker.log.slice(skip).forEach((record, number) => {
    const offset = skip + number, fresh = before ? before.log[offset] !== record : true;
    const [name, epoch] = record.split("@");
    const mark = broker.marks?.[offset];
    group.append(draw("g", { class: `block ${recordTone(name)}${fresh ? " changed" : ""}${mark ? ` ${mark}` : ""}` },
      draw("rect", { x: place(offset), y, width: BLOCK, height: BLOCK - 4, rx: 5 }),
      fresh || mark ? draw("rect", { x: place(offset) - 3, y: y - 3, width: BLOCK + 6, height: BLOCK + 2, rx: 7, class: "ring" }) : null,
      draw("text", { x: place(offset) + BLOCK / 2, y: y + 20, "text-anchor": "middle" }, name),
      draw("title", {}, epoch ? `${name}, written under leader epoch ${epoch}` : name)));
    group.append(draw("text", { x: place(offset) + BLOCK / 2, y: y + BLOCK + 15, "text-anchor": "middle", class: "offset" }, offset));
  });
  (broker.missing ?? []).forEach((record, number) => {
    const x = place(broker.log.length + number);
    group.append(draw("g", { class: "block ghost" },
      draw("rect", { x, y, width: BLOCK, height: BLOCK - 4, rx: 5 }),
      draw("text", { x: x + BLOCK / 2, y: y + 20, "text-anchor": "middle" }, record)));
  });
  const end = place(broker.log.length + (broker.missing ?? []).length);
  group.append(draw("text", { x: end + 2, y: y + BLOCK + 15, class: `end${before && before.leo !== broker.leo ? " changed" : ""}` }, `LEO ${broker.leo}`));
  if (broker.hw !== null && broker.hw >= skip) group.append(pointer(place(broker.hw) - 3, y, BLOCK, `HW ${broker.hw}`, before ? before.hw !== broker.hw : false));
  return group;
};

const pointer = (x, y, high, label, changed) => draw("g", { class: `hw${changed ? " changed" : ""}` },
  draw("line", { x1: x, x2: x, y1: y - 8, y2: y + high }),
  draw("text", { x: x - 1, y: y - 12 }, label));

// Many records: the log is a bar, as long as it is far along.
const logBar = (broker, before, at, scale) => {
  const y = at.logY, wide = at.width - 2 * at.log, x = (offset) => at.log + (offset / scale) * wide;
  const changed = before && before.leo !== broker.leo;
  return draw("g", { class: "log" },
    draw("rect", { x: at.log, y, width: wide, height: 18, rx: 4, class: "rail" }),
    draw("rect", { x: at.log, y, width: Math.max(0, x(broker.leo) - at.log), height: 18, rx: 4, class: `span${changed ? " changed" : ""}` }),
    pointer(x(broker.hw), y, 22, `HW ${figure(broker.hw)}`, before ? before.hw !== broker.hw : false),
    draw("text", { x: at.width - at.log, y: y + BLOCK + 4, "text-anchor": "end", class: "end" }, `LEO ${figure(broker.leo)}`));
};

// -- what goes from whom to whom ---------------------------------------------------------------------------

const arrowHeads = () => draw("defs", {}, ...["send", "confirm", "refuse", "copy"].map((tone) =>
  draw("marker", { id: `head-${tone}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse", class: tone },
    draw("path", { d: "M0 0 8 4 0 8z" }))));

const flowArrow = ({ from, to, label, tone }, plan, row) => {
  const card = (id) => plan.cards[row.brokers.findIndex((broker) => broker.id === id)];
  const path = (d, x, y, anchor) => draw("g", { class: `flow ${tone}` },
    draw("path", { d, "marker-end": `url(#head-${tone})` }),
    draw("text", { x, y, "text-anchor": anchor }, label));
  const client = from === null || to === null;
  if (client && plan.side) {
    const at = card(from ?? to), down = from === null, x = at.x + at.width / 2 + (down ? -14 : 14);
    const [y1, y2] = down ? [plan.client.height + 4, at.y - 4] : [at.y - 4, plan.client.height + 4];
    return path(`M${x} ${y1}V${y2}`, x + (down ? -8 : 8), (y1 + y2) / 2 + 4, down ? "end" : "start");
  }
  if (client) {
    const at = card(from ?? to), down = from === null, x = down ? 10 : 22, y = at.y + at.height / 2;
    const d = down ? `M${x} ${plan.client.height + 2}V${y}H${at.x - 4}` : `M${at.x - 2} ${y - 12}H${x}V${plan.client.height + 4}`;
    return path(d, down ? x + 20 : x + 14, plan.client.height + (down ? 20 : 18), "start");
  }
  const one = card(from), other = card(to);
  if (plan.side) {
    const x1 = one.x + one.width / 2, x2 = other.x + other.width / 2, y = one.y + one.height, low = y + 26;
    return path(`M${x1} ${y + 3}C${x1} ${low + 8} ${x2} ${low + 8} ${x2} ${y + 5}`, (x1 + x2) / 2, low + 18, "middle");
  }
  const x = one.x + one.width, y1 = one.y + one.height / 2, y2 = other.y + other.height / 2;
  return path(`M${x + 2} ${y1}C${x + 28} ${y1} ${x + 28} ${y2} ${x + 4} ${y2}`, x - 8, y2 + 34, "end");
};

const brokersInWords = (row) => [
  ...row.client.records.map(({ record, status }) => `${record}: ${STATUS[status]}.`),
  ...row.brokers.map((broker) => `Broker ${broker.id}: ${roleOf(broker, row)[0]}, ${broker.log.length ? `log ${broker.log.join(" ")}` : "log empty"}.`),
].join(" ");
