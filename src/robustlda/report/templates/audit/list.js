/* The list: only the rows in sight are in the document, so that ten thousand scroll as one does. */

const list = byId("list"), runway = byId("runway");
const state = {view: rows.map((_, i) => i), current: rows.length ? 0 : -1};
const narrow = matchMedia("(max-width: 760px)");
const rowHeight = () => narrow.matches ? 84 : 66;

const MARKS = {accept: ["accepted", "green"], keep: ["kept", "soft"], other: ["other", "green"], unsure: ["unsure", "amber"]};

function mark(row) {
  const done = decisionOf(row);
  if (!done) return "";
  const [name, style] = MARKS[done.decision] || ["decided", "soft"];
  return el("span", {class: `mark ${style}`}, name);
}

function listRow(place) {
  const index = state.view[place], row = rows[index];
  const lead = row.picture ? image(row.picture, "") : el("span", {class: "lead"}, String(index + 1));
  const middle = el("div", {},
    el("div", {class: "line"}, el("b", {}, changeText(row))),
    el("div", {class: "line why"}, `id ${clean(short(row.id, 80))}`, reasonLine(row) ? ` · ${reasonLine(row)}` : ""));
  const end = el("div", {class: "end"}, el("div", {class: row.kind === MISLABELLED ? "red" : row.kind === OUTLYING ? "amber" : null}, row.kind === OUTLYING ? "outlier" : percent(row.wrong)), mark(row));
  const element = el("div", {class: "row", role: "option", id: `row-${index}`, "aria-selected": String(index === state.current), "aria-posinset": place + 1, "aria-setsize": state.view.length}, lead, middle, end);
  element.style.top = `${place * rowHeight()}px`;
  element.addEventListener("click", () => choose(index, true));
  return element;
}

function drawList() {
  const height = rowHeight(), n = state.view.length;
  runway.style.height = n ? `${n * height}px` : "auto";
  list.classList.toggle("few", n * height < 300);
  const first = Math.max(0, Math.floor(list.scrollTop / height) - 4);
  const last = Math.min(n, Math.ceil((list.scrollTop + (list.clientHeight || 600)) / height) + 4);
  const shown = [];
  for (let place = first; place < last; place++) shown.push(listRow(place));
  runway.replaceChildren(...(n ? shown : [el("p", {class: "empty"}, rows.length ? "No row is like that." : "There is nothing to review.")]));
  if (state.current >= 0 && byId(`row-${state.current}`)) list.setAttribute("aria-activedescendant", `row-${state.current}`);
  else list.removeAttribute("aria-activedescendant");
}

function scrollToCurrent() {
  const place = state.view.indexOf(state.current), height = rowHeight();
  if (place < 0) return;
  const top = place * height;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + height > list.scrollTop + list.clientHeight) list.scrollTop = top + height - list.clientHeight;
}

function choose(index, byHand) {
  state.current = index;
  scrollToCurrent();
  drawList();
  const row = rows[index];
  showDetails(row);
  markCurrent(row);
  if (byHand && row && narrow.matches) byId("detail").scrollIntoView({block: "start"});
  if (row) byId("said").textContent = `Row ${index + 1} of ${rows.length}, ${clean(short(row.id, 60))}: ${changeText(row)}, wrong with probability ${percent(row.wrong)}.`;
}

/* Moves by some rows of those that are shown. */
function move(step) {
  const n = state.view.length;
  if (!n) return;
  const place = state.view.indexOf(state.current);
  const next = place < 0 ? 0 : Math.min(n - 1, Math.max(0, place + step));
  choose(state.view[next]);
}

/* The next row about which nothing has been decided, from the top again at the end. */
function nextOpen() {
  const place = state.view.indexOf(state.current);
  const order = [...state.view.slice(place + 1), ...state.view.slice(0, Math.max(place, 0))];
  const found = order.find(index => !decisionOf(rows[index]));
  if (found !== undefined) choose(found);
  else choose(state.current);
}

const SORTS = {
  rank: (a, b) => a.index - b.index,
  farness: (a, b) => (b.farness ?? 0) - (a.farness ?? 0) || a.index - b.index,
  given: (a, b) => a.given - b.given || a.index - b.index,
  suggested: (a, b) => a.suggested - b.suggested || a.index - b.index,
  id: (a, b) => a.id.localeCompare(b.id, undefined, {numeric: true}) || a.index - b.index,
};

function matches(row, word, kind, decided) {
  if (kind !== "" && row.kind !== Number(kind)) return false;
  const done = decisionOf(row);
  if (decided === "none" ? done : decided && (!done || done.decision !== decided)) return false;
  return !word || [row.id, className(row.given), className(row.suggested), ...row.values, ...row.why.map(w => w[1])].some(text => text.toLowerCase().includes(word));
}

function filterList() {
  const word = byId("search").value.trim().toLowerCase(), kind = byId("kind").value, decided = byId("decided").value;
  state.view = rows.filter(row => matches(row, word, kind, decided)).sort(SORTS[byId("sort").value]).map(row => row.index);
  list.scrollTop = 0;
  choose(state.view.includes(state.current) ? state.current : state.view[0] ?? -1);
  showProgress();
}

function showProgress() {
  const done = rows.filter(decisionOf).length;
  byId("done").max = Math.max(rows.length, 1);
  byId("done").value = done;
  const shown = state.view.length === rows.length ? "" : `, ${state.view.length.toLocaleString("en")} shown`;
  byId("count").textContent = `${done.toLocaleString("en")} of ${rows.length.toLocaleString("en")} decided${shown}`;
  byId("download").disabled = !decisions.size;
}

function decide(decision, other) {
  const row = rows[state.current];
  if (!row || (decision === "accept" && !changes(row))) return;
  saidKept(setDecision(row, decision, other));
  decidedRows.push(row.index);
  showProgress();
  nextOpen();
}

/* Takes back the decision about this row or, as the next row has come up by then, the last one that was made. */
function undo() {
  const row = rows[state.current];
  const index = row && decisionOf(row) ? row.index : decidedRows.pop();
  if (index === undefined) return;
  saidKept(setDecision(rows[index], null));
  showProgress();
  choose(index);
}

function saidKept(kept) {
  byId("kept").textContent = kept
    ? "Decisions are kept in this browser."
    : "This browser keeps nothing for this page: download what you have decided before you close it.";
}

/* On paper there is no scrolling: the first rows as a table. */
function listOnPaper() {
  const head = ["rank", "id", "given", "suggested", "wrong", "what speaks against", "decision"];
  const body = rows.slice(0, 500).map(row => el("tr", {}, ...[String(row.index + 1), clean(short(row.id, 60)), clean(className(row.given)), clean(className(row.suggested)), percent(row.wrong), reasonLine(row), (decisionOf(row) || {decision: ""}).decision].map(text => el("td", {}, text))));
  byId("paper").replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, ...head.map(name => el("th", {}, name)))), el("tbody", {}, ...body)), rows.length > 500 ? el("p", {}, "The first 500 rows; suspects.csv has all.") : "");
}
