// The versions of the site, in the folder above this one; alone, and from files, it is the only one.

document.addEventListener("DOMContentLoaded", async () => {
  const select = document.querySelector(".versions select");
  if (!select || location.protocol === "file:") return;
  const here = new URL(select.dataset.root || ".", location);
  const answer = await fetch(new URL("../versions.json", here)).catch(() => undefined);
  if (!answer?.ok) return;
  const versions = await answer.json();
  const current = select.closest(".versions").dataset.current;
  select.replaceChildren(...versions.map(({ version, path }) => new Option(version, path, false, version === current)));
  select.addEventListener("change", () => location.assign(new URL(`../${select.value}/`, here)));
});
