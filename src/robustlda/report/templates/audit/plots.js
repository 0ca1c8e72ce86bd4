/* Plots by Chart.js: the interval of the noise rate, the plane, and the class map. */

/* Colors that color-blind readers tell apart, on a light and on a dark page; beyond ten classes, shapes as well. */
const LIGHT = ["#0072b2", "#d98c00", "#00805c", "#c0579a", "#2f8fd0", "#d55e00", "#8c564b", "#6b6b00", "#5e3c99", "#444444"];
const DARK = ["#5aa9e6", "#f0b33c", "#2fc49a", "#e29bc6", "#8fd0ff", "#ff8a4c", "#c99a8f", "#c5c542", "#b49be0", "#c8c8cc"];
const SHAPES = ["circle", "triangle", "rect", "crossRot", "star", "cross", "dash"];
const dark = matchMedia("(prefers-color-scheme: dark)");
const charts = [];
const only = new Set(); /* classes to show; all if empty */

const onPaper = () => document.documentElement.classList.contains("paper");
const classColor = k => (dark.matches && !onPaper() ? DARK : LIGHT)[k % LIGHT.length];
const classShape = k => SHAPES[Math.floor(k / LIGHT.length) % SHAPES.length];

const pointId = p => clean(p[7] >= 0 ? short(rows[p[7]].id, 40) : p[8]);

function pointText(p) {
  const lines = [`labeled ${clean(className(p[0]))}` + (p[1] === p[0] ? "" : `, probably ${clean(className(p[1]))}`), `wrong with probability ${percent(p[3])}`];
  if (p[2] === OUTLYING) lines.push("far from every class");
  if (p[7] >= 0) lines.push("click to review");
  return lines;
}

/* One data set for each class, rings around findings, and one for the current row. */
function datasets(x, y) {
  const at = p => ({x: x(p), y: y(p), p});
  const seen = D.points.filter(p => !only.size || only.has(p[0]));
  const sets = D.classes.map((_, k) => {
    const shape = classShape(k), line = ["cross", "crossRot", "star", "dash"].includes(shape);
    return {data: seen.filter(p => p[0] === k).map(at), pointStyle: shape, radius: line ? 4 : 3.4, hoverRadius: 6, borderColor: classColor(k), borderWidth: line ? 1.4 : 0, backgroundColor: classColor(k) + "a8"};
  });
  const ring = (kind, shape, name, radius) => ({data: seen.filter(p => p[2] === kind).map(at), pointStyle: shape, radius, hoverRadius: radius + 1, backgroundColor: "transparent", borderColor: color(name), borderWidth: 1.6});
  return [{data: [], radius: 9, hoverRadius: 9, backgroundColor: "transparent", borderColor: color("--ink"), borderWidth: 3}, ring(MISLABELLED, "circle", "--red", 5.5), ring(OUTLYING, "rectRot", "--ink", 7), ...sets];
}

function axis(title, ends, more) {
  return {min: ends[0], max: ends[1], title: {display: true, text: title, color: color("--soft")}, ticks: {color: color("--soft"), maxTicksLimit: 7, includeBounds: false}, grid: {color: color("--line")}, border: {color: color("--soft")}, ...more};
}

/* Places in the list of the points that were hit. */
const reviewable = (chart, hits) => hits.map(hit => chart.data.datasets[hit.datasetIndex].data[hit.index].p[7]).filter(index => index >= 0);

function scatter(id, x, y, scales) {
  const chart = new Chart(byId(id), {
    type: "scatter",
    data: {datasets: datasets(x, y)},
    options: {
      animation: false, maintainAspectRatio: false, scales, clip: false,
      interaction: {mode: "nearest", intersect: true},
      onClick: (_, hits, chart) => reviewable(chart, hits).slice(0, 1).forEach(review),
      onHover: (event, hits, chart) => { chart.canvas.style.cursor = reviewable(chart, hits).length ? "pointer" : "default"; },
      plugins: {
        legend: {display: false},
        tooltip: {displayColors: false, filter: (_, i) => i === 0, callbacks: {title: items => items.length ? pointId(items[0].raw.p) : "", label: item => pointText(item.raw.p)}},
      },
    },
  });
  chart.$at = p => ({x: x(p), y: y(p), p});
  chart.$fresh = () => datasets(x, y);
  charts.push(chart);
}

function review(index) {
  if (!state.view.includes(index)) {
    for (const id of ["search", "kind", "decided"]) byId(id).value = "";
    filterList();
  }
  choose(index, true);
  byId("review").scrollIntoView({block: "start"});
  list.focus({preventScroll: true});
}

function markCurrent(row) {
  const point = row && D.points.find(p => p[7] === row.index);
  for (const chart of charts) {
    if (!chart.$at) continue;
    chart.data.datasets[0].data = point ? [chart.$at(point)] : [];
    chart.update("none");
  }
}

function intervalPlot() {
  const [rate, low, high] = D.interval.map(v => 100 * v), ends = Math.min(100, Math.max(1, high * 1.25));
  const line = {data: [{x: low, y: 0}, {x: high, y: 0}], showLine: true, clip: false, borderColor: color("--blue"), borderWidth: 5, radius: 7, pointStyle: "line", rotation: 90, pointBorderWidth: 3, pointBorderColor: color("--blue")};
  const dot = {data: [{x: rate, y: 0}], clip: false, radius: 7, backgroundColor: color("--red"), borderColor: color("--back"), borderWidth: 2};
  charts.push(new Chart(byId("interval"), {
    type: "scatter", data: {datasets: [dot, line]},
    options: {
      animation: false, maintainAspectRatio: false, events: [], layout: {padding: {left: 12, right: 12}},
      scales: {x: axis("share of wrong labels", [0, ends], {title: {display: false}, ticks: {color: color("--soft"), callback: v => `${v} %`, includeBounds: false, maxTicksLimit: 8}}), y: {display: false, min: -1, max: 1}},
      plugins: {legend: {display: false}, tooltip: {enabled: false}},
    },
  }));
}

function drawPlots() {
  charts.splice(0).forEach(chart => chart.destroy());
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  intervalPlot();
  if (D.plane) scatter("plane", p => p[5], p => p[6], {x: axis(D.plane.axes[0], D.plane.ends[0]), y: axis(D.plane.axes[1], D.plane.ends[1])});
  if (D.map) {
    const share = {ticks: {color: color("--soft"), callback: v => `${v} %`, stepSize: 20, includeBounds: false}};
    scatter("map", p => p[4] / 10, p => p[3] / 10, {x: axis("farness: members of the class that are nearer to its center", [-3, 103], share), y: axis("probability that the label is wrong", [-3, 103], share)});
  }
  drawLegend();
  markCurrent(rows[state.current]);
}

function swatch(k) {
  const canvas = el("canvas", {width: 28, height: 28, "aria-hidden": "true"}), context = canvas.getContext("2d");
  canvas.style.width = canvas.style.height = "14px";
  context.scale(2, 2);
  context.fillStyle = context.strokeStyle = classColor(k);
  context.lineWidth = 1.6;
  Chart.helpers.drawPoint(context, {pointStyle: classShape(k), radius: 5, borderWidth: 1.6}, 7, 7);
  return canvas;
}

function drawLegend() {
  const legend = byId("legend");
  if (!legend) return;
  legend.replaceChildren(...D.classes.map((name, k) => {
    const button = el("button", {type: "button", "aria-pressed": String(only.has(k)), title: clean(name)}, swatch(k), el("span", {}, clean(name)));
    button.addEventListener("click", () => toggleClass(k));
    return button;
  }));
}

function toggleClass(k) {
  if (!only.delete(k)) only.add(k);
  [...byId("legend").children].forEach((button, i) => button.setAttribute("aria-pressed", String(only.has(i))));
  for (const chart of charts) if (chart.$fresh) chart.data.datasets = chart.$fresh();
  markCurrent(rows[state.current]);
}
