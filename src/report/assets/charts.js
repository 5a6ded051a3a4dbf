"use strict";
// Charts over time that share zoom, cursor and the mark of the present time.

const charts = (() => {
  const all = new Set();
  const shared = uPlot.sync("time");
  let times = new Float64Array(0);
  let now = 0;
  let sample = 0;
  // Of the time axis, where it is not the whole time.
  let range = null;
  // Samples up to which lines are drawn between pixels; more are first gathered by pixel, which is much faster.
  const SMOOTH = 5000;
  const listeners = { pick: () => {} };

  // Okabe and Ito's colours, told apart by most colour-blind readers, then lighter ones for dark pages.
  const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#3b9bd6", "#444444", "#7a4fb5"];
  const DARK = ["#5cb8f2", "#ff9248", "#3fd6a4", "#f0a6cc", "#f0e442", "#9ad1f5", "#c9c9c9", "#b79ae8"];
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const isDark = () => document.documentElement.dataset.theme === "dark";
  const colour = (index) => (isDark() ? DARK : LIGHT)[index % LIGHT.length];

  const whole = () => ({ min: times[0], max: times[times.length - 1] });

  // All charts show the range of the one that was zoomed, which the others then tell again.
  function zoomAll(source, { min, max }) {
    const shown = range ?? whole();
    if (min === shown.min && max === shown.max) return;
    range = { min, max };
    for (const { plot } of all) if (plot !== source) plot.setScale("x", range);
  }

  // Puts the mark at the present time; the legend shows the values there unless the cursor is on a chart.
  function moveMark(chart) {
    const { plot, mark } = chart;
    if (plot.cursor.idx === null || plot.cursor.idx === undefined) plot.setLegend({ idx: sample }, false);
    const left = plot.valToPos(now, "x");
    mark.hidden = !(left >= 0 && left <= plot.over.clientWidth);
    mark.style.left = `${left}px`;
  }

  function axis(extra) {
    const line = { stroke: style("--grid"), width: 1 };
    return { stroke: style("--quiet"), grid: line, ticks: line, font: "12px system-ui", labelFont: "12px system-ui", ...extra };
  }

  // Powers of ten of a logarithmic axis, six at most.
  function decades(_, __, min, max) {
    const [low, high] = [Math.ceil(Math.log10(min) - 1e-9), Math.floor(Math.log10(max) + 1e-9)];
    const step = Math.ceil((high - low + 1) / 6) || 1;
    const found = [];
    for (let power = low; power <= high; power += step) found.push(10 ** power);
    return found;
  }

  // Numbers that cannot be drawn leave a gap.
  function drawable(values, logarithmic) {
    const good = (value) => Number.isFinite(value) && (!logarithmic || value > 0);
    return values.every(good) ? values : Array.from(values, (value) => (good(value) ? value : null));
  }

  // Draws curves: {label, values, stepped}. Returns the chart.
  function draw(host, { title, unit, curves, logarithmic = false, height = 210 }) {
    const box = document.createElement("div");
    box.className = "chart";
    const heading = document.createElement("h3");
    heading.textContent = unit ? `${title} (${unit})` : title;
    box.append(heading);
    host.append(box);
    const plotted = document.createElement("div");
    plotted.setAttribute("role", "img");
    plotted.setAttribute("aria-label", `${heading.textContent} over time: ${curves.map((curve) => curve.label).join(", ")}`);
    box.append(plotted);
    const chart = { title, box, labels: curves.map((curve) => curve.label) };
    const options = {
      width: Math.max(box.clientWidth, 200),
      height,
      scales: { x: { time: false }, y: logarithmic ? { distr: 3 } : {} },
      axes: [
        axis({ label: "time (s)", labelSize: 18, size: 34 }),
        axis({
          label: unit || "no unit",
          ...(logarithmic ? { splits: decades } : {}),
          labelSize: 18,
          size: 66,
          values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : format(tick))),
        }),
      ],
      series: [
        { label: "time", value: (_, value) => (value === null ? "–" : `${format(value)} s`) },
        ...curves.map((curve, index) => ({
          label: curve.label,
          stroke: colour(index),
          width: 1.5,
          pxAlign: facts.samples > SMOOTH ? 1 : 0,
          points: { show: facts.samples < 40 },
          paths: curve.stepped ? uPlot.paths.stepped({ align: -1 }) : undefined,
          value: (_, value) => (value === null ? "–" : unit ? `${format(value)} ${unit}` : format(value)),
        })),
      ],
      cursor: { sync: { key: shared.key, scales: ["x", null] }, drag: { x: true, y: false }, points: { size: 7 } },
      hooks: {
        setScale: [
          (plot, key) => {
            if (key !== "x" || !all.has(chart)) return;
            zoomAll(plot, plot.scales.x);
            moveMark(chart);
          },
        ],
      },
    };
    const rows = curves.map((curve) => drawable(curve.values, logarithmic));
    chart.plot = new uPlot(options, [times, ...rows], plotted);
    chart.mark = document.createElement("div");
    chart.mark.className = "playhead";
    chart.plot.over.append(chart.mark);
    pickOnClick(chart);
    chart.plot.over.addEventListener("pointerleave", () => setTimeout(() => all.forEach(moveMark)));
    all.add(chart);
    if (range) chart.plot.setScale("x", range);
    moveMark(chart);
    return chart;
  }

  // A click goes to that time; what moves is a zoom.
  function pickOnClick({ plot }) {
    let from = null;
    plot.over.addEventListener("pointerdown", (event) => (from = event.clientX));
    plot.over.addEventListener("click", (event) => {
      if (from === null || Math.abs(event.clientX - from) > 3) return;
      listeners.pick(plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, "x"));
    });
  }

  function remove(chart) {
    all.delete(chart);
    chart.plot.destroy();
    chart.box.remove();
  }

  new ResizeObserver(() => {
    for (const chart of all) {
      const width = chart.box.clientWidth;
      if (width > 100 && width !== chart.plot.width) {
        chart.plot.setSize({ width, height: chart.plot.height });
        moveMark(chart);
      }
    }
  }).observe(document.getElementById("columns"));

  return {
    draw,
    remove,
    colour,
    isDark,
    style,
    all: () => [...all],
    setTimes: (values) => (times = values),
    setNow(time, k) {
      now = time;
      sample = k;
      all.forEach(moveMark);
    },
    reset() {
      range = null;
      for (const { plot } of all) plot.setScale("x", whole());
    },
    onPick: (action) => (listeners.pick = action),
  };
})();
