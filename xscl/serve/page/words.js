// Numbers, times and spans of time as people say them.

const NUMBER = new Intl.NumberFormat("en");
const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
const BYTES = ["bytes", "kB", "MB", "GB", "TB"];

export const number = (value) => NUMBER.format(value);

/** "1 match", "2,000 matches". */
export function counted(value, noun, plural = `${noun}s`) {
  return `${number(value)} ${value === 1 ? noun : plural}`;
}

/** A span of seconds in its two largest units: "7 days 2 hours". */
export function span(seconds) {
  let left = Math.abs(seconds);
  if (left === 0) return "0 seconds";
  if (left < 1) return `${Math.round(left * 1000)} ms`;
  const said = [];
  for (const [unit, length] of UNITS) {
    const many = unit === "second" ? Math.round(left) : Math.floor(left / length);
    if (many > 0 && said.length < 2) said.push(counted(many, unit));
    left -= many * length;
    if (said.length === 1 && unit === "day" && left < 3600) break;
  }
  return said.join(" ");
}

/** How one document's time is to that of the one before it. */
export function apart(before, after) {
  if (after === before) return "at the same time";
  return `${span(after - before)} ${after > before ? "later" : "earlier"}`;
}

/** A time, as its element: the day and the time of day, and for machines in full. */
export function moment(seconds) {
  const time = document.createElement("time");
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) {
    time.textContent = String(seconds);
    return time;
  }
  const full = date.toISOString();
  time.dateTime = full;
  time.title = full;
  time.textContent = `${full.slice(0, 10)} ${full.slice(11, 19)}Z`;
  return time;
}

/** Matches in a second, in the unit in which it is not tiny. */
export function rate(perSecond) {
  if (!perSecond) return "0";
  for (const [unit, seconds] of [["s", 1], ["min", 60], ["h", 3600]]) {
    const many = perSecond * seconds;
    if (many >= 1 || unit === "h") return `${many >= 10 ? number(Math.round(many)) : many.toFixed(1)}/${unit}`;
  }
  return "0";
}

export function bytes(value) {
  let unit = 0;
  let left = value;
  while (left >= 1000 && unit < BYTES.length - 1) {
    left /= 1000;
    unit += 1;
  }
  return unit === 0 ? counted(value, "byte") : `${left.toFixed(left < 10 ? 1 : 0)} ${BYTES[unit]}`;
}
