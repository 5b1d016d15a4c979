// Drawing: maps as pictures, frames, and ink that stands out from them.

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

/** The cell that is pointed at, in black and white, which every colour lets see. */
function outline(context, ratio, length, [rows, columns], { row, column }) {
  const [down, across] = [length / rows, length / columns];
  for (const [thickness, colour] of [[3, "#000000"], [1.25, "#ffffff"]]) {
    context.lineWidth = thickness * ratio;
    context.strokeStyle = colour;
    context.strokeRect(column * across, row * down, across, down);
  }
}
