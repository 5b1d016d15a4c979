// Texts about the explorer: its lead, its scale, its faults, and what is left out.

function lead() {
  return element(
    "p", { id: "explorer-lead" },
    "Move over the image with the mouse or a finger, or focus it and press the arrow keys: " +
      "every map shows where that place attends. A click on the image holds the place, so that " +
      "the pointer can read the maps; another lets go. A click on a map, or the arrow keys on " +
      "the maps, choose the head that is shown large with its numbers. On the large map the " +
      "pointer, a finger or the arrow keys read one cell.",
  );
}

function reduced(index) {
  if (!index.reduced) return [];
  const text = `Reduced study: ${index.reduced.replace(/\.$/, "")}.`;
  return [element("p", { class: "explorer-reduced" }, text)];
}

/** What the numbers mean, how exact they are, and what the page leaves out. */
function about(index) {
  const texts = [
    "On itself, entropy and mean distance are those of the query’s weights over the image’s " +
      "keys, a class token left aside; of the average, their means over all queries. They are " +
      "computed here from the weights that are shown.",
    ...faults(index), ...omissions(index),
    ...index.absent.map(({ label, reason }) => `Not here: ${label}. ${reason}`),
  ];
  const items = texts.map((text) => element("li", {}, text));
  return element(
    "details", { class: "explorer-about" },
    element("summary", {}, "What the numbers mean, how exact they are, and what is left out"),
    element("ul", {}, ...items),
  );
}

function faults(index) {
  const packs = (wanted) => index.variants
    .filter(({ form, normalised }) => wanted(form, normalised)).flatMap((variant) => variant.packs);
  const worst = (found) => faultText(Math.max(...found.map(({ fault }) => fault)));
  const said = [
    [packs((form) => form === "table"), (fault) =>
      `Maps that depend on positions alone are computed from a table of scores by shift; no weight is off by more than ${fault} of itself.`],
    [packs((form, normalised) => form !== "table" && normalised), (fault) =>
      `All other probabilities are kept in levels that are even in their square roots; no weight is off by more than ${fault} of the largest weight of its head or channel over all queries.`],
    [packs((form, normalised) => !normalised), (fault) =>
      `Weights without a softmax are kept in even levels; none is off by more than ${fault} of the largest of its channel.`],
  ];
  const token = index.variants.some((variant) => variant.token)
    ? [`A class token’s share is off by no more than ${faultText(TOKEN_FAULT)} of all attention.`] : [];
  return [...said.filter(([found]) => found.length).map(([found, say]) => say(worst(found))), ...token];
}

function omissions({ omitted }) {
  const because = `since the page may take ${omitted.megabytes} MB`;
  const said = [];
  if (omitted.images.length) said.push(`Images left out, ${because}: ${omitted.images.join(", ")}.`);
  if (omitted.variants.length) said.push(`Models left out, ${because}: ${omitted.variants.join(", ")}.`);
  return said;
}

/** Build the tool in its place; without data, or in an old browser, say why there is none. */
