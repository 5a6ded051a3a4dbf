"use strict";
// The list of all variables, and the charts of the chosen ones: those of one unit share a chart.

function makeChooser() {
  const host = document.getElementById("charts");
  const list = document.getElementById("variables");
  const filter = document.getElementById("filter");
  const MOST_MATCHES = 300;
  const chosen = new Set(facts.firstChoice);
  let shown = [];
  let round = 0;

  // Charts of what is chosen, by unit in the order of the list.
  async function draw() {
    const mine = ++round;
    const units = new Map();
    for (const place of [...chosen].sort((a, b) => a - b)) {
      const unit = facts.columns[place].unit;
      if (!units.has(unit)) units.set(unit, []);
      units.get(unit).push(place);
    }
    const loaded = [];
    for (const [unit, places] of units) {
      const curves = await Promise.all(
        places.map(async (place) => ({
          label: facts.columns[place].name,
          values: await data.column(place),
          stepped: !facts.columns[place].real,
        })),
      );
      loaded.push({ title: titleOf(places), unit, curves });
    }
    if (mine !== round) return;
    shown.forEach(charts.remove);
    shown = loaded.map((chart) => charts.draw(host, chart));
    document.getElementById("chosen").textContent = `${chosen.size} of ${facts.columns.length}`;
  }

  const NAMES = { m: "Lengths and positions", "m/s": "Velocities", N: "Forces", "N.m": "Torques", "N.s": "Impulses", J: "Energies", rad: "Angles", "rad/s": "Angular velocities", kg: "Masses" };
  function titleOf(places) {
    if (places.length === 1) return facts.columns[places[0]].name;
    return NAMES[facts.columns[places[0]].unit] ?? "Values";
  }

  function line(place) {
    const column = facts.columns[place];
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = chosen.has(place);
    box.addEventListener("change", () => {
      if (box.checked) chosen.add(place);
      else chosen.delete(place);
      draw();
    });
    const range = document.createElement("span");
    range.className = "quiet";
    const [low, high] = column.range;
    const values = low === high ? format(low) : `${format(low)} to ${format(high)}`;
    range.textContent = `${values} ${column.unit}${column.input ? ", input" : ""}`;
    label.title = column.description;
    label.append(box, column.name, range);
    return label;
  }

  function fill() {
    const wanted = filter.value.trim().toLowerCase();
    list.replaceChildren();
    const places = facts.columns.map((_, place) => place);
    if (wanted) {
      const found = places.filter((place) => facts.columns[place].name.toLowerCase().includes(wanted));
      list.append(...found.slice(0, MOST_MATCHES).map(line));
      if (found.length > MOST_MATCHES) list.append(`${found.length - MOST_MATCHES} more: type more of the name`);
      if (!found.length) list.append("No variable has this in its name.");
      return;
    }
    const groups = Map.groupBy ? Map.groupBy(places, groupOf) : groupBy(places, groupOf);
    for (const [name, members] of groups) {
      const group = document.createElement("details");
      const title = document.createElement("summary");
      title.textContent = `${name} (${members.length})`;
      group.append(title);
      group.addEventListener("toggle", () => group.childElementCount === 1 && group.append(...members.map(line)));
      list.append(group);
    }
  }

  function groupOf(place) {
    const { name } = facts.columns[place];
    const end = name.lastIndexOf(".");
    return end > 0 ? name.slice(0, end) : "others";
  }

  function groupBy(values, key) {
    const groups = new Map();
    for (const value of values) groups.set(key(value), [...(groups.get(key(value)) ?? []), value]);
    return groups;
  }

  filter.addEventListener("input", fill);
  document.getElementById("clear").addEventListener("click", () => {
    chosen.clear();
    fill();
    draw();
  });
  fill();
  return { draw, chosen };
}
