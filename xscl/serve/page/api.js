// Asks the server: JSON in, JSON out; errors as it says them, and the token where it wants one.

import { el } from "./dom.js";

/** What the server refused: its status, and one or more problems. */
export class Refusal extends Error {
  constructor(status, problems) {
    super(problems.map((one) => one.message).join("\n"));
    this.status = status;
    this.problems = problems;
  }
}

export const get = (path) => ask("GET", path);
export const post = (path, body, signal) => ask("POST", path, body, signal);
export const remove = (path) => ask("DELETE", path);

/** The path of a resource, whatever its name is. */
export function path(...parts) {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join("");
}

async function ask(method, path, body, signal) {
  const options = { method, signal, headers: {} };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["Content-Type"] = "application/json";
  }
  let answer;
  try {
    answer = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(0, [{ message: "The server does not answer." }]);
  }
  if (answer.status === 401 && path !== "/session") {
    await token();
    return ask(method, path, body, signal);
  }
  const text = await answer.text();
  const isJSON = (answer.headers.get("Content-Type") ?? "").includes("json");
  const said = isJSON && text ? JSON.parse(text) : text;
  if (answer.ok) return said;
  const problems = said.errors ?? (said.error ? [said.error] : [{ message: `${answer.status} ${answer.statusText}` }]);
  throw new Refusal(answer.status, problems);
}

const ENTERED = "xscl entered";

/** Lets who has given the token take it back. */
export function entered() {
  if (!localStorage.getItem(ENTERED) || document.getElementById("leave")) return;
  const leave = el("button", { id: "leave", class: "quiet", onclick: async () => {
    localStorage.removeItem(ENTERED);
    await remove("/session");
    location.reload();
  } }, "Sign out");
  document.getElementById("connection").after(leave);
}

let asking = null;

/** Asks for the token until the server takes it; who asks meanwhile waits for the same. */
function token() {
  asking ??= new Promise((resolve) => {
    const dialog = document.getElementById("dialog");
    const said = el("p", { class: "problem", role: "alert" });
    const field = el("input", { id: "token", type: "password", autocomplete: "current-password", required: true });
    const form = el("form", {
      class: "asking",
      onsubmit: async (event) => {
        event.preventDefault();
        try {
          await ask("POST", "/session", { token: field.value });
          localStorage.setItem(ENTERED, "yes");
          entered();
          dialog.close();
        } catch (error) {
          said.textContent = error.message;
          field.select();
        }
      },
    },
    el("h2", {}, "This server requires a token"),
    // Who keeps passwords keeps them under a name.
    el("input", { autocomplete: "username", value: "xscl", hidden: true }),
    el("label", { for: "token" }, "Token"), field, said,
    el("div", { class: "row end" }, el("button", {}, "Enter")));
    dialog.replaceChildren(form);
    // Without the token there is nothing to see.
    dialog.addEventListener("cancel", keepOpen);
    dialog.showModal();
    dialog.addEventListener("close", () => {
      dialog.removeEventListener("cancel", keepOpen);
      asking = null;
      resolve();
    }, { once: true });
  });
  return asking;
}

const keepOpen = (event) => event.preventDefault();
