// Draws the dashboard's charts: bars that stand on each other, one for each day.

const at = (id) => document.getElementById(id);
const HEIGHT = 220;
const OUTCOMES = ["completed", "low_confidence", "no_results", "error"];
const RATINGS = ["completed", "error"];

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Each row on top of those before it, so that the bars stand on each other. */
function stacked(rows) {
  const sums = [];
  for (const row of rows) {
    const below = sums.at(-1);
    sums.push(row.map((value, day) => value + (below ? below[day] : 0)));
  }
  return sums;
}

function draw(place, days, rows, names) {
  const bars = uPlot.paths.bars({ size: [0.7, 40], align: 0 });
  // The highest sum is drawn first, and the lower ones over it.
  const sums = stacked(rows).reverse();
  const kinds = [...names].reverse();
  const series = kinds.map((name) => ({
    label: name,
    fill: colour(`--${name}`),
    stroke: colour(`--${name}`),
    width: 0,
    paths: bars,
    points: { show: false },
  }));
  const axis = {
    stroke: colour("--soft"),
    grid: { stroke: colour("--rule"), width: 1 },
    ticks: { stroke: colour("--rule"), width: 1 },
  };
  const whole = (_, splits) => splits.map((value) => (Number.isInteger(value) ? value : ""));
  const day = uPlot.fmtDate("{D} {MMM}");
  const utc = (second) => uPlot.tzDate(new Date(second * 1e3), "Etc/UTC");
  const dated = (_, splits) => splits.map((second) => day(utc(second)));
  const options = {
    width: place.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    tzDate: utc,
    scales: { y: { range: (_, low, high) => [0, Math.max(high, 1) * 1.1] } },
    axes: [{ ...axis, values: dated }, { ...axis, values: whole, size: 40 }],
    series: [{}, ...series],
  };
  return new uPlot(options, [days, ...sums], place);
}

async function show() {
  const response = await fetch(`/stats?days=${at("outcomes").dataset.days}`).catch(() => null);
  if (!response?.ok) {
    return;
  }
  const told = await response.json();
  const days = told.days.map(({ day }) => Date.parse(`${day}T00:00:00Z`) / 1000);
  const outcomes = OUTCOMES.map((name) => told.days.map((day) => day.outcomes[name]));
  const ratings = ["helpful", "not_helpful"].map((name) => told.days.map((day) => day[name]));
  let drawn = [];
  const redraw = () => {
    for (const chart of drawn) {
      chart.destroy();
    }
    drawn = [draw(at("outcomes"), days, outcomes, OUTCOMES)];
    // Where nobody has rated anything, a sentence stands in the place of the chart.
    if (at("ratings")) {
      drawn.push(draw(at("ratings"), days, ratings, RATINGS));
    }
  };
  redraw();
  // The colours change with the theme, the width with the window.
  new MutationObserver(redraw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("resize", redraw);
}

show();
