// Metrics of the map under the pointer, computed from the weights that are shown.

/** Metrics of a query's attention over the image's keys; of the average, their means. */
function metrics(attention, layer, head, query, imageSize) {
  const [rows, columns] = attention.grid(layer);
  if (attention.signed) return { self: null, entropy: null, distance: null };
  const queries = query === null ? [...Array(rows * columns).keys()] : [query];
  const found = queries.map((one) => metricsOfQuery(attention, layer, head, one, imageSize));
  const mean = (name) => found.reduce((sum, one) => sum + one[name], 0) / found.length;
  return { self: mean("self"), entropy: mean("entropy"), distance: mean("distance") };
}

function metricsOfQuery(attention, layer, head, query, imageSize) {
  const weights = attention.ofQuery(layer, head, query);
  const [rows, columns] = attention.grid(layer);
  const [height, width] = attention.mapSize(layer);
  const own = attention.local ? 4 : query;
  const [ownRow, ownColumn] = [Math.floor(own / width), own % width];
  const sum = weights.reduce((a, b) => a + b, 0) || 1;
  let [entropy, distance] = [0, 0];
  weights.forEach((weight, key) => {
    const share = weight / sum;
    if (share > 0) entropy -= share * Math.log(share);
    const down = ((Math.floor(key / width) - ownRow) * imageSize[0]) / rows;
    const across = (((key % width) - ownColumn) * imageSize[1]) / columns;
    distance += share * Math.hypot(down, across);
  });
  return { self: weights[own] / sum, entropy, distance };
}

/** The weight of largest magnitude, and its place. */
function largestOf(weights, columns) {
  let best = 0;
  weights.forEach((weight, key) => {
    if (Math.abs(weight) > Math.abs(weights[best])) best = key;
  });
  return { value: weights[best], row: Math.floor(best / columns), column: best % columns };
}
