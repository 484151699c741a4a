// The list of findings: a filter by words and severity, and links to one of them.
const startFindings = () => {
  const findings = [...document.querySelectorAll("section > details.finding")];
  const form = document.querySelector(".filters");
  const showTarget = () => {
    const found = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let node = found?.closest("details"); node; node = node.parentElement.closest("details")) {
      node.hidden = false;
      node.open = true;
    }
    found?.scrollIntoView();
  };
  addEventListener("hashchange", showTarget);
  addEventListener("beforeprint", () => document.querySelectorAll("details.finding").forEach((node) => (node.open = true)));
  if (form) {
    const words = form.querySelector("input[type=search]"), boxes = [...form.querySelectorAll("input[type=checkbox]")];
    const count = form.querySelector(".count");
    const pass = () => {
      const asked = words.value.trim().toLowerCase();
      const severities = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
      let shown = 0;
      for (const finding of findings) {
        const fits = severities.has(finding.dataset.severity) && (!asked || finding.textContent.toLowerCase().includes(asked));
        finding.hidden = !fits;
        shown += fits;
      }
      count.textContent = shown === findings.length ? "" : `${shown} of ${findings.length}`;
    };
    form.hidden = false;
    form.oninput = pass;
    form.onsubmit = (event) => event.preventDefault();
  }
  showTarget();
};
