/* What the reader has decided, kept in the browser where it lets us, and as reviewed.csv. */

const KEY = `robustlda-review-${D.key}`;
const unsafe = new Set(D.unsafe);
/* id → {decision, id, given, verified}: texts as they go into the file, so that rows of an earlier list stay in it. */
const decisions = new Map();

/* Rows decided about since the page was opened, the latest last. */
const decidedRows = [];

const fileId = row => (unsafe.has(row.index) ? "'" : "") + row.id;

function restoreDecisions() {
  try {
    for (const entry of JSON.parse(localStorage.getItem(KEY) || "[]")) decisions.set(entry.id, entry);
    return true;
  } catch {
    return false;
  }
}

function keepDecisions() {
  try {
    localStorage.setItem(KEY, JSON.stringify([...decisions.values()]));
    return true;
  } catch {
    return false;
  }
}

const decisionOf = row => decisions.get(fileId(row));

/* decision: accept, keep, unsure, other (with a class), or null to take it back. */
function setDecision(row, decision, other) {
  const id = fileId(row);
  if (decision === "other") decision = other === row.given ? "keep" : other === row.suggested ? "accept" : "other";
  if (decision === null) decisions.delete(id);
  else {
    const k = {accept: row.suggested, keep: row.given, other}[decision];
    decisions.set(id, {id, decision, given: D.exact[row.given], verified: k === undefined ? "" : D.exact[k]});
  }
  return keepDecisions();
}

const quoted = cell => /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;

/* A byte order mark tells spreadsheets that this is UTF-8. */
function reviewedCsv() {
  const lines = [["id", "given", "verified", "decision"]];
  for (const d of decisions.values()) lines.push([d.id, d.given, d.verified, d.decision]);
  return "\ufeff" + lines.map(line => line.map(quoted).join(",") + "\r\n").join("");
}

function downloadReviewed() {
  const url = URL.createObjectURL(new Blob([reviewedCsv()], {type: "text/csv;charset=utf-8"}));
  const link = el("a", {href: url, download: byId("download").dataset.name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/* Cells of a CSV file, line by line, whatever a spreadsheet has separated them by. */
function parseCsv(text) {
  const head = text.split("\n", 1)[0], often = separator => head.split(separator).length;
  const separator = [",", ";", "\t"].reduce((best, other) => often(other) > often(best) ? other : best);
  const lines = [];
  let line = [], cell = "", inside = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (inside) {
      if (c !== '"') cell += c;
      else if (text[i + 1] === '"') { cell += c; i++; }
      else inside = false;
    } else if (c === '"') inside = true;
    else if (c === separator) { line.push(cell); cell = ""; }
    else if (c === "\n") { lines.push([...line, cell]); line = []; cell = ""; }
    else if (c !== "\r") cell += c;
  }
  return cell || line.length ? [...lines, [...line, cell]] : lines;
}

/* Decisions of a reviewed.csv; how many there were. */
function loadReviewed(text) {
  const [head, ...lines] = parseCsv(text.replace(/^\ufeff/, ""));
  const place = name => (head || []).indexOf(name);
  if (place("id") < 0 || place("verified") < 0) return -1;
  const given = new Map(rows.map(row => [fileId(row), row]));
  for (const line of lines) {
    const id = line[place("id")], verified = line[place("verified")] || "", row = given.get(id);
    const stated = line[place("decision")] || "";
    if (!verified && stated !== "unsure") continue;
    const found = !verified ? "unsure" : !row ? stated || "other" : verified === D.exact[row.given] ? "keep" : verified === D.exact[row.suggested] ? "accept" : "other";
    decisions.set(id, {id, decision: found, given: row ? D.exact[row.given] : line[place("given")] || "", verified});
  }
  keepDecisions();
  return lines.length;
}
