// Weights: a pack's bytes, unfolded when they are first asked for.

const unfolding = new Map();

/** The bytes of a pack, unfolded once. */
function unfolded(file) {
  if (!unfolding.has(file)) unfolding.set(file, unfold(file));
  return unfolding.get(file);
}

async function unfold(file) {
  const text = atob(document.getElementById(`explorer-${file}`).textContent);
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

/** What all forms share: `weights(layer, head, query)`; query null: the average. */
class Attention {
  constructor(variant, pack, buffer) {
    Object.assign(this, { variant, pack, buffer, averages: new Map() });
    this.shapes = variant.shapes;
    this.local = variant.form === "local";
    this.signed = !variant.normalised;
  }

  /** Rows and columns of the queries of a layer. */
  grid(layer) {
    return this.shapes[layer].slice(1);
  }

  /** Rows and columns of a map: the grid, or a neighbourhood. */
  mapSize(layer) {
    return this.local ? [3, 3] : this.grid(layer);
  }

  weights(layer, head, query) {
    return query === null ? this.average(layer, head) : this.ofQuery(layer, head, query);
  }

  average(layer, head) {
    const key = `${layer} ${head}`;
    if (!this.averages.has(key)) this.averages.set(key, this.averaged(layer, head));
    return this.averages.get(key);
  }

  averaged(layer, head) {
    const [rows, columns] = this.grid(layer);
    const [height, width] = this.mapSize(layer);
    const sum = new Float64Array(height * width);
    for (let query = 0; query < rows * columns; query++) {
      this.ofQuery(layer, head, query).forEach((weight, key) => (sum[key] += weight));
    }
    return sum.map((weight) => weight / (rows * columns));
  }

  /** The class token's share of a query's attention; null without a token. */
  token() {
    return null;
  }
}

/** Content-free: scores by shift, and a softmax over the keys inside of the grid. */
class TableAttention extends Attention {
  ofQuery(layer, head, query) {
    const [heads, rows, columns] = this.shapes[layer];
    const [down, across] = [2 * rows - 1, 2 * columns - 1];
    const scores = new Float32Array(
      this.buffer, 4 * (layer * heads + head) * down * across, down * across,
    );
    const row = Math.floor(query / columns);
    const weights = new Float64Array(rows * columns);
    for (let key = 0; key < weights.length; key++) {
      const shift = Math.floor(key / columns) - row + rows - 1;
      weights[key] = scores[shift * across + (key % columns) - (query % columns) + columns - 1];
    }
    return softmax(weights);
  }
}

function softmax(scores) {
  const largest = scores.reduce((a, b) => Math.max(a, b), -Infinity);
  const powers = scores.map((score) => Math.exp(score - largest));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

/** Every query's map, in levels that are even in square roots. */
class MapAttention extends Attention {
  ofQuery(layer, head, query) {
    const [heads, rows, columns] = this.shapes[layer];
    const keys = rows * columns;
    const map = layer * heads + head;
    const start = 4 * this.shapes.length * heads + (map * keys + query) * keys;
    const levels = new Uint8Array(this.buffer, start, keys);
    const largest = new Float32Array(this.buffer, 4 * map, 1)[0];
    return Float64Array.from(levels, (level) => largest * (level / this.pack.levels) ** 2);
  }

  token(layer, head, query) {
    if (!this.variant.token) return null;
    const [heads, rows, columns] = this.shapes[layer];
    const [keys, maps] = [rows * columns, this.shapes.length * heads];
    const start = 4 * maps + maps * keys * keys + (layer * heads + head) * keys;
    const shares = new Uint8Array(this.buffer, start, keys);
    const sum = shares.reduce((a, b) => a + b, 0);
    return (query === null ? sum / keys : shares[query]) / 255;
  }
}

/** Weights over neighbourhoods of 3 by 3, a call a layer and a channel a head. */
class LocalAttention extends Attention {
  ofQuery(layer, head, query) {
    const [, rows, columns] = this.shapes[layer];
    const before = this.shapes.slice(0, layer);
    const channels = this.shapes.reduce((sum, [count]) => sum + count, 0);
    const scale = before.reduce((sum, [count]) => sum + count, 0) + head;
    const largest = new Float32Array(this.buffer, 4 * scale, 1)[0];
    const codes = before.reduce((sum, [count, h, w]) => sum + count * h * w * 9, 0);
    const start = 4 * channels + codes + (head * rows * columns + query) * 9;
    const levels = new Uint8Array(this.buffer, start, 9);
    return Float64Array.from(levels, (level) => largest * this.share(level));
  }

  share(level) {
    const half = Math.floor(this.pack.levels / 2);
    return this.signed ? (level - half) / half : (level / this.pack.levels) ** 2;
  }
}

const FORMS = { table: TableAttention, maps: MapAttention, local: LocalAttention };

/** A variant's attention on an image; null if the page does not hold it. */
async function attentionOf(variant, image) {
  const pack = variant.packs.find((one) => one.image === null || one.image === image);
  if (!pack) return null;
  return new FORMS[variant.form](variant, pack, await unfolded(pack.file));
}
