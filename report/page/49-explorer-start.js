// Beginning: the explorer takes its place in the page if there is something to show.

async function start(place, index) {
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
