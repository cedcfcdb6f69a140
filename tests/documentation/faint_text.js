// The texts of a page with less contrast than 4.5 (WCAG 2.2, success criterion 1.4.3), each once by
// its element and its colours.
() => {
  const parsed = new Map();
  const rgba = (text) => {
    if (!parsed.has(text)) {
      const [r, g, b, alpha = 1] = text.match(/[\d.]+/g).map(Number);
      parsed.set(text, [r, g, b, alpha]);
    }
    return parsed.get(text);
  };
  const over = (front, back) => [0, 1, 2].map((i) => front[i] * front[3] + back[i] * (1 - front[3])).concat([1]);
  const luminance = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const grounds = new Map();
  const ground = (element) => {
    if (!element) return [255, 255, 255, 1];
    if (!grounds.has(element)) {
      const own = rgba(getComputedStyle(element).backgroundColor);
      grounds.set(element, own[3] === 1 ? own : over(own, ground(element.parentElement)));
    }
    return grounds.get(element);
  };
  // Elements that have the same class, and so have those around them, look the same.
  const look = (element, up) => (element && up ? `${element.tagName}.${element.className} ${look(element.parentElement, up - 1)}` : "");
  const seen = new Set();
  const faint = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.data.trim();
    if (!text) continue;
    const kind = look(element, 4);
    if (seen.has(kind) || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    seen.add(kind);
    const back = ground(element);
    const front = over(rgba(getComputedStyle(element).color), back);
    const [low, high] = [luminance(front), luminance(back)].sort((one, other) => one - other);
    if ((high + 0.05) / (low + 0.05) < 4.5) {
      faint.add(`${element.tagName}.${element.className} ${front} on ${back}, as in ${text.slice(0, 30)}`);
    }
  }
  return [...faint];
}
