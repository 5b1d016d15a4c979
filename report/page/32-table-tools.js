// Tables: the tools below one, which filter its rows and copy it.

const modelsOf = (row) => (row.querySelector("[data-of]")?.dataset.of ?? "").split(" ").filter(Boolean);
// A row of its own, such as a claim, is of no model's group.
const groupOf = (row) => (row.querySelector("[data-row]") ? undefined : provenance.models?.[modelsOf(row)[0]]?.group);

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
