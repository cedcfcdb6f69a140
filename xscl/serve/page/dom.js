// Elements put together of data: whatever a stranger wrote is text here, and never markup.

const SAFE = /^https?:\/\//i;

/** An element with properties and children; strings are text, and null is nothing. */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name in element && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  return fill(element, ...children);
}

/** Gives an element other children; what is null or false is none. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Text that leads to an address, if that is one of the web; else text alone. */
export function linked(text, address) {
  if (!address || !SAFE.test(address)) return el("span", {}, text);
  return el("a", { href: address, rel: "noopener noreferrer", target: "_blank" }, text);
}

/** What there is instead of things of which there are none. */
export function nothing(title, ...words) {
  return el("div", { class: "nothing" }, el("p", { class: "nothing-title" }, title), el("p", {}, ...words));
}

/** A problem as it is shown. */
export function problem(error) {
  return el("p", { class: "problem", role: "alert" }, error.message ?? String(error));
}

/** Says something to who listens rather than looks. */
export function announce(words) {
  document.getElementById("announcer").textContent = words;
}

/** Asks before something is done that cannot be undone; true if it is to be done. */
export function confirmed(question, verb) {
  const dialog = document.getElementById("dialog");
  const form = el("form", { method: "dialog", class: "asking" },
    el("p", {}, question),
    el("div", { class: "row end" },
      el("button", { value: "", class: "quiet" }, "Keep"),
      el("button", { value: "yes", class: "danger" }, verb)));
  dialog.replaceChildren(form);
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}
