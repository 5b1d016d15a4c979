// Words: how numbers, places, layers and heads are told.

/** A share in percent, in as many digits as say something. */
function percent(share) {
  if (share === null) return "n/a";
  const number = 100 * share;
  if (number !== 0 && Math.abs(number) < 0.01) return number > 0 ? "< 0.01 %" : "> −0.01 %";
  return `${number.toPrecision(3)} %`.replace("-", "−");
}

function signed(weight) {
  return weight.toPrecision(3).replace("-", "−");
}

function weightText(attention, weight) {
  return attention.signed ? signed(weight) : percent(weight);
}

function placeText(attention, { row, column }) {
  if (!attention.local) return `row ${row + 1}, column ${column + 1}`;
  const down = ["above", "", "below"][row];
  const across = ["left", "", "right"][column];
  return [down, across].filter(Boolean).join(" ") || "itself";
}

/** A fault as a percentage, never rounded down. */
function faultText(share) {
  const digits = 10 ** (1 - Math.floor(Math.log10(100 * share)));
  return `${Math.ceil(100 * share * digits) / digits} %`;
}

function layerName(attention, layer) {
  return `${attention.local ? "Call" : "Layer"} ${layer + 1}`;
}

function headName(attention, head) {
  return `${attention.local ? "channel" : "head"} ${head + 1}`;
}
