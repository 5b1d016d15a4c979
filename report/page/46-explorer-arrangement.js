// Arrangement: where the maps of layers and heads lie on a canvas.

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
