// Colours, the list of contents, and a "#" beside all that has a number.

const colours = document.getElementById("colours");
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function remembered() {
  try { return sessionStorage.getItem("colours"); } catch { return null; }
}

function isDark() {
  const chosen = document.documentElement.dataset.colours;
  return chosen ? chosen === "dark" : prefersDark.matches;
}

function nameColours() {
  colours.textContent = isDark() ? "Light colours" : "Dark colours";
}

if (remembered()) document.documentElement.dataset.colours = remembered();
colours.hidden = false;
nameColours();
prefersDark.addEventListener("change", nameColours);
colours.addEventListener("click", () => {
  const chosen = isDark() ? "light" : "dark";
  document.documentElement.dataset.colours = chosen;
  try { sessionStorage.setItem("colours", chosen); } catch { /* the page alone remembers */ }
  nameColours();
});

// Beside a wide text the contents are always open; elsewhere they close once used.
const contents = document.querySelector("#contents details");
const wide = matchMedia("(min-width: 75rem)");
const fit = () => { contents.open = wide.matches; };
fit();
wide.addEventListener("change", fit);
contents.querySelector("summary").addEventListener("click", (event) => {
  if (wide.matches) event.preventDefault();
});
contents.addEventListener("click", (event) => {
  if (event.target.closest("a") && !wide.matches) contents.open = false;
});

const links = new Map([...contents.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
const sections = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean);
let pending = false;

function markCurrent() {
  pending = false;
  const above = sections.filter((section) => section.getBoundingClientRect().top < 120);
  const now = links.get((above.at(-1) ?? sections[0])?.id);
  for (const link of links.values()) {
    if (link === now) continue;
    link.removeAttribute("aria-current");
  }
  if (!now || now.hasAttribute("aria-current")) return;
  now.setAttribute("aria-current", "true");
  const nav = contents.parentElement;
  const place = now.getBoundingClientRect();
  if (wide.matches && (place.top < 60 || place.bottom > innerHeight - 60)) {
    nav.scrollTop += place.top - innerHeight / 2;
  }
}

addEventListener("scroll", () => {
  if (!pending) requestAnimationFrame(markCurrent);
  pending = true;
}, { passive: true });
markCurrent();

function anchorTo(id, name) {
  const link = document.createElement("a");
  link.className = "anchor";
  link.href = `#${id}`;
  link.textContent = "#";
  link.setAttribute("aria-label", `Link to ${name}`);
  return link;
}

for (const heading of document.querySelectorAll("main section > h1, main section > h2")) {
  heading.append(anchorTo(heading.parentElement.id, heading.textContent));
}
for (const box of document.querySelectorAll("main figure, main .table-box")) {
  const caption = box.querySelector("figcaption, caption .caption");
  const id = box.id || box.querySelector("[id]")?.id;
  const name = caption?.querySelector("strong")?.textContent.replace(/\.$/, "");
  if (id && name) caption.append(anchorTo(id, name));
}
for (const equation of document.querySelectorAll("main .equation")) {
  equation.append(anchorTo(equation.id, `Equation ${equation.dataset.number}`));
}
