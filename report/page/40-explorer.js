// The attention explorer: where every layer and head attends from any pixel.
//
// The page holds compressed packs as base64 (see src/reattn/explorer/packing.py for
// their forms); a pack is unfolded when its variant is chosen. All numbers shown are
// computed here from the weights that are shown.

const IDS = { id: "attention-explorer", index: "explorer-index" };
const QUERY_COLOUR = "#d55e00";
const TOKEN_FAULT = 1 / 510 + 2 ** -12; // half a level of 255, and half precision
const SETTLED = 250; // milliseconds without a change, before a change is told aloud

// The figures' colours: viridis in 32 steps, and RdBu reversed in 33.
const SEQUENTIAL = colours(
  "440154460c5f47186a482273462d7c4437814141863d4a8939548b355c8c31648d2e6c8e2a758e277c8e24" +
    "848d228b8d1f948b1e9b891fa38624aa822eb27c39b97647c06e57c6656bcd597ed24e92d741a7db33bf" +
    "df24d4e11ae9e419fde724",
);
const DIVERGING = colours(
  "0530610d407816518f1f62a72971b1347fb83e8dc0519cc86aacd083bbd899c9e0add3e5c1ddebd3e6f0df" +
    "ebf2ebf1f4f7f7f7f8eee8fae5d9fcdccafacdb5f7bca0f5ab8aee9878e58267db6c56d15748c6403ebb" +
    "2a33ad162a950f267e072267001f",
);

function colours(digits) {
  return digits.match(/../g).map((pair) => parseInt(pair, 16));
}

// ---------------------------------------------------------------- weights

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

// ---------------------------------------------------------------- metrics

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

// ---------------------------------------------------------------- words

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

// ---------------------------------------------------------------- elements

/** An element with attributes and children; a function is what a click or change does. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value !== null) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function options(pairs, chosen) {
  return pairs.map(([value, text]) => {
    const option = element("option", { value }, text);
    option.selected = String(value) === String(chosen);
    return option;
  });
}

function labelled(text, control) {
  return element("label", {}, element("span", {}, text), control);
}

function radios(legend, name, choices, chosen, change) {
  const inputs = choices.map(([value, text]) => {
    const input = element("input", { type: "radio", name: `explorer-${name}`, value });
    input.checked = value === chosen;
    input.addEventListener("change", () => change(value));
    return element("label", {}, input, text);
  });
  return element("fieldset", {}, element("legend", {}, legend), ...inputs);
}

// ---------------------------------------------------------------- drawing

/** A canvas made ready for a size in CSS pixels, sharp on any screen. */
function prepared(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = false;
  return { context, ratio };
}

/** Cells as an image of one pixel each. */
function picture(columns, rows, paint) {
  const canvas = new OffscreenCanvas(columns, rows);
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  for (let cell = 0; cell < columns * rows; cell++) {
    const [red, green, blue] = paint(cell);
    image.data.set([red, green, blue, 255], 4 * cell);
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

function mapPicture(weights, [rows, columns], largest, diverging) {
  return picture(columns, rows, (cell) => colourOf(weights[cell] / (largest || 1), diverging));
}

/** The colour of a share of the scale, from 0 or from -1 up to 1. */
function colourOf(share, diverging) {
  const table = diverging ? DIVERGING : SEQUENTIAL;
  const steps = table.length / 3;
  const place = diverging ? (share + 1) / 2 : share;
  const step = Math.min(steps - 1, Math.max(0, Math.floor(place * steps)));
  return table.slice(3 * step, 3 * step + 3);
}

/** A cell framed in white and orange, as in the figures; the cell itself stays visible. */
function frame(context, ratio, x, y, width, height) {
  const out = ratio;
  for (const [thickness, colour] of [[2.5, "#ffffff"], [1.25, QUERY_COLOUR]]) {
    context.lineWidth = thickness * ratio;
    context.strokeStyle = colour;
    context.strokeRect(x - out, y - out, width + 2 * out, height + 2 * out);
  }
}

function inkOf(node) {
  return getComputedStyle(node).color;
}

// ---------------------------------------------------------------- layout of maps

const EDGE = 2; // room for the frame of the chosen map
const GAP = 5;
const HEADING = 20;
const NUMBERS = 14;

/** Where each shown map lies in a canvas of a width: tiles, headings, and a height. */
function arranged(attention, state, whole) {
  const width = whole - 2 * EDGE;
  const tiles = [];
  const headings = [];
  let top = 0;
  for (const layer of shownLayers(attention, state)) {
    const heads = shownHeads(attention, state, layer);
    const least = attention.local ? 26 : 40;
    const most = Math.max(1, Math.floor((width + GAP) / (least + GAP)));
    const columns = Math.ceil(heads.length / Math.ceil(heads.length / most));
    const side = Math.min(attention.local ? 44 : 96, Math.floor((width + GAP) / columns) - GAP);
    headings.push({ layer, top });
    top += HEADING;
    heads.forEach((head, place) => {
      const row = Math.floor(place / columns);
      const left = EDGE + (place % columns) * (side + GAP);
      tiles.push({ layer, head, left, top: top + row * (side + NUMBERS) + NUMBERS, side });
    });
    top += Math.ceil(heads.length / columns) * (side + NUMBERS) + GAP;
  }
  return { tiles, headings, height: Math.max(top, 1) };
}

function shownLayers(attention, state) {
  const layers = [...attention.shapes.keys()];
  return state.layer === "all" ? layers : layers.filter((layer) => layer === state.layer);
}

function shownHeads(attention, state, layer) {
  const heads = [...Array(attention.shapes[layer][0]).keys()];
  return state.head === "all" ? heads : heads.filter((head) => head === state.head);
}

// ---------------------------------------------------------------- a side

/** One model: its name, the chosen head large with its numbers, and all its maps. */
class Side {
  constructor(explorer, name) {
    Object.assign(this, { explorer, name, attention: null, pointed: null });
    this.title = element("h2", { class: "explorer-model" });
    this.note = element("p", { class: "explorer-note" });
    this.large = element("canvas", { class: "explorer-large", "aria-hidden": "true" });
    this.readout = element("dl", { class: "explorer-readout" });
    this.legend = element("div", { class: "explorer-legend" });
    this.maps = element("canvas", {
      class: "explorer-maps", tabindex: "0", role: "application",
      "aria-label": "All maps of this model. Arrow keys choose a head.",
    });
    const chosen = element("div", { class: "explorer-chosen" }, this.large, this.readout);
    this.node = element(
      "section", { class: "explorer-side", "data-side": name },
      this.title, this.note, chosen, this.legend, this.maps,
    );
    this.listen();
  }

  listen() {
    this.maps.addEventListener("pointermove", (event) => this.point(event));
    this.maps.addEventListener("pointerleave", () => this.leave());
    this.maps.addEventListener("click", (event) => this.choose(event));
    this.maps.addEventListener("keydown", (event) => this.step(event));
    this.large.addEventListener("pointermove", (event) => this.pointLarge(event));
    this.large.addEventListener("pointerleave", () => this.leave());
  }

  /** The head that the numbers are of: the one under the pointer, or the chosen one. */
  get current() {
    const { layer, head } = this.pointed ?? this.explorer.state.chosen;
    const last = Math.min(layer, this.attention.shapes.length - 1);
    return { layer: last, head: Math.min(head, this.attention.shapes[last][0] - 1) };
  }

  query(layer) {
    return this.explorer.queryOf(this.attention, layer);
  }

  tileAt(event) {
    const box = this.maps.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const tile = this.layout?.tiles.find(
      ({ left, top, side }) => x >= left && x < left + side && y >= top && y < top + side,
    );
    return tile && { ...tile, x: (x - tile.left) / tile.side, y: (y - tile.top) / tile.side };
  }

  point(event) {
    const tile = this.attention && this.tileAt(event);
    this.pointed = tile ? this.pointedAt(tile.layer, tile.head, tile.x, tile.y) : null;
    this.explorer.redraw();
  }

  pointLarge(event) {
    if (!this.attention) return;
    const box = this.large.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    this.pointed = null;
    const { layer, head } = this.current;
    this.pointed = this.pointedAt(layer, head, x / box.width, y / box.height);
    this.explorer.redraw();
  }

  pointedAt(layer, head, x, y) {
    const [rows, columns] = this.attention.mapSize(layer);
    const row = Math.min(rows - 1, Math.max(0, Math.floor(y * rows)));
    const column = Math.min(columns - 1, Math.max(0, Math.floor(x * columns)));
    return { layer, head, row, column };
  }

  leave() {
    this.pointed = null;
    this.explorer.redraw();
  }

  choose(event) {
    const tile = this.attention && this.tileAt(event);
    if (tile) this.explorer.chooseHead(tile.layer, tile.head);
  }

  step(event) {
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const step = steps[event.key];
    if (!step || !this.attention) return;
    event.preventDefault();
    this.pointed = null;
    const { layer, head } = this.current;
    const { shapes } = this.attention;
    const next = Math.min(shapes.length - 1, Math.max(0, layer + step[0]));
    const last = shapes[next][0] - 1;
    this.explorer.chooseHead(next, Math.min(last, Math.max(0, head + step[1])));
  }

  draw() {
    this.node.hidden = this.explorer.state[this.name] === null;
    const { attention } = this;
    for (const part of [this.large, this.readout, this.legend, this.maps]) {
      part.hidden = !attention;
    }
    if (!attention || this.node.hidden) return;
    this.layout = arranged(attention, this.explorer.state, this.maps.clientWidth);
    this.scales = this.scalesOf();
    this.drawMaps();
    this.drawLarge();
    this.drawLegend();
    this.writeNumbers();
  }

  /** The weight at the end of the colour scale, for each shown map. */
  scalesOf() {
    const { attention, layout, explorer } = this;
    const largest = layout.tiles.map(({ layer, head }) => {
      const weights = attention.weights(layer, head, this.query(layer));
      return Math.abs(largestOf(weights, 1).value);
    });
    if (explorer.state.scale === "own" && !attention.local) return largest;
    const group = ({ layer }) => (explorer.state.scale === "own" ? layer : 0);
    const ends = new Map();
    layout.tiles.forEach((tile, place) => {
      ends.set(group(tile), Math.max(ends.get(group(tile)) ?? 0, largest[place]));
    });
    return layout.tiles.map((tile) => ends.get(group(tile)));
  }

  drawMaps() {
    const { attention, layout } = this;
    const width = this.maps.clientWidth;
    const { context, ratio } = prepared(this.maps, width, layout.height);
    context.fillStyle = inkOf(this.node);
    context.font = `600 ${12 * ratio}px system-ui, sans-serif`;
    for (const { layer, top } of layout.headings) {
      const size = attention.local ? `, ${attention.grid(layer).join("×")} map` : "";
      context.fillText(layerName(attention, layer) + size, 0, (top + 13) * ratio);
    }
    layout.tiles.forEach((tile, place) => this.drawTile(context, ratio, tile, place));
  }

  drawTile(context, ratio, { layer, head, left, top, side }, place) {
    const { attention } = this;
    const size = attention.mapSize(layer);
    const query = this.query(layer);
    const weights = attention.weights(layer, head, query);
    const [x, y, length] = [left, top, side].map((value) => Math.round(value * ratio));
    const image = mapPicture(weights, size, this.scales[place], attention.signed);
    context.drawImage(image, x, y, length, length);
    context.font = `${10 * ratio}px system-ui, sans-serif`;
    context.fillText(String(head + 1), x, y - 3 * ratio);
    if (query !== null && !attention.local) this.mark(context, ratio, x, y, length, size, query);
    const { current } = this;
    if (current.layer !== layer || current.head !== head) return;
    context.lineWidth = 2 * ratio;
    context.strokeStyle = inkOf(this.node);
    context.strokeRect(x - ratio, y - ratio, length + 2 * ratio, length + 2 * ratio);
  }

  mark(context, ratio, x, y, length, [rows, columns], query) {
    const [down, across] = [length / rows, length / columns];
    const left = x + (query % columns) * across;
    frame(context, ratio, left, y + Math.floor(query / columns) * down, across, down);
  }

  drawLarge() {
    const { attention, current } = this;
    const side = this.large.clientWidth;
    const { context, ratio } = prepared(this.large, side, side);
    const query = this.query(current.layer);
    const weights = attention.weights(current.layer, current.head, query);
    const size = attention.mapSize(current.layer);
    const place = this.layout.tiles.findIndex(
      ({ layer, head }) => layer === current.layer && head === current.head,
    );
    const end = this.scales[place] ?? Math.abs(largestOf(weights, 1).value);
    const length = Math.round(side * ratio);
    context.drawImage(mapPicture(weights, size, end, attention.signed), 0, 0, length, length);
    if (query !== null && !attention.local) this.mark(context, ratio, 0, 0, length, size, query);
    this.end = end;
  }

  drawLegend() {
    const { attention, end } = this;
    const bar = element("canvas", { class: "explorer-bar", "aria-hidden": "true" });
    const low = attention.signed ? signed(-end) : "0";
    this.legend.replaceChildren(low, bar, `${weightText(attention, end)}, ${this.scaleText()}`);
    const steps = (attention.signed ? DIVERGING : SEQUENTIAL).length / 3;
    const { context } = prepared(bar, 96, 10);
    const ramp = picture(steps, 1, (step) => {
      const share = (step + 0.5) / steps;
      return colourOf(attention.signed ? 2 * share - 1 : share, attention.signed);
    });
    context.drawImage(ramp, 0, 0, bar.width, bar.height);
  }

  scaleText() {
    if (this.explorer.state.scale === "shared") return "the largest of the maps shown";
    return this.attention.local ? "this call’s largest" : "this map’s largest";
  }

  /** The numbers of the current head, rounded for readers and whole as data. */
  numbers() {
    const { attention, current } = this;
    const query = this.query(current.layer);
    const weights = attention.weights(current.layer, current.head, query);
    const columns = attention.mapSize(current.layer)[1];
    const size = this.explorer.image.size;
    return {
      ...metrics(attention, current.layer, current.head, query, size),
      token: attention.token(current.layer, current.head, query),
      largest: largestOf(weights, columns),
      value: this.pointed ? weights[this.pointed.row * columns + this.pointed.column] : null,
    };
  }

  writeNumbers() {
    const { attention, current, pointed } = this;
    const numbers = this.numbers();
    const { largest } = numbers;
    const none = attention.signed ? "n/a: no softmax" : null;
    const lines = [
      ["Shown", `${layerName(attention, current.layer)}, ${headName(attention, current.head)}`],
      ["Largest", `${weightText(attention, largest.value)} (${placeText(attention, largest)})`],
      ["On itself", none ?? percent(numbers.self)],
      ["Entropy", none ?? `${numbers.entropy.toFixed(3)} nats`],
      ["Mean distance", none ?? `${numbers.distance.toFixed(2)} pixels`],
    ];
    if (numbers.token !== null) lines.push(["Class token", percent(numbers.token)]);
    lines.push([
      "Under the pointer",
      pointed ? `${weightText(attention, numbers.value)} (${placeText(attention, pointed)})` : "–",
    ]);
    this.readout.replaceChildren(
      ...lines.map(([name, text]) =>
        element("div", {}, element("dt", {}, name), element("dd", {}, text)),
      ),
    );
    Object.assign(this.readout.dataset, {
      layer: current.layer, head: current.head, maximum: largest.value,
      self: numbers.self, entropy: numbers.entropy, distance: numbers.distance,
      token: numbers.token, value: numbers.value,
    });
    this.spoken = `${this.title.textContent}: ${lines
      .slice(0, 5).map((line) => line.join(" ")).join(", ")}.`;
  }

  async load() {
    const { explorer, name } = this;
    const variant = explorer.variants.get(explorer.state[name]);
    const image = explorer.state.image;
    this.pointed = null;
    this.attention = variant ? await attentionOf(variant, image) : null;
    if (!variant) return;
    this.title.textContent = variant.label;
    this.note.textContent = noteOf(variant, this.attention);
  }
}

function noteOf(variant, attention) {
  if (!attention) return "The page does not hold this model’s maps of this image.";
  const notes = [`Seed ${variant.seed}.`];
  if (variant.form === "table") notes.push("Depends on positions alone: alike for every image.");
  if (attention.local) notes.push("Weights over the 3×3 pixels of its map around the query, which is the middle.");
  if (attention.signed) notes.push("Without a softmax, so weights may be negative.");
  if (variant.token) notes.push("A class token takes a part of the attention.");
  return notes.join(" ");
}

// ---------------------------------------------------------------- the whole

class Explorer {
  constructor(place, index) {
    Object.assign(this, { place, index });
    this.variants = new Map(index.variants.map((variant) => [variant.id, variant]));
    const [first, second] = firstPair(index);
    const [rows, columns] = index.images[0].size;
    this.state = {
      first, second, image: 0, layer: "all", head: "all", mode: "query", scale: "own",
      row: Math.floor(rows / 2), column: Math.floor(columns / 2),
      chosen: { layer: 0, head: 0 }, held: false,
    };
    this.sides = ["first", "second"].map((name) => new Side(this, name));
    this.build();
    place.weights = (side, layer, head) => this.weights(side, layer, head);
  }

  get image() {
    return this.index.images[this.state.image];
  }

  /** For tests and the curious: the weights that a side shows, as plain numbers. */
  weights(name, layer, head) {
    const { attention } = this.sides.find((side) => side.name === name);
    return [...attention.weights(layer, head, this.queryOf(attention, layer))];
  }

  /** The number of the query's cell in a layer's grid; null: the average. */
  queryOf(attention, layer) {
    if (this.state.mode === "average") return null;
    const [rows, columns] = attention.grid(layer);
    const [height, width] = this.image.size;
    const row = Math.floor((this.state.row * rows) / height);
    return row * columns + Math.floor((this.state.column * columns) / width);
  }

  build() {
    this.picture = element("canvas", {
      class: "explorer-picture", tabindex: "0", role: "application",
      "aria-label": "The image. Arrow keys move the query by a patch.",
      "aria-describedby": "explorer-lead",
    });
    this.position = element("p", { class: "explorer-position" });
    this.credit = element("p", { class: "explorer-note" });
    this.status = element("p", { class: "explorer-status", role: "status" });
    this.controls = element("div", { class: "explorer-controls" });
    const image = element(
      "div", { class: "explorer-image" }, this.picture,
      element("div", {}, this.position, this.credit),
    );
    const stage = element(
      "div", { class: "explorer-stage" }, image, ...this.sides.map((side) => side.node),
    );
    this.node = element(
      "div", { class: "explorer", role: "group", "aria-label": "Attention explorer" },
      lead(), ...reduced(this.index), this.controls, stage, this.status, about(this.index),
    );
    this.place.append(this.node);
    this.place.classList.add("explorer-ready");
    this.writeControls();
    this.listen(stage);
  }

  listen(stage) {
    this.picture.addEventListener("pointermove", (event) => this.move(event, false));
    this.picture.addEventListener("pointerdown", (event) => this.move(event, true));
    this.picture.addEventListener("keydown", (event) => this.step(event));
    new ResizeObserver(() => this.redraw()).observe(stage);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    new MutationObserver(() => this.redraw()).observe(document.documentElement, {
      attributes: true,
    });
  }

  writeControls() {
    const { state, index } = this;
    const all = index.variants.map(({ id, label }) => [id, label]);
    const pair = element("select", { name: "pair", change: (event) => this.choosePair(event) });
    pair.append(...pairOptions(index, state));
    this.controls.replaceChildren(
      labelled("Pair", pair),
      this.select("Model", "first", all, state.first),
      this.select("Beside it", "second", [["", "nothing"], ...all], state.second ?? ""),
      this.select("Image", "image", index.images.map(({ name }, n) => [n, name]), state.image),
      this.select("Layer", "layer", this.numbered("layer"), state.layer),
      this.select("Head", "head", this.numbered("head"), state.head),
      radios("Attention of", "mode", [["query", "one query"], ["average", "all, averaged"]],
        state.mode, (value) => this.change({ mode: value })),
      radios("Colours up to the largest of", "scale", [["own", "each map"], ["shared", "all maps"]],
        state.scale, (value) => this.change({ scale: value })),
    );
  }

  select(text, name, pairs, chosen) {
    const change = (event) => this.chooseOption(name, event.target.value);
    const made = element("select", { name, change });
    made.append(...options(pairs, chosen));
    return labelled(text, made);
  }

  /** All, then 1 to the most layers or heads of the shown models. */
  numbered(what) {
    const shapes = [this.state.first, this.state.second]
      .filter(Boolean).map((id) => this.variants.get(id).shapes);
    const counts = shapes.map((shape) =>
      what === "layer" ? shape.length : Math.max(...shape.map(([heads]) => heads)),
    );
    const numbers = [...Array(Math.max(...counts)).keys()];
    return [["all", "all"], ...numbers.map((number) => [number, String(number + 1)])];
  }

  chooseOption(name, value) {
    const number = ["image", "layer", "head"].includes(name) && value !== "all";
    const changed = { [name]: number ? Number(value) : value || null };
    if (name === "layer" || name === "head") {
      const place = number ? Number(value) : this.state.chosen[name];
      changed.chosen = { ...this.state.chosen, [name]: place };
    }
    this.change(changed, ["first", "second", "image"].includes(name), name);
  }

  choosePair(event) {
    const pair = this.index.pairs[event.target.value];
    if (pair) this.change({ first: pair.first, second: pair.second }, true, "pair");
  }

  chooseHead(layer, head) {
    this.change({ chosen: { layer, head } });
  }

  async change(changed, load = false, focus = null) {
    Object.assign(this.state, changed);
    if (load) {
      this.state.layer = this.state.head = "all";
      this.writeControls();
      if (focus) this.controls.querySelector(`[name=${focus}]`).focus();
      await this.load();
    }
    this.redraw();
  }

  async load() {
    const asked = (this.asked = {});
    await Promise.all(this.sides.map((side) => side.load()));
    const bytes = new Uint8Array(await unfolded(this.image.file));
    if (asked === this.asked) this.pixels = bytes;
  }

  move(event, pressed) {
    if (event.pointerType === "mouse") {
      if (pressed) this.state.held = !this.state.held;
      else if (this.state.held) return;
    } else if (!pressed && event.buttons === 0) return;
    const box = this.picture.getBoundingClientRect();
    const [height, width] = this.image.size;
    const row = Math.floor(((event.clientY - box.top) / box.height) * height);
    const column = Math.floor(((event.clientX - box.left) / box.width) * width);
    this.moveTo(row, column);
  }

  step(event) {
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const step = steps[event.key];
    if (event.key === "Escape") this.change({ held: false });
    if (!step) return;
    event.preventDefault();
    const [height, width] = this.patch();
    this.moveTo(this.state.row + step[0] * height, this.state.column + step[1] * width);
  }

  /** Pixels of a cell of the finest grid on the first side. */
  patch() {
    const [height, width] = this.image.size;
    const [, rows, columns] = this.variants.get(this.state.first).shapes[0];
    return [Math.ceil(height / rows), Math.ceil(width / columns)];
  }

  moveTo(row, column) {
    const [height, width] = this.image.size;
    this.state.row = Math.min(height - 1, Math.max(0, row));
    this.state.column = Math.min(width - 1, Math.max(0, column));
    this.redraw();
  }

  /** Draw once before the next frame, however many changes there are. */
  redraw() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = null;
      if (this.pixels) this.draw();
    });
  }

  draw() {
    this.drawPicture();
    this.sides.forEach((side) => side.draw());
    const { row, column, mode, held } = this.state;
    const where = mode === "average"
      ? "Average over all queries"
      : `Query at pixel row ${row + 1}, column ${column + 1}${held ? " (held)" : ""}`;
    this.position.textContent = where;
    Object.assign(this.node.dataset, { row, column, mode, image: this.state.image });
    clearTimeout(this.telling);
    this.telling = setTimeout(() => this.tell(where), SETTLED);
  }

  tell(where) {
    const spoken = this.sides.filter((side) => side.attention).map((side) => side.spoken);
    this.status.textContent = [`${where}.`, ...spoken].join(" ");
    this.node.dataset.settled = this.status.textContent;
  }

  drawPicture() {
    const [height, width] = this.image.size;
    const wide = this.picture.clientWidth;
    const { context, ratio } = prepared(this.picture, wide, (wide * height) / width);
    const image = picture(width, height, (cell) => this.pixels.slice(3 * cell, 3 * cell + 3));
    context.drawImage(image, 0, 0, this.picture.width, this.picture.height);
    this.picture.classList.toggle("explorer-held", this.state.held);
    this.credit.textContent = this.image.credit;
    if (this.state.mode === "average") return;
    const [down, across] = this.patch();
    const [y, x] = [
      this.state.row - (this.state.row % down), this.state.column - (this.state.column % across),
    ];
    const scale = this.picture.width / width;
    frame(context, ratio, x * scale, y * scale, across * scale, down * scale);
  }
}

function firstPair({ pairs, variants }) {
  return pairs.length ? [pairs[0].first, pairs[0].second] : [variants[0].id, null];
}

const KINDS = {
  hierarchical: "Ordinary beside hierarchical",
  aligned: "Authors’ form beside aligned (D1)",
};

function pairOptions(index, state) {
  const labels = new Map(index.variants.map(({ id, label }) => [id, label]));
  const chosen = index.pairs.findIndex(
    ({ first, second }) => first === state.first && second === state.second,
  );
  const groups = Object.entries(KINDS).map(([kind, text]) => {
    const pairs = [...index.pairs.entries()].filter(([, pair]) => pair.kind === kind);
    const named = pairs.map(([number, pair]) => [number, labels.get(pair.first)]);
    return element("optgroup", { label: text }, ...options(named, chosen));
  });
  return [...groups.filter((group) => group.children.length), ...options([["", "own choice"]], chosen < 0 ? "" : chosen)];
}

function lead() {
  return element(
    "p", { id: "explorer-lead" },
    "Move over the image with the mouse or a finger, or focus it and press the arrow keys: " +
      "every map shows where that place attends. A click on the image holds the place, so that " +
      "the pointer can read the maps; another lets go. A click on a map, or the arrow keys on " +
      "the maps, choose the head that is shown large with its numbers.",
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
async function start(place, index) {
  if (!index.variants.length || !index.images.length) {
    place.append(element("p", {}, omissions(index).join(" ")));
    return;
  }
  if (!("DecompressionStream" in window && "OffscreenCanvas" in window)) {
    place.append(element("p", {}, "This browser cannot unpack the data; a newer one can."));
    return;
  }
  const explorer = new Explorer(place, index);
  await explorer.load();
  explorer.redraw();
}

const place = document.getElementById(IDS.id);
const contents = document.getElementById(IDS.index);
if (place && contents) start(place, JSON.parse(contents.textContent));
