// The page: opens what it holds, ties the controls to the stage.
import * as THREE from "three";
import "./style.css";
import { boundsOf } from "./bounds.js";
import { Chart, short } from "./chart.js";
import { looks } from "./look.js";
import { Shooter } from "./shoot.js";
import { openPage, Trouble } from "./payload.js";
import { Stage, upOf } from "./stage.js";
import { drawsInSoftware, View } from "./view.js";

const $ = (id) => document.getElementById(id);
const speeds = [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4];
const layerRows = [
  ["contacts", "contact points", "C", "zone"], ["forces", "contact forces", "A", "force"],
  ["zones", "impact zones in red", "Z", "zone"], ["gradients", "gradients", "G", "position"],
  ["wires", "wires", "W", null], ["ground", "ground", null, null],
];

const page = {
  head: null, runs: [], left: 0, right: 0, frame: 0, playing: false, speed: 1, time: 0,
  theme: "light", chosen: -1, follow: false, stages: new Map(),
  layers: { contacts: false, forces: false, zones: false, gradients: false, wires: false, ground: true },
  lengths: { force: 0, position: 0, push: 0 },
};
let view, chart, curve, dirty = true, lastNow = 0, lastTold = 0;

const run = () => page.runs[page.right];
const split = () => page.left !== page.right;

// ---- stages

function stageOf(index) {
  if (!page.stages.has(index)) {
    const stage = new Stage(page.runs[index], page.bounds, page.up, page.fast);
    stage.paint(page.theme);
    page.stages.set(index, stage);
  }
  return page.stages.get(index);
}

function arrange() {
  const list = split() ? [stageOf(page.left), stageOf(page.right)] : [stageOf(page.right)];
  view.show(list);
  $("names").hidden = !split();
  $("name-left").textContent = page.runs[page.left].label;
  $("name-right").textContent = run().label;
  $("scrub").max = run().shown - 1;
  dirty = true;
}

// The frame of another run at the same time.
function frameAt(other, time) {
  let low = 0, high = other.shown - 1;
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if (other.time[mid] <= time + 1e-9) low = mid;
    else high = mid - 1;
  }
  return low;
}

// Arrow lengths for the whole motion: a strong frame's largest arrow is half as long as the scene's
// radius.
function measureArrows() {
  const force = [], position = [], push = [];
  for (const r of page.runs) {
    for (let f = 0; f < r.shown; f++) {
      const c = r.contacts(f), g = r.gradient(f);
      if (c?.count) force.push(longest(c.real, 6, 9, c.count));
      if (g) {
        position.push(longest(g, 0, 3, r.bodies.length));
        push.push(longest(g, 3 * r.bodies.length, 3, r.bodies.length));
      }
    }
  }
  const strong = (list) => {
    const sorted = list.filter((v) => v > 0).sort((a, b) => a - b);
    return sorted.length ? (0.5 * page.bounds.radius) / sorted[Math.floor(0.8 * (sorted.length - 1))] : 0;
  };
  page.lengths = { force: strong(force), position: strong(position), push: strong(push) };
}

function longest(list, first, step, count) {
  let most = 0;
  for (let i = 0, k = first; i < count; i++, k += step) most = Math.max(most, Math.hypot(list[k], list[k + 1], list[k + 2]));
  return most;
}

// ---- the present frame

function setFrame(frame, fromPlay = false) {
  page.frame = Math.max(0, Math.min(run().shown - 1, frame));
  if (!fromPlay) page.time = run().time[page.frame];
  dirty = true;
}

function showFrame() {
  const r = run(), before = page.follow && page.chosen >= 0 ? followed() : null;
  const main = stageOf(page.right);
  if (!main.show(page.frame, page.layers, page.lengths, page.chosen)) {
    r.need(page.frame).then(() => (dirty = true));
    return;
  }
  if (split()) {
    const other = page.runs[page.left], f = frameAt(other, r.time[page.frame]);
    if (!stageOf(page.left).show(f, page.layers, page.lengths, page.chosen)) other.need(f).then(() => (dirty = true));
  }
  if (before) {
    const now = followed();
    if (page.lastFollowed) view.shift(now.clone().sub(page.lastFollowed));
    page.lastFollowed = now;
  }
  // words and lines are dear to lay out: while it plays, ten times a second will do
  if (page.playing && lastNow - lastTold < 100) return;
  lastTold = lastNow;
  tellFrame();
}

function tellFrame() {
  const r = run(), last = r.time[r.shown - 1];
  $("scrub").value = page.frame;
  $("time").innerHTML = `${r.time[page.frame].toFixed(3)}<span class="more"> of ${last.toFixed(3)}</span> s<span class="more">  ·  ${r.series.frame[page.frame]}</span>`;
  chart.mark(page.frame);
  showLegend();
  showBody();
}

function followed() {
  const s = run().body(page.frame, page.chosen);
  return s ? new THREE.Vector3().fromArray(s.position) : page.lastFollowed;
}

const numbers = (v) => v.map((x) => (Object.is(x, -0) ? 0 : x).toFixed(4).padStart(9)).join(" ");
const massText = (m) => (m > 0 ? `${short(m)} kg` : "does not move freely");

function showBody() {
  $("body").hidden = page.chosen < 0;
  const s = page.chosen >= 0 && run().body(page.frame, page.chosen);
  if (!s) return;
  const body = run().bodies[page.chosen];
  $("body-name").textContent = body.name;
  $("body-kind").textContent = body.kind;
  $("body-mass").textContent = massText(body.mass);
  $("body-position").textContent = `${numbers(s.position)} m`;
  $("body-velocity").textContent = `${numbers(s.velocity)} m/s`;
  $("body-grad-row").hidden = $("body-gradf-row").hidden = !s.dposition;
  if (s.dposition) {
    $("body-grad").textContent = s.dposition.map(short).join("  ");
    $("body-gradf").textContent = s.dforce.map(short).join("  ");
  }
}

function choose(body) {
  page.chosen = body;
  page.lastFollowed = body >= 0 ? followed() : null;
  if (body < 0) page.follow = $("follow").checked = false;
  if (body >= 0 && !$("who").hidden) {
    $("who").value = body;
    plot();
  }
  dirty = true;
}

// ---- plots

const axisColors = ["#c26a2c", "#3f8f5f", "#3f6fb5"];
const quantities = {
  energy: { name: "energy (J)", lines: (r) => [["motion", r.series.kinetic, "#e0a03a"], ["gravity", r.series.gravity, "#4c9a7a"], ["cloth", r.series.elastic, "#8069a8"], ["all", r.series.total, "#3f7cac"]] },
  contacts: { name: "contacts", lines: (r) => [["contacts", r.series.contacts, "#d4352c"]] },
  zones: { name: "zones", lines: (r) => [["zones", r.series.zones, "#d4352c"]] },
  gap: { name: "least gap (m)", lines: (r) => [["gap", r.series.gap, "#3f7cac"]] },
  position: { name: "position (m)", body: true, lines: (r, b) => coordinates(r, b, 0) },
  velocity: { name: "velocity (m/s)", body: true, lines: (r, b) => coordinates(r, b, 2) },
  gradient: { name: "|dL/dposition|", gradient: true, body: true, lines: (r, b) => gradientLine(r, b) },
};

function coordinates(r, b, channel) {
  const line = [0, 1, 2].map(() => new Float64Array(r.frames).fill(NaN));
  for (let f = 0; f < r.shown; f++) {
    const row = r.row(f, channel);
    for (let k = 0; row && k < 3; k++) line[k][f] = row[3 * b + k];
  }
  return ["x", "y", "z"].map((name, k) => [name, line[k], axisColors[k]]);
}

function gradientLine(r, b) {
  const y = new Float64Array(r.frames).fill(NaN);
  for (let f = 0; f < r.shown; f++) {
    const g = r.gradient(f);
    if (g) y[f] = Math.hypot(g[3 * b], g[3 * b + 1], g[3 * b + 2]);
  }
  return [["size", y, "#6a3fb5"]];
}

function plot() {
  const q = quantities[$("quantity").value];
  $("who").hidden = !q.body;
  const lines = q.lines(run(), Number($("who").value)).filter(([name, y]) => name !== "cloth" || y.some((v) => v !== 0));
  chart.set(run().time, lines.map(([name, y, color]) => ({ name, y, color })));
  showLegend();
}

function showLegend() {
  $("legend").innerHTML = chart.lines.map((l) => `<b style="color:${l.color}">${l.name}</b> ${short(l.y[page.frame])}`).join(" &nbsp; ");
}

function plotCurve() {
  const { objective } = page.head;
  curve.set(objective.map((_, i) => i), [{ name: "objective", y: objective, color: "#3f7cac" }], true);
  curve.mark(run().iteration);
}

// ---- iterations of an optimisation

function setIteration(index) {
  page.right = Math.max(1, Math.min(page.runs.length - 1, index));
  $("iteration").value = page.right;
  const r = run(), value = page.head.objective?.[r.iteration];
  r.opened.then(() => {
    $("iteration-text").textContent = r.iteration >= 0 ? `${r.iteration}   objective ${short(value)}` : r.label;
    arrange();
    plot();
    if (page.head.objective) curve.mark(r.iteration);
    setFrame(frameAt(r, page.time));
  });
}

// The run whose iteration is nearest to one on the curve.
function iterationAt(i) {
  let best = 1;
  page.runs.forEach((r, k) => {
    if (k > 0 && Math.abs(r.iteration - i) < Math.abs(page.runs[best].iteration - i)) best = k;
  });
  return best;
}

// ---- controls

function play(on = !page.playing) {
  if (on && page.frame >= run().shown - 1) setFrame(0);
  page.playing = on;
  $("play").classList.toggle("playing", on);
  $("play").setAttribute("aria-label", on ? "Pause" : "Play");
  dirty = true;
}

function step(by) {
  play(false);
  setFrame(page.frame + by);
}

function setSpeed(index) {
  const i = Math.max(0, Math.min(speeds.length - 1, index));
  page.speed = speeds[i];
  $("speed").selectedIndex = i;
}

function toggleLayer(name, on = !page.layers[name]) {
  page.layers[name] = on;
  $(`layer-${name}`).checked = on;
  dirty = true;
}

function setTheme(theme) {
  page.theme = theme;
  document.documentElement.dataset.theme = theme;
  for (const stage of page.stages.values()) stage.paint(theme);
  chart?.draw();
  curve?.draw();
  dirty = true;
}

function toggle(id, button) {
  $(id).hidden = !$(id).hidden;
  button?.setAttribute("aria-expanded", String(!$(id).hidden));
}

const keys = {
  " ": () => play(), ArrowLeft: (e) => step(e.shiftKey ? -10 : -1), ArrowRight: (e) => step(e.shiftKey ? 10 : 1),
  Home: () => step(-Infinity), End: () => step(Infinity),
  ArrowUp: () => setSpeed($("speed").selectedIndex + 1), ArrowDown: () => setSpeed($("speed").selectedIndex - 1),
  c: () => toggleLayer("contacts"), a: () => toggleLayer("forces"), z: () => toggleLayer("zones"),
  g: () => toggleLayer("gradients"), w: () => toggleLayer("wires"),
  f: () => $("follow").click(), r: () => { view.home(); dirty = true; },
  d: () => $("theme").click(), l: () => $("layers-button").click(), "?": () => $("help-button").click(),
  "[": () => page.runs.length > 1 && setIteration(page.right - 1), "]": () => page.runs.length > 1 && setIteration(page.right + 1),
  Escape: () => { $("help").hidden = true; choose(-1); },
};

function listen() {
  $("play").onclick = () => play();
  $("first").onclick = () => step(-Infinity);
  $("back").onclick = () => step(-1);
  $("forth").onclick = () => step(1);
  $("scrub").oninput = (e) => { play(false); setFrame(Number(e.target.value)); };
  $("speed").onchange = (e) => setSpeed(e.target.selectedIndex);
  $("theme").onclick = () => setTheme(page.theme === "light" ? "dark" : "light");
  $("layers-button").onclick = (e) => toggle("layers", e.currentTarget);
  $("help-button").onclick = () => toggle("help");
  $("help").onclick = () => toggle("help");
  $("quantity").onchange = plot;
  $("who").onchange = () => { plot(); };
  $("iteration").oninput = (e) => setIteration(Number(e.target.value));
  $("body-close").onclick = () => choose(-1);
  $("follow").onchange = (e) => { page.follow = e.target.checked; page.lastFollowed = page.chosen >= 0 ? followed() : null; };
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || /^(SELECT)$/.test(e.target.tagName)) return;
    const act = keys[e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (!act || (e.target.type === "range" && /Arrow(Up|Down)/.test(e.key))) return;
    e.preventDefault();
    act(e);
  });
  listenToPointer();
  new ResizeObserver(() => { dirty = true; chart.draw(); curve.draw(); }).observe($("stage"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (e) => setTheme(e.matches ? "dark" : "light"));
}

function listenToPointer() {
  const canvas = $("view");
  let down = null, looked = 0;
  canvas.addEventListener("pointerdown", (e) => { down = { x: e.clientX, y: e.clientY }; $("tip").hidden = true; });
  canvas.addEventListener("pointerup", (e) => {
    if (down && Math.hypot(e.clientX - down.x, e.clientY - down.y) < 5) choose(view.pick(e.clientX, e.clientY)?.body ?? -1);
    down = null;
  });
  canvas.addEventListener("pointerleave", () => { $("tip").hidden = true; });
  canvas.addEventListener("pointermove", (e) => {
    if (e.buttons || e.pointerType === "touch" || performance.now() - looked < 60) return;
    looked = performance.now();
    hover(e);
  });
}

function hover(e) {
  const hit = view.pick(e.clientX, e.clientY), tip = $("tip");
  tip.hidden = !hit;
  if (!hit) return;
  const s = hit.stage.run.body(Math.max(0, hit.stage.frame), hit.body), body = hit.stage.run.bodies[hit.body];
  tip.textContent = `${body.name} (${body.kind})\nmass      ${massText(body.mass)}\nposition ${numbers(s.position)} m\nvelocity ${numbers(s.velocity)} m/s`;
  const box = $("stage").getBoundingClientRect();
  tip.style.left = `${Math.min(e.clientX - box.left + 14, box.width - tip.offsetWidth - 6)}px`;
  tip.style.top = `${Math.min(e.clientY - box.top + 14, box.height - tip.offsetHeight - 6)}px`;
}

function fillControls() {
  speeds.forEach((s) => $("speed").add(new Option(`${s}×`, s)));
  setSpeed(speeds.indexOf(1));
  const anyGradient = page.runs.some((r) => r.gradients);
  for (const [key, q] of Object.entries(quantities)) if (!q.gradient || anyGradient) $("quantity").add(new Option(q.name, key));
  run().bodies.forEach((b, i) => i < 2000 && $("who").add(new Option(b.name, i)));
  $("who").value = Math.max(0, run().bodies.findIndex((b) => b.kind !== "fixed"));
  for (const [name, text, key, hue] of layerRows) {
    if (name === "gradients" && !anyGradient) continue;
    const label = document.createElement("label");
    const box = Object.assign(document.createElement("input"), { type: "checkbox", id: `layer-${name}`, checked: page.layers[name] });
    box.onchange = () => toggleLayer(name, box.checked);
    label.append(box, text + (key ? ` (${key})` : ""));
    if (hue) {
      const dot = document.createElement("span");
      dot.className = "swatch";
      dot.style.background = `#${looks.light[hue].toString(16).padStart(6, "0")}`;
      label.append(dot);
    }
    $("layers").append(label);
  }
}

function tellAbout() {
  const r = run();
  document.title = `${page.head.title} · carom`;
  $("title").textContent = page.head.title;
  const free = r.bodies.filter((b) => b.kind === "rigid").length, cloth = r.bodies.filter((b) => b.kind === "cloth").length;
  const parts = [free && `${free} rigid`, cloth && `${cloth} cloth`, r.nodes && `${r.nodes} nodes`, `${r.frames} frames`, `dt ${short(r.dt)} s`];
  $("about").textContent = parts.filter(Boolean).join(" · ");
  tellNotes();
}

function tellNotes() {
  const notes = page.runs.map((r) => r.note).filter(Boolean);
  $("note").textContent = [...new Set(notes)].join("\n");
  $("note").hidden = notes.length === 0;
}

// ---- every picture

function tick(now) {
  requestAnimationFrame(tick);
  if (page.playing) {
    advance(Math.min(0.25, (now - lastNow) / 1000));
  }
  lastNow = now;
  const turned = view.controls.update();
  if (view.pace(now, page.playing || turned) || turned) dirty = true;
  if (!dirty && view.size !== "") return;
  dirty = false;
  showFrame();
  view.draw();
  page.pictures++;
  page.opened ??= performance.now();
}

function advance(seconds) {
  const r = run();
  const next = page.time + seconds * page.speed;
  if (!r.has(frameAt(r, next))) {
    r.need(frameAt(r, next));
    return; // wait for what is still being unpacked
  }
  page.time = next;
  const last = r.time[r.shown - 1];
  if (page.time >= last) {
    page.time = last;
    setFrame(r.shown - 1, true);
    play(false);
    return;
  }
  const frame = frameAt(r, page.time);
  if (frame !== page.frame) setFrame(frame, true);
}

// ---- pictures

// Puts the frame of the file with this number, or the one before, on the stage.
async function prepare(number) {
  const r = run();
  let frame = 0;
  while (frame + 1 < r.shown && r.series.frame[frame + 1] <= number) frame++;
  await r.need(frame);
  if (split()) await page.runs[page.left].need(frameAt(page.runs[page.left], r.time[frame]));
  setFrame(frame);
  showFrame();
  return `${r.time[frame].toFixed(2)} s`;
}

// What carom render asks for; layers: a list of names, look: [around, above, nearer] or null.
function shooter({ theme, layers, look }) {
  play(false);
  setTheme(theme);
  for (const name of layers) page.layers[name] = true;
  if (look) view.look(...look);
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);
  return new Shooter({ view, prepare, ink: () => style("--soft"), paper: () => style("--paper") });
}

// ---- the start

async function start() {
  page.head = await openPage();
  page.runs = page.head.runs;
  for (const r of page.runs) r.opened = r.mesh === r.index ? r.open(page.runs) : page.runs[r.mesh].opened.then(() => r.open(page.runs));
  page.right = page.runs.length > 1 ? page.runs.length - 1 : 0;
  await Promise.all([page.runs[0].opened, run().opened]);
  page.up = upOf(run());
  page.bounds = boundsOf(run(), page.up);
  try {
    page.fast = location.hash !== "#fine" && drawsInSoftware();
    view = new View($("view"), page.bounds, page.up, page.fast);
  } catch {
    throw new Trouble("This browser cannot draw in three dimensions (WebGL is off or not there). carom export writes files for other programs.");
  }
  chart = new Chart($("chart"), (i) => { play(false); setFrame(i); });
  curve = new Chart($("curve"), (i) => setIteration(iterationAt(i)));
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  fillControls();
  tellAbout();
  listen();
  arrange();
  view.home();
  page.pictures = 0;
  if (page.runs.length > 1) {
    $("iterations").hidden = page.runs.length < 3;
    Object.assign($("iteration"), { min: 1, max: page.runs.length - 1 });
    $("curve-plot").hidden = !page.head.objective;
    setIteration(page.right);
    if (page.head.objective) plotCurve();
  }
  plot();
  setFrame(0);
  requestAnimationFrame(tick);
  await loadRest();
}

async function loadRest() {
  const order = [run(), ...page.runs.filter((r) => r !== run())];
  for (const r of order) {
    await r.opened;
    await r.rest();
  }
  measureArrows();
  tellNotes();
  $("scrub").max = run().shown - 1;
  plot();
  page.loaded = performance.now();
  dirty = true;
}

function trouble(error) {
  $("trouble").hidden = false;
  $("trouble-text").textContent = error instanceof Trouble ? error.message : `Something went wrong: ${error.message}`;
  if (!(error instanceof Trouble)) console.error(error);
}

// What programs may ask of the page: tests, and carom render.
window.carom = { page, play, setFrame, setSpeed, setTheme, toggleLayer, choose, setIteration, shooter, view: () => view };
start().catch(trouble);
