"use strict";
// The facts and arrays that the page holds. Arrays are unpacked when first asked for.

const facts = JSON.parse(document.getElementById("facts").textContent);

const data = (() => {
  const waiting = new Map();

  async function bytes(chunk, width) {
    const element = document.getElementById(`chunk${chunk}`);
    const text = atob(element.textContent);
    const packed = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const sorted = new Uint8Array(await new Response(stream).arrayBuffer());
    const count = sorted.length / width;
    const plain = new Uint8Array(sorted.length);
    for (let place = 0; place < width; place++) {
      for (let i = 0, from = place * count, to = place; i < count; i++, to += width) plain[to] = sorted[from + i];
    }
    return plain.buffer;
  }

  const f32 = async (chunk) => new Float32Array(await bytes(chunk, 4));
  const u32 = async (chunk) => new Uint32Array(await bytes(chunk, 4));
  const f64 = async (chunk) => new Float64Array(await bytes(chunk, 8));

  function times() {
    const { first, last, step, chunk } = facts.time;
    if (chunk !== null) return f64(chunk);
    const all = new Float64Array(facts.samples);
    for (let k = 0; k < all.length; k++) all[k] = first + k * step;
    if (all.length) all[all.length - 1] = last;
    return Promise.resolve(all);
  }

  async function unpack(column) {
    if (column.chunk === undefined) return new Float64Array(facts.samples).fill(column.constant);
    const stored = column.width === 8 ? await f64(column.chunk) : await f32(column.chunk);
    const values = new Float64Array(stored.length);
    for (let k = 0; k < values.length; k++) values[k] = column.base + stored[k];
    return values;
  }

  // Samples of a column, by its place.
  function column(place) {
    if (!waiting.has(place)) waiting.set(place, unpack(facts.columns[place]));
    return waiting.get(place);
  }

  return { f32, u32, times, column };
})();

// A number for the reader: 7 digits, as they are stored.
function format(value) {
  if (value === null || value === undefined) return "–";
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) return value.toExponential(6).replace(/\.?0+e/, "e");
  return String(Number(value.toPrecision(7)));
}
