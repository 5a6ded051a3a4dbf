"use strict";
// Puts the page together. `report` is there for scripts and tests.

window.report = { ready: false, error: null };

(async () => {
  const element = (id) => document.getElementById(id);
  const tell = (id, text) => {
    element(id).textContent = text;
    element(id).hidden = !text;
  };

  const plural = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
  const settings = facts.settings.map(([name, value]) => `${name} = ${value}`);
  tell("name", facts.name);
  tell("description", facts.description);
  tell("run", [facts.source, plural(facts.samples, "sample"), `${format(facts.time.first)} to ${format(facts.time.last)} s`, ...settings].join(" · "));
  tell("failure", facts.failure ? `The simulation ended early: ${facts.failure}` : "");
  tell("no-model", facts.noModel ? `No 3D view, energy balance and solver statistics: ${facts.noModel}` : "");
  element("tool").textContent = `Made by ${facts.tool}.`;

  const root = document.documentElement;
  root.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";

  function definitions(list, pairs) {
    list.replaceChildren(
      ...pairs.map(([name, value]) => {
        const pair = document.createElement("div");
        const term = document.createElement("dt");
        const text = document.createElement("dd");
        term.textContent = name;
        text.textContent = value;
        pair.append(term, text);
        return pair;
      }),
    );
  }

  function showMessages() {
    const host = element("messages");
    if (!facts.messages.length) {
      host.textContent = "None.";
      return;
    }
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    for (const title of ["Time", "Kind", "Text"]) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.textContent = title;
      head.append(cell);
    }
    const body = table.createTBody();
    for (const [time, kind, text] of facts.messages) {
      const row = body.insertRow();
      for (const value of [`${format(time)} s`, kind, text]) row.insertCell().textContent = value;
    }
    host.replaceChildren(table);
    if (facts.lostMessages) host.append(`${plural(facts.lostMessages, "more message")} not kept.`);
  }

  async function curve(place) {
    const { name, real } = facts.columns[place];
    return { label: name, values: await data.column(place), stepped: !real };
  }

  async function energyCharts({ parts, closed, start, deviation, dissipated }) {
    element("energy").hidden = false;
    definitions(element("energy-facts"), [
      ["Sum at the start", `${format(start)} J`],
      ["Taken by impacts, friction, damping", `${format(dissipated)} J`],
      [closed ? "Error: largest change of the sum" : "Largest change of the sum", `${deviation.toExponential(2)} J`],
    ]);
    element("energy-note").textContent = closed
      ? "Nothing but gravity, springs and contacts acts: the sum should stay."
      : "The sum changes by the work of what acts from outside: motors, inputs, bodies that a master moves.";
    const curves = await Promise.all(parts.map(curve));
    const sum = new Float64Array(facts.samples);
    for (const { values } of curves) values.forEach((value, k) => (sum[k] += value));
    const used = curves.filter(({ values }) => values.some((value) => value !== 0));
    return [
      () => charts.draw(element("energy-charts"), { title: "Where the energy is", unit: "J", curves: [...used, { label: "sum", values: sum }] }),
      () => charts.draw(element("energy-charts"), { title: "Change of the sum", unit: "J", curves: [{ label: "sum less its start", values: sum.map((value) => value - sum[0]) }], height: 150 }),
    ];
  }

  async function solverCharts({ columns, facts: pairs, residual, tolerance }) {
    element("solver").hidden = false;
    definitions(element("solver-facts"), pairs);
    const host = element("solver-charts");
    const drawn = columns.filter((place) => facts.columns[place].constant === undefined);
    return Promise.all(
      drawn.map(async (place) => {
        const { name, unit } = facts.columns[place];
        const curves = [await curve(place)];
        const logarithmic = place === residual;
        if (logarithmic) curves.push({ label: "tolerance", values: new Float64Array(facts.samples).fill(tolerance) });
        return () => charts.draw(host, { title: name, unit, curves, logarithmic, height: 150 });
      }),
    );
  }

  function bodyChips(names) {
    const most = 12;
    element("bodies").replaceChildren(
      ...names.slice(0, most).map((name, index) => {
        const item = document.createElement("li");
        const dot = document.createElement("span");
        dot.style.background = charts.colour(index);
        item.append(dot, name);
        return item;
      }),
    );
    if (names.length > most) {
      const more = document.createElement("li");
      more.textContent = `and ${names.length - most} more`;
      element("bodies").append(more);
    }
  }

  async function motion(times) {
    const view = await makeView(facts.model, times);
    const unit = () => {
      const newtons = view.newtonsOfRadius();
      element("force-unit").textContent = newtons ? `1 m = ${Number((newtons / view.radius).toPrecision(2))} N` : "no contact forces";
    };
    view.bodies.forEach((name, index) => element("follow").add(new Option(name, index)));
    element("follow").addEventListener("change", () => view.set({ follow: element("follow").value === "" ? -1 : Number(element("follow").value) }));
    element("show-forces").addEventListener("change", () => view.set({ forces: element("show-forces").checked }));
    element("force-scale").addEventListener("input", () => {
      view.set({ scale: Number(element("force-scale").value) });
      unit();
    });
    element("home").addEventListener("click", view.home);
    element("view-note").textContent = view.gridStep ? `grid ${format(view.gridStep)} m` : "";
    bodyChips(view.bodies);
    unit();
    return view;
  }

  showMessages();
  const times = await data.times();
  charts.setTimes(times);
  let view = null;
  if (facts.model) {
    try {
      view = await motion(times);
    } catch (error) {
      tell("no-model", `The 3D view needs WebGL: ${error.message}`);
    }
  }
  element("motion").parentElement.classList.toggle("no-motion", view === null);

  const player = makePlayer(times, (time, k, part, window) => {
    charts.setNow(time, k);
    view?.show(k, part, window);
  });
  charts.onPick(player.go);
  const chooser = makeChooser();
  const others = [];
  if (facts.model?.energy) others.push(...(await energyCharts(facts.model.energy)));
  if (facts.model?.solver) others.push(...(await solverCharts(facts.model.solver)));
  let drawn = [];
  async function drawAll() {
    drawn.forEach(charts.remove);
    await chooser.draw();
    drawn = others.map((draw) => draw());
    player.show();
  }
  if (facts.samples > 0) await drawAll();

  element("reset").addEventListener("click", charts.reset);
  element("theme").addEventListener("click", async () => {
    root.dataset.theme = charts.isDark() ? "light" : "dark";
    view?.paint();
    if (view) bodyChips(view.bodies);
    await drawAll();
  });
  Object.assign(window.report, { facts, charts, chooser, player, view, readyAfter: performance.now(), ready: true });
  Object.defineProperty(window.report, "time", { get: player.time });
})().catch((error) => {
  window.report.error = error;
  throw error;
});
