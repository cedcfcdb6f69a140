// Which matches somebody has opened in this browser: the latest so many are remembered.

const KEY = "xscl seen";
const MOST = 5000;

let known = null;

function all() {
  if (known === null) {
    try {
      known = new Set(JSON.parse(localStorage.getItem(KEY) ?? "[]"));
    } catch {
      known = new Set();
    }
  }
  return known;
}

export const isSeen = (id) => all().has(id);

// Another tab has seen some.
addEventListener("storage", () => { known = null; });

/** Remembers matches as seen. */
export function see(...ids) {
  known = null;
  for (const id of ids) all().add(id);
  known = new Set([...known].slice(-MOST));
  localStorage.setItem(KEY, JSON.stringify([...known]));
}
