/* Events, and the first drawing. */

const KEYS = {
  n: () => move(1), p: () => move(-1),
  a: () => decide("accept"), k: () => decide("keep"), u: () => decide("unsure"), x: undo,
  o: () => { typing = false; byId("other").focus(); },
};
const LIST_KEYS = {
  ArrowDown: () => move(1), ArrowUp: () => move(-1), PageDown: () => move(8), PageUp: () => move(-8),
  Home: () => move(-rows.length), End: () => move(rows.length),
};

const isTyping = target => target.matches("input:not([type=checkbox]), select, textarea");

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const action = (event.target === list && LIST_KEYS[event.key]) || (byId("keys").checked && KEYS[event.key.toLowerCase()]);
  if (!action) return;
  event.preventDefault();
  action();
}

/* By keys, a choice passes other labels on its way; Enter is the decision. */
let typing = false;

function onOtherKey(event) {
  if (event.key === "Enter") {
    event.preventDefault();
    chooseOther();
  } else if (event.key === "Escape") list.focus();
  else typing = event.key !== "Tab";
}

function chooseOther() {
  const value = byId("other").value;
  typing = false;
  if (!value) return;
  decide("other", Number(value));
  list.focus({preventScroll: true});
}

async function onLoad(event) {
  const file = event.target.files[0];
  if (!file) return;
  const found = loadReviewed(await file.text());
  byId("kept").textContent = found < 0 ? "This file has no columns id and verified." : `${found} rows read from the file.`;
  event.target.value = "";
  filterList();
}

/* All of the page in black on white, and back. */
function toPaper(printing) {
  document.documentElement.classList.toggle("paper", printing);
  if (printing) {
    listOnPaper();
    for (const details of document.querySelectorAll("details")) details.open = true;
  }
  drawPlots();
}

function start() {
  fillOther();
  const kept = restoreDecisions();
  saidKept(kept && keepDecisions());
  drawPlots();
  filterList();
  const open = rows.find(row => !decisionOf(row));
  if (open) choose(open.index);
  byId("said").textContent = "";
}

for (const name of ["accept", "keep", "unsure"]) byId(name).addEventListener("click", () => decide(name));
byId("clear").addEventListener("click", undo);
byId("other").addEventListener("keydown", onOtherKey);
byId("other").addEventListener("pointerdown", () => { typing = false; });
byId("other").addEventListener("change", () => typing || chooseOther());
byId("download").addEventListener("click", downloadReviewed);
byId("load").addEventListener("change", onLoad);
for (const id of ["search", "kind", "decided", "sort"]) byId(id).addEventListener("input", filterList);
list.addEventListener("scroll", () => requestAnimationFrame(drawList), {passive: true});
document.addEventListener("keydown", onKey);
narrow.addEventListener("change", drawList);
window.addEventListener("resize", drawList);
dark.addEventListener("change", drawPlots);
window.addEventListener("beforeprint", () => toPaper(true));
window.addEventListener("afterprint", () => toPaper(false));
start();
