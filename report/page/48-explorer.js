// The whole: image, models side by side, layers, heads, and keys.

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
    for (const side of this.sides) side.pointed = null;
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
    const step = STEPS[event.key];
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
