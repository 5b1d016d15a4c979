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

// On a phone, rows of sentences stand as cards; roles keep what a table is.
const SENTENCES = ".claims, .other-claims, .evidence, .deviations";
const ROLES = { thead: "rowgroup", tbody: "rowgroup", tr: "row", th: "columnheader", td: "cell" };

function addHeadings(box, table) {
  box.classList.add("cards");
  const headings = [...table.tHead.rows[0].cells].map(words);
  for (const cell of table.tBodies[0].querySelectorAll("td")) cell.dataset.heading = headings[cell.cellIndex];
  for (const part of table.querySelectorAll("thead, tbody, tr, th, td")) part.setAttribute("role", ROLES[part.localName]);
}

for (const box of document.querySelectorAll("main .table-box")) {
  const table = box.querySelector("table");
  if (!table?.tHead) continue;
  const scroller = make("div", "scroller");
  table.before(scroller);
  scroller.append(table);
  if (box.matches(SENTENCES)) addHeadings(box, table);
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
