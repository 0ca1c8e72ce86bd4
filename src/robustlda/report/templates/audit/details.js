/* All that is known about one row, in words. */

function changeText(row) {
  const from = clean(className(row.given));
  return changes(row) ? `${from} → ${clean(className(row.suggested))}` : from;
}

/* One line for the list: what speaks against the label most. */
function reasonLine(row) {
  if (!row.why.length) return row.kind === OUTLYING ? "far from every class" : "";
  return row.why.slice(0, 2).map(([column, value]) => `${clean(D.columns[column])} ${clean(value)}`).join(", ");
}

function heading(row) {
  const status = row.kind ? el("span", {class: row.kind === MISLABELLED ? "red" : "amber"}, kindName(row.kind)) : "not flagged";
  const text = el("div", {},
    el("div", {class: "change"}, changeText(row)),
    el("div", {}, el("span", {class: "id"}, "id "), clean(short(row.id, 120)), " · rank ", String(row.index + 1), " · ", status),
    el("div", {class: "soft"}, `wrong with probability ${percent(row.wrong)}`, row.farness === null ? "" : `; farther from its class than ${percent(row.farness)} of its members`, row.kind === OUTLYING ? "; far from every class" : ""));
  return el("div", {class: "facts-head"}, row.picture ? image(row.picture, `Picture of ${clean(short(row.id, 60))}`) : "", text);
}

const typical = (column, k) => clean((D.typical[column] || {})[k] ?? "–");

/* A table that scrolls in its own frame where it is too wide. */
const framed = (name, ...parts) => el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": name}, el("table", {class: "cards compact"}, ...parts));

/* Reasons as a table: value, what is typical of both classes, and the contribution as a bar. */
function reasons(row) {
  if (!row.why.length) return [];
  const weighed = row.why[0][2] !== null, most = Math.max(...row.why.map(w => w[2] || 0));
  const head = ["", "this row", `typical of ${clean(className(row.given))}`];
  if (weighed) head.push(`of ${clean(className(row.against))}`, "weight");
  const body = row.why.map(([column, value, weight]) => {
    const cells = [el("th", {scope: "row"}, clean(D.columns[column])), el("td", {class: "n", "data-name": "this row"}, clean(value)), el("td", {class: "n", "data-name": head[2]}, typical(column, row.given))];
    if (weighed) {
      const bar = el("span", {class: "bar"});
      bar.style.width = `${Math.max(4, 60 * weight / most)}px`;
      cells.push(el("td", {class: "n", "data-name": head[3]}, typical(column, row.against)), el("td", {class: "bars", "data-name": "weight"}, el("span", {}, bar, ` ${weight}`)));
    }
    return el("tr", {}, ...cells);
  });
  const title = !weighed ? "What is unusual" : changes(row) ? `What speaks against ${clean(className(row.given))}` : `What would speak for ${clean(className(row.against))}`;
  const parts = [el("h3", {}, title), framed("What speaks against the label", el("thead", {}, el("tr", {}, ...head.map((name, i) => name ? el("th", {scope: "col", class: i && i < 4 ? "n" : null}, name) : el("td", {})))), el("tbody", {}, ...body))];
  if (weighed) parts.push(el("p", {class: "soft"}, `Weights are parts of the log-ratio of the two classes, which is ${row.ratio} in total over all columns.`));
  return parts;
}

/* Neighbors with their values of the columns that are reasons. */
function neighborTable(row, sides) {
  const names = row.why.map(w => clean(D.columns[w[0]]));
  const line = (k, [, id, values]) => el("tr", {}, el("th", {scope: "row", class: "key"}, clean(id)), el("td", {class: "key", "data-name": "label"}, clean(className(k))), ...values.map((value, i) => el("td", {class: "n", "data-name": names[i]}, clean(value))));
  const head = el("tr", {}, el("th", {scope: "col"}, "id"), el("th", {scope: "col"}, "label"), ...names.map(name => el("th", {scope: "col", class: "n"}, name)));
  return framed("Similar rows", el("thead", {}, head), el("tbody", {}, ...sides.flatMap(([k, found]) => found.map(one => line(k, one)))));
}

const neighborPicture = ([place, id]) => el("figure", {}, D.pictures[place] ? image(D.pictures[place], "") : "", el("figcaption", {}, clean(id)));

/* Rows of both classes that are most like this one and whose labels are believed. */
function neighbors(row) {
  const sides = [[row.given, row.near[0]], [row.against, row.near[1]]].filter(([k, found]) => k >= 0 && found.length);
  if (!sides.length) return [];
  const pictures = () => sides.map(([k, found]) => el("div", {}, el("b", {}, clean(className(k))), el("div", {class: "near"}, ...found.map(neighborPicture))));
  return [el("h3", {}, "Most similar rows with believed labels"), ...(D.places ? pictures() : [neighborTable(row, sides)])];
}

function ownValues(row) {
  if (!row.values.length) return [];
  const marked = new Set(row.why.map(w => w[0]));
  return [el("h3", {}, "The row itself"), el("dl", {class: "values"}, ...D.shown.map((column, i) =>
    el("div", {class: marked.has(column) ? "marked" : null}, el("dt", {}, clean(D.columns[column])), el("dd", {}, clean(row.values[i])))))];
}

function showDetails(row) {
  byId("facts").replaceChildren(...(row ? [heading(row), ...reasons(row), ...neighbors(row), ...ownValues(row)] : [el("p", {class: "empty"}, "No row.")]));
  byId("detail").scrollTop = 0;
  showButtons(row);
}

function showButtons(row) {
  const done = row && decisionOf(row), decision = done ? done.decision : null;
  byId("accept").hidden = !row || !changes(row);
  for (const name of ["accept", "keep", "unsure"]) {
    byId(name).disabled = !row;
    byId(name).setAttribute("aria-pressed", String(decision === name));
  }
  byId("clear").disabled = !done && !decidedRows.length;
  byId("other").disabled = !row;
  if (!row) return;
  byId("accept").querySelector("span").textContent = `accept ${short(clean(className(row.suggested)), 24)}`;
  byId("keep").querySelector("span").textContent = `keep ${short(clean(className(row.given)), 24)}`;
  byId("other").value = decision === "other" ? String(D.exact.indexOf(done.verified)) : "";
  byId("other").parentElement.classList.toggle("set", decision === "other");
}

function fillOther() {
  byId("other").append(el("option", {value: ""}, "other label …"), ...D.classes.map((name, k) => el("option", {value: k}, clean(name))));
}
