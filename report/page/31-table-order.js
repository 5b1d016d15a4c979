// Tables: sorting by a column, with what is not known last.

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
