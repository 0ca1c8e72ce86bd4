/* Data and small helpers. Texts of the data only ever become text nodes. */

const D = JSON.parse(document.getElementById("data").textContent);
const MISLABELLED = 1, OUTLYING = 2;

/* A row of the list; see audit_rows.py for the order. */
const rows = D.rows.map((r, index) => ({
  index, id: r[0], given: r[1], suggested: r[2], kind: r[3], wrong: r[4], farness: r[5], farnessAny: r[6],
  against: r[7], ratio: r[8], why: r[9], near: r[10], values: r[11],
  picture: D.places ? D.pictures[D.places[index]] : undefined,
}));

const byId = id => document.getElementById(id);
const clean = text => String(text).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}]/gu, "�");
const className = k => D.classes[k];
const short = (text, longest) => text.length <= longest ? text : text.slice(0, longest - 1) + "…";

/* An element with attributes and children; strings become text. */
function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined && child !== ""));
  return element;
}

function percent(thousandths) {
  if (thousandths === null) return "–";
  if (thousandths >= 1000) return "> 99.9 %";
  return thousandths > 990 || thousandths < 10 ? `${(thousandths / 10).toFixed(1)} %` : `${Math.round(thousandths / 10)} %`;
}

const image = (source, alt) => el("img", {src: source, alt});
const kindName = kind => ["", "mislabeled", "outlying"][kind];
const changes = row => row.suggested !== row.given;
const color = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
