// A figure at any size: wheel, buttons and + - zoom, arrows and dragging move it.

const lens = document.createElement("dialog");
lens.className = "lens";
lens.innerHTML = `<div class="lens-tools"><p class="lens-name" id="lens-name"></p>
<button type="button" data-zoom="0.8" aria-label="Smaller">−</button>
<button type="button" data-zoom="0">Whole</button>
<button type="button" data-zoom="1.25" aria-label="Larger">+</button>
<button type="button" data-close>Close</button></div>
<div class="lens-view" tabindex="0" role="region" aria-label="Figure; arrows move it"></div><p class="lens-caption" tabindex="0"></p>`;
lens.setAttribute("aria-labelledby", "lens-name");
document.body.append(lens);
const view = lens.querySelector(".lens-view");
const LARGEST = 8;
let shown = null;
let scale = 1;
let opener = null;

function whole() {
  const room = 24; // pixels of the paper around it
  const across = (view.clientWidth - room) / shown.width0;
  return Math.max(0.1, Math.min(across, (view.clientHeight - room) / shown.height0));
}

function zoom(to, x = view.clientWidth / 2, y = view.clientHeight / 2) {
  const before = scale;
  scale = Math.max(Math.min(whole(), 1) * 0.5, Math.min(LARGEST, to));
  const left = (view.scrollLeft + x) * (scale / before) - x;
  const top = (view.scrollTop + y) * (scale / before) - y;
  shown.style.width = `${shown.width0 * scale}px`;
  shown.style.height = "auto";
  view.scrollTo({ left, top, behavior: "instant" });
}

function open(image, button) {
  opener = button;
  shown = new Image();
  shown.src = image.src;
  shown.alt = image.alt;
  shown.width0 = Number(image.getAttribute("width")) || image.naturalWidth || 600;
  shown.height0 = Number(image.getAttribute("height")) || image.naturalHeight || 400;
  const caption = image.closest("figure").querySelector("figcaption").cloneNode(true);
  caption.querySelector(".anchor")?.remove();
  lens.querySelector(".lens-name").textContent = caption.querySelector("strong")?.textContent.replace(/\.$/, "") ?? "Figure";
  lens.querySelector(".lens-caption").textContent = caption.textContent.replace(/\s+/g, " ").trim();
  view.replaceChildren(shown);
  lens.showModal();
  scale = whole();
  zoom(scale);
  view.focus();
}

lens.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if ("close" in button.dataset) lens.close();
  else zoom(Number(button.dataset.zoom) ? scale * Number(button.dataset.zoom) : whole());
});
lens.addEventListener("close", () => {
  view.replaceChildren();
  opener?.focus();
});
view.addEventListener("wheel", (event) => {
  event.preventDefault();
  const at = view.getBoundingClientRect();
  zoom(scale * Math.exp(-event.deltaY / 400), event.clientX - at.left, event.clientY - at.top);
}, { passive: false });
lens.addEventListener("keydown", (event) => {
  if (["+", "="].includes(event.key)) zoom(scale * 1.25);
  else if (event.key === "-") zoom(scale * 0.8);
  else if (event.key === "0") zoom(whole());
  else return;
  event.preventDefault();
});
// Browsers move a box by arrows in their own steps; here the step is the same in all.
view.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: [-60, 0], ArrowRight: [60, 0], ArrowUp: [0, -60], ArrowDown: [0, 60] }[event.key];
  if (!step) return;
  event.preventDefault();
  view.scrollBy({ left: step[0], top: step[1], behavior: "instant" });
});
view.addEventListener("pointerdown", (event) => {
  if (event.pointerType !== "mouse") return;
  event.preventDefault();
  view.focus();
  view.setPointerCapture(event.pointerId);
});
view.addEventListener("pointermove", (event) => {
  if (event.pointerType === "mouse" && view.hasPointerCapture(event.pointerId)) view.scrollBy({ left: -event.movementX, top: -event.movementY, behavior: "instant" });
});

for (const figure of document.querySelectorAll("main figure")) {
  const image = figure.querySelector("img");
  if (!image) continue;
  const name = figure.querySelector("figcaption strong")?.textContent.replace(/\.$/, "") ?? "the figure";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "enlarge";
  button.textContent = "Enlarge";
  button.setAttribute("aria-label", `Enlarge ${name}`);
  button.addEventListener("click", () => open(image, button));
  image.classList.add("zooms");
  image.addEventListener("click", () => open(image, button));
  figure.querySelector("figcaption")?.before(button);
}
