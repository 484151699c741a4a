// Any other run: what each of its columns says after the step, as tiles.
stages.table = (run, step) => {
  const now = run.rows[step].cells, before = step ? run.rows[step - 1].cells : null;
  return make("dl", { class: "tiles" }, ...run.columns.map((column, number) => make("div", { class: `${before && before[number].text !== now[number].text ? "changed" : ""}${now[number].data?.passes === false ? " fails" : ""}` },
    make("dt", {}, column.title), make("dd", {}, now[number].text || "–"))));
};
