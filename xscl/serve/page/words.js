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

/** How a time is to the earliest of some, which it may be. */
export function after(time, times) {
  const earliest = Math.min(...times);
  if (time > earliest) return `${span(time - earliest)} later`;
  return times.filter((one) => one === earliest).length > 1 ? "at the same time" : "first";
}

const AGES = [["s", 1], ["min", 60], ["h", 3600], ["d", 86400]];
const OLD = 30 * 86400;

/** How long ago a date was, "3 min ago", or how far it is; of one that is far away its minute. */
function age(date) {
  const seconds = Math.round((Date.now() - date.getTime()) / 1000);
  const far = Math.abs(seconds);
  if (far >= OLD) return date.toISOString().slice(0, 16).replace("T", " ") + "Z";
  if (far < 5) return "now";
  const [unit, length] = AGES.findLast(([, least]) => far >= least);
  const words = `${Math.floor(far / length)} ${unit}`;
  return seconds > 0 ? `${words} ago` : `in ${words}`;
}

/** A time, as its element: how long ago it was, and under the pointer and for machines in full. */
export function moment(seconds) {
  const time = document.createElement("time");
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) {
    time.textContent = String(seconds);
    return time;
  }
  time.dateTime = time.title = date.toISOString();
  time.textContent = age(date);
  return time;
}

/** Says of all times that are shown how long ago they are now. */
export function older() {
  for (const time of document.querySelectorAll("time[datetime]")) time.textContent = age(new Date(time.dateTime));
}

/** Matches in a second, in a minute: one unit, so that they can be compared. */
export function rate(perSecond) {
  const many = perSecond * 60;
  if (many > 0 && many < 0.1) return "< 0.1/min";
  return `${NUMBER.format(many < 10 ? Number(many.toFixed(1)) : Math.round(many))}/min`;
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
