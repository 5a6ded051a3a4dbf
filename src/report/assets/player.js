"use strict";
// Time: play, pause, speed, scrub. Tells everybody who shows the moment.

function makePlayer(times, onTime) {
  const play = document.getElementById("play");
  const scrub = document.getElementById("scrub");
  const clock = document.getElementById("clock");
  const speed = document.getElementById("speed");
  const loop = document.getElementById("loop");
  const last = times.length - 1;
  const [start, stop] = [times[0] ?? 0, times[last] ?? 0];
  // Seconds of the reader for which a force stays visible while the motion plays.
  const LINGER = 0.08;
  let time = start;
  let frame = null;
  let stamp = 0;

  // At first as fast as in reality, unless that is over in a moment or takes minutes.
  const speeds = [0.001, 0.01, 0.1, 0.25, 0.5, 1, 2, 5, 10, 100];
  const seconds = stop - start;
  const slow = speeds.filter((factor) => factor <= 1 && seconds / factor >= 3).pop() ?? speeds[0];
  const usual = seconds <= 60 ? slow : (speeds.find((factor) => seconds / factor <= 60) ?? 100);
  for (const factor of speeds) speed.add(new Option(`${factor} ×`, factor, factor === usual, factor === usual));
  scrub.max = Math.max(last, 0);

  // The sample at or before a time, which may be rounded.
  const slack = (1e-9 * (stop - start)) / Math.max(last, 1);
  function sample(at) {
    let [low, high] = [0, last];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (times[middle] <= at + slack) low = middle;
      else high = middle - 1;
    }
    return Math.max(low, 0);
  }

  function show() {
    const k = sample(time);
    const span = k < last ? times[k + 1] - times[k] : 0;
    const part = span > 0 ? Math.max(0, (time - times[k]) / span) : 0;
    const window = frame === null ? 0 : k - sample(time - LINGER * Number(speed.value));
    scrub.value = k;
    scrub.setAttribute("aria-valuetext", `${format(time)} s`);
    clock.textContent = `${time.toFixed(4)} / ${format(stop)} s`;
    onTime(time, k, part, window);
  }

  function tick(now) {
    time += ((now - stamp) / 1000) * Number(speed.value);
    stamp = now;
    if (time >= stop) {
      time = loop.checked ? start : stop;
      if (!loop.checked) return pause();
    }
    frame = requestAnimationFrame(tick);
    show();
  }

  function begin() {
    if (frame !== null) return;
    if (time >= stop) time = start;
    stamp = performance.now();
    frame = requestAnimationFrame(tick);
    label(true);
  }

  function pause() {
    if (frame !== null) cancelAnimationFrame(frame);
    frame = null;
    label(false);
    show();
  }

  function label(playing) {
    play.textContent = playing ? "Pause" : "Play";
    play.setAttribute("aria-pressed", String(playing));
  }

  function go(to) {
    time = Math.min(Math.max(to, start), stop);
    show();
  }

  play.addEventListener("click", () => (frame === null ? begin() : pause()));
  scrub.addEventListener("input", () => go(times[Number(scrub.value)]));
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("input, select, button, summary, textarea")) return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === " ") frame === null ? begin() : pause();
    else if (step) go(times[Math.min(Math.max(sample(time) + step, 0), last)]);
    else return;
    event.preventDefault();
  });
  return { begin, pause, go, show, time: () => time, isPlaying: () => frame !== null };
}
