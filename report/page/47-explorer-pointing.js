// One side's elements, and what points at them.

/** What a mouse, a finger and the keyboard do on a model's maps. */
class PointedSide {
  constructor(explorer, name) {
    Object.assign(this, { explorer, name, attention: null, pointed: null });
    this.title = element("h2", { class: "explorer-model" });
    this.note = element("p", { class: "explorer-note" });
    this.large = element("canvas", {
      class: "explorer-large", tabindex: "0", role: "application",
      "aria-label": "The chosen map. Arrow keys read its cells.",
    });
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
    this.maps.addEventListener("pointerleave", (event) => this.leave(event));
    this.maps.addEventListener("click", (event) => this.choose(event));
    this.maps.addEventListener("keydown", (event) => this.step(event));
    this.large.addEventListener("pointermove", (event) => this.pointLarge(event));
    this.large.addEventListener("pointerdown", (event) => this.pointLarge(event));
    this.large.addEventListener("pointerleave", (event) => this.leave(event));
    this.large.addEventListener("keydown", (event) => this.stepLarge(event));
    this.large.addEventListener("blur", () => this.release());
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

  /** A finger that is lifted leaves too; what it pointed at stays until the next. */
  leave(event) {
    if (event.pointerType === "mouse") this.release();
  }

  release() {
    this.pointed = null;
    this.explorer.redraw();
  }

  choose(event) {
    const tile = this.attention && this.tileAt(event);
    if (!tile) return;
    this.explorer.chooseHead(tile.layer, tile.head); // lets go of what was pointed at
    this.pointed = this.pointedAt(tile.layer, tile.head, tile.x, tile.y);
  }

  step(event) {
    const step = STEPS[event.key];
    if (!step || !this.attention) return;
    event.preventDefault();
    this.release();
    const { layer, head } = this.current;
    const { shapes } = this.attention;
    const next = Math.min(shapes.length - 1, Math.max(0, layer + step[0]));
    const last = shapes[next][0] - 1;
    this.explorer.chooseHead(next, Math.min(last, Math.max(0, head + step[1])));
  }

  /** From the query's cell, or a neighbourhood's middle, a cell at a time. */
  stepLarge(event) {
    const step = STEPS[event.key];
    if (!step || !this.attention) return;
    event.preventDefault();
    const { layer, head } = this.current;
    const [rows, columns] = this.attention.mapSize(layer);
    const own = this.attention.local ? null : this.query(layer);
    const start = own ?? Math.floor(rows / 2) * columns + Math.floor(columns / 2);
    const from = this.pointed ?? { row: Math.floor(start / columns), column: start % columns };
    const row = Math.min(rows - 1, Math.max(0, from.row + step[0]));
    const column = Math.min(columns - 1, Math.max(0, from.column + step[1]));
    this.pointed = { layer, head, row, column };
    this.explorer.redraw();
  }
}
