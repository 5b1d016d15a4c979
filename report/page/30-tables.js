// Tables: sort by a column, filter, copy as CSV, and where a number came from.

const provenance = JSON.parse(document.getElementById("provenance").textContent);
const told = document.getElementById("told");
const MANY_ROWS = 12;

const make = (tag, className, text) => {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
};
const words = (cell) => cell.textContent.replace(/\s+/g, " ").trim();

// The first number of a cell: its mean; an interval, a ± or a unit follow it.
function numberIn(text) {
  const found = text.replace(/−/g, "-").replace(/(\d),(?=\d{3})/g, "$1").match(/^[^\d-]{0,3}([+-]?\d+(?:\.\d+)?)\s*(h|min|s)?/);
  if (!found) return null;
  return Number(found[1]) * ({ h: 3600, min: 60 }[found[2]] ?? 1);
}

function compared(a, b, numeric, direction) {
  const [first, second] = [a, b].map((text) => (/^(n\/a|–|)$/.test(text.replace(/ \(.*/, "")) ? null : numeric ? numberIn(text) : text));
  if (first === null || second === null) return (first === null) - (second === null);
  return direction * (numeric ? first - second : first.localeCompare(second, "en", { numeric: true }));
}

// A table of pairs moves by pair: its first row decides.
function blocksOf(table, size) {
  const rows = [...table.tBodies[0].rows];
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, n) => rows.slice(size * n, size * n + size));
}

function sortBy(table, heading, size) {
  const column = heading.cellIndex;
  const now = heading.getAttribute("aria-sort");
  const texts = [...table.tBodies[0].rows].map((row) => words(row.cells[column]));
  const numeric = texts.some((text) => numberIn(text) !== null) && texts.every((text) => numberIn(text) !== null || /^(n\/a|–|not |$)/.test(text));
  const next = now === "ascending" ? "descending" : "ascending";
  for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", next);
  const direction = next === "ascending" ? 1 : -1;
  const blocks = blocksOf(table, size);
  blocks.sort((a, b) => compared(words(a[0].cells[column]), words(b[0].cells[column]), numeric, direction));
  table.tBodies[0].append(...blocks.flat());
  told.textContent = `Sorted by ${words(heading)}, ${next}.`;
}

function csvOf(table) {
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
  const rows = [table.tHead.rows[0], ...[...table.tBodies[0].rows].filter((row) => !row.hidden)];
  return rows.map((row) => [...row.cells].map((cell) => quoted(words(cell))).join(",")).join("\n") + "\n";
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = make("textarea", "unseen");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

const modelsOf = (row) => (row.querySelector("[data-of]")?.dataset.of ?? "").split(" ").filter(Boolean);
const groupOf = (row) => provenance.models?.[modelsOf(row)[0]]?.group;

function addTools(box, table, size) {
  const tools = make("div", "table-tools");
  const rows = [...table.tBodies[0].rows];
  const name = box.querySelector("strong")?.textContent.replace(/\.$/, "") ?? "table";
  const groups = [...new Set(rows.map(groupOf).filter(Boolean))];
  const found = make("span", "found");
  let group = null;
  let search = null;
  const show = () => {
    const wanted = search?.value.trim().toLowerCase() ?? "";
    let shown = 0;
    for (const block of blocksOf(table, size)) {
      const fits = (!group?.value || block.some((row) => groupOf(row) === group.value)) && (!wanted || block.some((row) => words(row).toLowerCase().includes(wanted)));
      for (const row of block) row.hidden = !fits;
      shown += fits ? block.length : 0;
    }
    found.textContent = group?.value || wanted ? `${shown} of ${rows.length} rows` : "";
    told.textContent = found.textContent;
  };
  tools.append(found);
  if (groups.length > 1) {
    const label = make("label", "", "Group");
    group = make("select");
    group.append(new Option("all", ""), ...groups.map((each) => new Option(each, each)));
    group.addEventListener("change", show);
    label.append(group);
    tools.append(label);
  }
  if (rows.length > MANY_ROWS) {
    const label = make("label", "", "Find");
    search = make("input");
    search.type = "search";
    search.addEventListener("input", show);
    label.append(search);
    tools.append(label);
  }
  const button = make("button", "copy", "Copy as CSV");
  button.type = "button";
  button.setAttribute("aria-label", `Copy ${name} as CSV`);
  button.addEventListener("click", async () => {
    const done = await copy(csvOf(table));
    told.textContent = done ? `${name} is copied as CSV.` : "The browser let nothing be copied.";
    button.textContent = done ? "Copied" : "Not copied";
    setTimeout(() => { button.textContent = "Copy as CSV"; }, 2000);
  });
  tools.append(button);
  box.append(tools);
}

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
    ["Column", column.replace(",", ", ")],
    ["Row", models.join(", ") + (seed === undefined ? "" : `, seed ${seed}`)],
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

// One stop of the Tab key a table; arrows go from number to number.
function addQuestions(box, table) {
  const columns = box.dataset.columns?.split(" ");
  if (!columns) return;
  for (const row of table.tBodies[0].rows) {
    if (!row.querySelector("[data-of]")) continue;
    for (const cell of [...row.cells].filter((each) => (columns[each.cellIndex] ?? "-") !== "-")) {
      if (!words(cell) || cell.querySelector("a")) continue;
      const button = make("button", "cell");
      button.type = "button";
      button.tabIndex = -1;
      button.setAttribute("aria-haspopup", "dialog");
      button.setAttribute("aria-expanded", "false");
      button.append(...cell.childNodes);
      cell.append(button);
    }
  }
  const first = table.querySelector(".cell");
  if (first) first.tabIndex = 0;
  table.addEventListener("click", (event) => {
    const button = event.target.closest(".cell");
    if (button) { roam(table, button); ask(button); }
  });
  table.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!step || !event.target.matches(".cell")) return;
    event.preventDefault();
    const next = neighbour(event.target, step);
    if (next) { roam(table, next); next.focus(); }
  });
}

function roam(table, button) {
  for (const other of table.querySelectorAll('.cell[tabindex="0"]')) other.tabIndex = -1;
  button.tabIndex = 0;
}

function neighbour(button, [down, right]) {
  let cell = button.closest("td");
  const column = cell.cellIndex;
  for (;;) {
    if (right) cell = right > 0 ? cell.nextElementSibling : cell.previousElementSibling;
    else {
      let row = cell.parentElement;
      do row = down > 0 ? row.nextElementSibling : row.previousElementSibling; while (row?.hidden);
      cell = row?.cells[column];
    }
    if (!cell) return null;
    const found = cell.querySelector(".cell");
    if (found) return found;
  }
}

for (const box of document.querySelectorAll("main .table-box")) {
  const table = box.querySelector("table");
  if (!table?.tHead) continue;
  const scroller = make("div", "scroller");
  table.before(scroller);
  scroller.append(table);
  const size = box.classList.contains("pairs") ? 3 : 1;
  if (blocksOf(table, size).length > 1) {
    for (const heading of table.tHead.rows[0].cells) {
      if (heading.querySelector("a")) {
        const button = make("button", "", "↕");
        button.setAttribute("aria-label", `Sort by ${words(heading)}`);
        heading.append(" ", button);
      } else {
        const button = make("button");
        button.append(...heading.childNodes);
        heading.append(button);
      }
      const button = heading.querySelector("button");
      button.type = "button";
      button.addEventListener("click", () => sortBy(table, heading, size));
    }
  }
  addQuestions(box, table);
  addTools(box, table, size);
}

// What is wider than its place can be scrolled by keyboard too.
const reach = () => {
  for (const scroller of document.querySelectorAll(".scroller, .equation > p, .long")) {
    const wider = scroller.scrollWidth > scroller.clientWidth + 1;
    if (wider) {
      scroller.tabIndex = 0;
      scroller.setAttribute("role", "region");
      scroller.setAttribute("aria-label", scroller.closest(".table-box")?.querySelector("strong")?.textContent ?? "Equation");
    } else for (const name of ["tabindex", "role", "aria-label"]) scroller.removeAttribute(name);
  }
};
reach();
addEventListener("resize", reach);
