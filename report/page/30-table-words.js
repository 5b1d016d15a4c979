// Tables: what a cell says, in words and as a number, and a table as CSV.

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
