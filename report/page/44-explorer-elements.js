// Elements of the page: controls and their labels.

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

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
