// The run player: steps of a run, drawn by a stage of its kind. Arrow keys step, space plays, F switches to the
// run with the fix. Every step is a sentence, which a screen reader is told as well.
const PLAY_MS = 1800;
const stages = {};
const ICONS = { first: "M3 3v10M13 3 6 8l7 5z", back: "M11 3 4 8l7 5z", forward: "M5 3l7 5-7 5z", play: "M5 3l8 5-8 5z", pause: "M5 3v10M11 3v10" };
const icon = (name) => draw("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true", class: "icon" }, draw("path", { d: ICONS[name] }));

const player = (node, versions) => {
  const state = { version: 0, step: 0, timer: 0 };
  const run = () => versions[state.version].run;
  const last = () => run().rows.length - 1;

  const picture = make("div", { class: "stage" });
  const sentence = make("p", { class: "sentence", "aria-live": "polite" });
  const ending = make("p", { class: "ending" });
  const count = make("span", { class: "count" });
  const scrub = make("input", { type: "range", min: 0, class: "scrub", "aria-label": "step" });
  const play = button("", { class: "play" }, () => toggle());
  const controls = make("div", { class: "controls" },
    button(icon("first"), { "aria-label": "first step", title: "first step (Home)" }, () => go(0)),
    button(icon("back"), { "aria-label": "step back", title: "step back (←)" }, () => go(state.step - 1)),
    play,
    button(icon("forward"), { "aria-label": "step forward", title: "step forward (→)" }, () => go(state.step + 1)),
    scrub, count);

  const choices = versions.map((version, number) => {
    const choice = make("input", { type: "radio", name: `version-${node.id}`, value: number });
    choice.checked = number === 0;
    choice.onchange = () => choose(number);
    return choice;
  });
  const chooser = versions.length < 2 ? null : make("fieldset", { class: "versions" },
    make("legend", {}, "settings"),
    ...versions.map((version, number) => make("label", { class: version.tone }, choices[number], make("span", {}, version.label))));

  const choose = (number) => {
    stop();
    state.version = number;
    choices[number].checked = true;
    go(0);
  };
  const stop = () => {
    clearInterval(state.timer);
    state.timer = 0;
    showPlaying();
  };
  const toggle = () => {
    if (state.timer) return stop();
    if (state.step === last()) go(0);
    state.timer = setInterval(() => (state.step < last() ? go(state.step + 1, true) : stop()), PLAY_MS);
    showPlaying();
  };
  const showPlaying = () => {
    const [name, label] = state.timer ? ["pause", "Pause"] : ["play", "Play"];
    play.replaceChildren(icon(name), label);
    play.title = `${label} (space)`;
    node.classList.toggle("playing", state.timer !== 0);
  };
  const go = (step, playing = false) => {
    if (!playing && state.timer) stop();
    state.step = Math.max(0, Math.min(last(), step));
    show();
  };
  const show = () => {
    const { rows, kind, ending: end } = run();
    const row = rows[state.step], atEnd = state.step === last();
    const stage = stages[kind] ?? stages.table;
    picture.replaceChildren(stage(run(), state.step, Math.max(300, picture.clientWidth)));
    sentence.textContent = row.words;
    ending.textContent = atEnd ? end : "";
    ending.className = `ending ${versions[state.version].tone}`;
    ending.hidden = !(atEnd && end);
    scrub.max = last();
    scrub.value = state.step;
    scrub.setAttribute("aria-valuetext", `step ${state.step + 1} of ${rows.length}: ${row.words}`);
    count.textContent = `${row.time ? `${row.time} · ` : ""}${state.step + 1} of ${rows.length}`;
  };
  const keys = {
    ArrowRight: () => go(state.step + 1), ArrowLeft: () => go(state.step - 1), Home: () => go(0), End: () => go(last()),
    " ": toggle, f: () => versions.length > 1 && choose(state.version ? 0 : 1),
  };
  scrub.oninput = () => go(Number(scrub.value));
  node.addEventListener("keydown", (event) => {
    const own = event.target === node;
    const key = event.key.length > 1 ? event.key : event.key.toLowerCase();
    if (event.ctrlKey || event.metaKey || event.altKey || !(key in keys)) return;
    if (own || key === "f") {
      event.preventDefault();
      keys[key]();
    }
  });

  for (const [name, value] of Object.entries({ tabindex: 0, role: "group", "aria-keyshortcuts": "ArrowLeft ArrowRight Space Home End F" })) node.setAttribute(name, value);
  node.prepend(...[chooser, picture, make("div", { class: "told" }, sentence, ending), controls].filter(Boolean));
  showPlaying();
  show();
  let width = picture.clientWidth;
  new ResizeObserver(() => {
    if (picture.clientWidth === width) return;
    width = picture.clientWidth;
    show();
  }).observe(picture);
};

const startPlayers = (runs) => {
  // On paper nothing plays: the run is there in words.
  addEventListener("beforeprint", () => document.querySelectorAll(".transcript").forEach((node) => (node.open = true)));
  for (const node of document.querySelectorAll("[data-run]")) {
    const versions = runs[node.dataset.run];
    if (versions && versions.length && !node.dataset.started) {
      node.dataset.started = "yes";
      player(node, versions);
    }
  }
};
