// Where a number came from.
const panel = make("div", "origin");
panel.popover = "auto";
panel.setAttribute("role", "dialog");
panel.tabIndex = -1;
document.body.append(panel);
let asked = null;

const MEASURED = /^(flops|wall_time|throughput|training_memory|memory_batch)/;
const MEASUREMENT = { device_name: "Device", threads: "Threads", precision: "Precision", iterations: "Passes", warmup: "Passes before" };
const NAMES = {
  status: "Status", accuracy: "Accuracy, last epoch", accuracy_authors: "Accuracy, authors’ protocol",
  epochs_run: "Epochs", test_images: "Test images", device: "Device", threads: "Threads",
  precision: "Precision", commit: "Commit", fingerprint: "Settings", data_source: "Images",
  data_checksum: "Checksum of images", wandb_run: "W&B",
};

function listed(pairs) {
  const list = make("dl");
  for (const [name, value] of pairs) {
    const cell = make("dd");
    if (/^https:\/\//.test(value)) {
      const link = make("a", "", value);
      link.href = value;
      link.rel = "noreferrer";
      cell.append(link);
    } else cell.textContent = value;
    list.append(make("dt", "", name), cell);
  }
  return list;
}

const named = (cells) => Object.keys(NAMES).filter((key) => cells[key] !== undefined).map((key) => [NAMES[key], String(cells[key])]);

function fillPanel(button) {
  const cell = button.closest("td");
  const row = cell.parentElement;
  const box = cell.closest(".table-box");
  const mark = row.querySelector("[data-of]");
  const models = modelsOf(row);
  const seed = mark.dataset.seed;
  let column = box.dataset.columns.split(" ")[cell.cellIndex];
  if (mark.dataset.file) column = `${column.replace(/_mean$/, "").replace(/^published_accuracy$/, "published")}_difference`;
  const file = mark.dataset.file ?? box.dataset.file;
  const heading = make("h2", "", words(cell));
  heading.id = "origin-of";
  const close = make("button", "close", "Close");
  close.type = "button";
  close.addEventListener("click", () => panel.hidePopover());
  panel.setAttribute("aria-labelledby", heading.id);
  panel.replaceChildren(close, heading, listed([
    ["File", `results/${provenance.study}/${file}`],
    ["Column", column.replaceAll(",", ", ")],
    ["Row", mark.dataset.row ?? models.join(", ") + (seed === undefined ? "" : `, seed ${seed}`)],
    ...(mark.dataset.evidence ? [["Rests on", mark.dataset.evidence]] : []),
  ]));
  if (MEASURED.test(column)) {
    panel.append(make("h3", "", "Measured in one go, of all models"), listed([
      ["Measurement", `results/${provenance.study}/measure/measurements.csv`],
      ...Object.entries(provenance.measurement ?? {}).map(([key, value]) => [MEASUREMENT[key] ?? key, String(value)]),
    ]));
  }
  for (const model of MEASURED.test(column) ? [] : models) {
    const known = provenance.models[model];
    if (!known) continue;
    const runs = known.runs.filter((run) => seed === undefined || run.seed === seed);
    panel.append(make("h3", "", known.label));
    if (/published/.test(column)) panel.append(listed([["Published in", known.published]]));
    const facts = [["Runs", `${runs.length}, seed${runs.length === 1 ? "" : "s"} ${runs.map((run) => run.seed).join(", ")}`], ["Status", known.status + (known.status === "ok" ? "" : `: ${known.reason}`)]];
    if (runs.length === 1) facts.push(...named(runs[0]));
    panel.append(listed(facts));
    for (const run of runs.length > 1 ? runs : []) panel.append(make("h3", "", `Seed ${run.seed}`), listed(named(run)));
  }
  const shared = named(provenance.shared ?? {});
  // Numbers of no run, such as those of the constructed task, share nothing with runs.
  if (!models.some((model) => provenance.models[model])) return;
  if (shared.length && !MEASURED.test(column)) panel.append(make("h3", "", "All runs of the study"), listed(shared));
  if (provenance.reduced) panel.append(make("p", "", `Reduced study: ${provenance.reduced}`));
}

function place(button) {
  const at = button.getBoundingClientRect();
  const { width, height } = panel.getBoundingClientRect();
  panel.style.left = `${Math.max(16, Math.min(at.left, document.documentElement.clientWidth - width - 16))}px`;
  const below = at.bottom + 8;
  panel.style.top = `${Math.max(16, below + height < innerHeight ? below : Math.min(at.top - height - 8, innerHeight - height - 16))}px`;
}

function ask(button) {
  asked = button;
  fillPanel(button);
  panel.showPopover();
  place(button);
  button.setAttribute("aria-expanded", "true");
  panel.focus();
}
panel.addEventListener("toggle", (event) => {
  if (event.newState !== "closed" || !asked) return;
  asked.setAttribute("aria-expanded", "false");
  if (panel.contains(document.activeElement) || document.activeElement === document.body) asked.focus();
});
