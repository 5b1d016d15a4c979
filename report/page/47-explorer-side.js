// One side: a model, its maps, and what is told of the one under the pointer.

/** One model: its name, the chosen head large with its numbers, and all its maps. */
class Side extends PointedSide {
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
    if (this.pointed) outline(context, ratio, length, size, this.pointed);
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
      "Pointed at",
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
      .filter(([, text]) => text !== "–").map((line) => line.join(" ")).join(", ")}.`;
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
