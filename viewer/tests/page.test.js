// Pages made by the real program, in a real browser: the controls are pressed, and the numbers shown
// are held against the trajectory's own tables.
import assert from "node:assert/strict";
import { copyFileSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser, carom, example, loaded, open, room, shot, table, trajectory } from "./kit.js";

let b;
before(async () => { b = await browser(); });
after(async () => { await b.close(); });

const html = (name) => join(room, `${name}.html`);
function pageOf(name) {
  carom("view", trajectory(name), "--out", html(name));
  return html(name);
}

const numbersIn = (text) => text.match(/-?\d+(\.\d+)?(e-?\d+)?/g).map(Number);
const near = (a, b, by) => assert.ok(Math.abs(a - b) <= by, `${a} is not ${b} to ${by}`);
const quiet = (page) => assert.deepEqual(page.said, []);
const frameShown = (page) => page.evaluate(() => window.carom.page.frame);

async function seek(page, frame) {
  await page.locator("#scrub").fill(String(frame));
  await page.waitForFunction((f) => document.getElementById("scrub").value === String(f) && window.carom.view().stages.every((s) => s.frame >= 0), frame);
  await page.waitForTimeout(80);
}

// A body is chosen where it is seen: its middle, in the window's own pixels.
async function clickBody(page, name) {
  const at = await page.evaluate((who) => {
    const { page: p, view } = window.carom;
    const v = view(), run = p.runs[p.right], i = run.bodies.findIndex((x) => x.name === who);
    const [x, y, z] = run.body(p.frame, i).position;
    const c = v.camera.position.clone().set(x, y, z).project(v.camera), box = v.canvas.getBoundingClientRect();
    return { x: box.left + ((c.x + 1) / 2) * box.width, y: box.top + ((1 - c.y) / 2) * box.height };
  }, name);
  await page.mouse.click(at.x, at.y);
  return at;
}

test("the numbers shown are those of the trajectory", async () => {
  const file = trajectory("tower"), page = await open(b, pageOf("tower"));
  await loaded(page);
  const bodies = table(file, "bodies"), energies = table(file, "energies");
  for (const frame of [0, 37, 150, 300]) {
    await seek(page, frame);
    const time = numbersIn(await page.locator("#time").innerText());
    near(time[0], energies[frame].time, 5e-4);
    const legend = numbersIn(await page.locator("#legend").innerText());
    const e = energies[frame];
    [e.kinetic, e.gravity, e.total].forEach((v, i) => near(legend[i], v, 5.1e-4 * Math.abs(v)));
    for (const row of bodies.filter((r) => r.frame === frame)) {
      await page.evaluate((name) => window.carom.choose(window.carom.page.runs[0].bodies.findIndex((x) => x.name === name)), row.body);
      await page.waitForFunction((name) => document.getElementById("body-name").textContent === name, row.body);
      const p = numbersIn(await page.locator("#body-position").innerText());
      const v = numbersIn(await page.locator("#body-velocity").innerText());
      ["x", "y", "z"].forEach((k, i) => near(p[i], row[k], 1e-4));
      ["vx", "vy", "vz"].forEach((k, i) => near(v[i], row[k], 1e-4));
    }
  }
  for (const [what, column] of [["contacts", "contacts"], ["zones", "zones"]]) {
    await page.locator("#quantity").selectOption(what);
    await seek(page, 120);
    assert.equal(numbersIn(await page.locator("#legend").innerText()).at(-1), energies[120][column]);
  }
  await shot(page, "numbers");
  quiet(page);
  await page.close();
});

test("a body tells its name where the pointer is, and a click follows it", async () => {
  const file = trajectory("tower"), page = await open(b, html("tower"));
  await loaded(page);
  const ball = table(file, "bodies").find((r) => r.frame === 0 && r.body === "ball");
  assert.ok(ball, "the tower has a ball");
  const at = await clickBody(page, "ball");
  await page.waitForSelector("#body:not([hidden])");
  assert.equal(await page.locator("#body-name").innerText(), "ball");
  near(numbersIn(await page.locator("#body-mass").innerText())[0], JSON.parse(carom("info", file, "--json")).bodies.find((x) => x.name === "ball").mass, 1e-2);
  await page.mouse.move(at.x + 1, at.y + 1);
  await page.waitForSelector("#tip:not([hidden])");
  const tip = await page.locator("#tip").innerText();
  assert.match(tip, /^ball \(rigid\)/);
  near(numbersIn(tip.split("\n")[2])[0], ball.x, 1e-4);
  const target = () => page.evaluate(() => window.carom.view().controls.target.toArray());
  const before = await target();
  await page.keyboard.press("f");
  await seek(page, 60);
  const moved = await target(), row = table(file, "bodies").find((r) => r.frame === 60 && r.body === "ball");
  near(moved[0] - before[0], row.x - ball.x, 1e-3);
  await shot(page, "follow");
  quiet(page);
  await page.close();
});

test("play, pause, step, speed and keys", async () => {
  const page = await open(b, html("tower"));
  await loaded(page);
  await page.locator("#speed").selectOption({ label: "0.25×" });
  await page.locator("#play").click();
  await page.waitForFunction(() => window.carom.page.frame > 5);
  await page.locator("#play").click();
  const here = await frameShown(page);
  await page.waitForTimeout(200);
  assert.equal(await frameShown(page), here);
  await page.locator("#forth").click();
  assert.equal(await frameShown(page), here + 1);
  await page.locator("#back").click();
  await page.locator("#back").click();
  assert.equal(await frameShown(page), here - 1);
  await page.keyboard.press("End");
  assert.equal(await frameShown(page), 300);
  await page.keyboard.press("Home");
  await page.keyboard.press("Shift+ArrowRight");
  assert.equal(await frameShown(page), 10);
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.evaluate(() => window.carom.page.speed), 0.1);
  await page.keyboard.press(" ");
  await page.waitForFunction(() => window.carom.page.playing && window.carom.page.frame > 11);
  await page.keyboard.press(" ");
  const box = await page.locator("#chart").boundingBox();
  await page.mouse.click(box.x + 52 + (box.width - 62) / 2, box.y + 40);
  near(await frameShown(page), 150, 2);
  await page.keyboard.press("d");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await page.waitForTimeout(400);
  await shot(page, "dark");
  quiet(page);
  await page.close();
});

test("contacts, forces and zones are those of the frame", async () => {
  const file = trajectory("bag"), page = await open(b, pageOf("bag"));
  await loaded(page);
  const contacts = table(file, "contacts"), frame = 100;
  const mine = contacts.filter((c) => c.frame === frame);
  await seek(page, frame);
  for (const key of ["c", "a", "z"]) await page.keyboard.press(key);
  await page.waitForFunction(() => window.carom.view().stages[0].dots.count > 0);
  await page.waitForTimeout(400);
  const seen = await page.evaluate(() => {
    const s = window.carom.view().stages[0], r = window.carom.page.runs[0];
    return { dots: s.dots.count, arrows: s.forces.count, zone: [...s.inZone].map((i) => r.bodies[i].name).sort(),
      force: [...r.contacts(100).real.subarray(6, 9)], red: s.sheets[0].geometry.attributes.color.array.filter((v, i) => i % 3 === 0 && v > 0).length };
  });
  assert.equal(seen.dots, mine.length);
  assert.equal(seen.arrows, mine.filter((c) => c.jx || c.jy || c.jz).length);
  assert.deepEqual(seen.zone, [...new Set(mine.flatMap((c) => [c.a, c.b]))].sort());
  ["jx", "jy", "jz"].forEach((k, i) => near(seen.force[i], mine[0][k] / 0.01, 1e-5 * Math.abs(mine[0][k] / 0.01) + 1e-6));
  assert.ok(seen.red > 0, "some of the cloth is in a zone");
  await shot(page, "zones");
  quiet(page);
  await page.close();
});

test("gradients of carom grad --out are arrows", async () => {
  const file = join(room, "grad.carom");
  const told = JSON.parse(carom("grad", example("throw"), "--out", file, "--json"));
  carom("view", file, "--out", html("grad"));
  const page = await open(b, html("grad"));
  await loaded(page);
  await page.keyboard.press("g");
  await page.evaluate(() => window.carom.choose(window.carom.page.runs[0].bodies.findIndex((x) => x.name === "box")));
  await seek(page, 0);
  await page.waitForFunction(() => window.carom.view().stages[0].pulls.count > 0);
  await page.waitForTimeout(400);
  // a step's force f adds f dt/m to the velocity, which also moves the place: dL/dv follows from both
  const felt = await page.evaluate(() => {
    const r = window.carom.page.runs[0], b = r.bodies.findIndex((x) => x.name === "box");
    return { ...r.body(0, b), mass: r.bodies[b].mass, dt: r.dt };
  });
  const velocity = told.parameters.find((p) => p.name === "box.velocity").gradient;
  velocity.forEach((g, i) => near((felt.dforce[i] * felt.mass) / felt.dt, g, 2e-2 * Math.abs(g) + 1e-4));
  assert.match(await page.locator("#body-grad").innerText(), /\d/);
  await shot(page, "gradients");
  quiet(page);
  await page.close();
});

test("before and after of an optimisation, iteration by iteration", async () => {
  const folder = join(room, "throw-history");
  rmSync(folder, { recursive: true, force: true });
  const told = JSON.parse(carom("optimize", example("throw"), "--history", folder, "--iterations", "8", "--json"));
  carom("view", folder, "--out", html("history"));
  const page = await open(b, html("history"));
  await loaded(page);
  const rows = readFileSync(join(folder, "objective.csv"), "utf8").trim().split("\n").slice(1).map((l) => l.split(","));
  assert.equal(rows.length, told.iterations + 1);
  near(Number(rows[0][1]), told.objective_start, 1e-12);
  near(Number(rows.at(-1)[1]), told.objective_end, 1e-12);
  assert.equal(await page.evaluate(() => window.carom.view().stages.length), 2);
  for (const i of [1, Math.ceil(told.iterations / 2), told.iterations]) {
    await page.locator("#iteration").fill(String(i));
    await page.waitForFunction((n) => document.getElementById("iteration-text").textContent.startsWith(`${n} `), i);
    const shown = numbersIn(await page.locator("#iteration-text").innerText());
    near(shown[1], Number(rows[i][1]), 1e-3 * Number(rows[i][1]));
  }
  await seek(page, 200);
  const after = table(join(folder, rows.at(-1)[3]), "bodies").find((r) => r.frame === 200 && r.body === "box");
  const seen = await page.evaluate(() => window.carom.page.runs.at(-1).body(200, window.carom.page.runs[0].bodies.findIndex((x) => x.name === "box")).position);
  near(seen[0], after.x, 1e-5);
  await page.waitForTimeout(400);
  await shot(page, "history");
  quiet(page);
  await page.close();
});

test("on a phone", async () => {
  const page = await open(b, html("bag"), { viewport: { width: 390, height: 780 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true });
  await loaded(page);
  await seek(page, 60);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `the page is ${wide} wide`);
  for (const id of ["play", "scrub", "speed", "chart"]) {
    const box = await page.locator(`#${id}`).boundingBox();
    assert.ok(box && box.x >= 0 && box.x + box.width <= 390.5 && box.y + box.height <= 780, `${id} is in the picture`);
  }
  await page.locator("#play").tap();
  await page.waitForFunction(() => window.carom.page.playing);
  await shot(page, "phone");
  quiet(page);
  await page.close();
});

test("a page that was cut off or holds nothing says so", async () => {
  const whole = readFileSync(html("tower"), "latin1");
  const file = html("cut");
  const second = whole.indexOf('data-block="0.frames.1"');
  writeFileSync(file, whole.slice(0, second + 2000), "latin1");
  let page = await open(b, file);
  await loaded(page);
  assert.match(await page.locator("#note").innerText(), /cut off: 256 of 301 frames/);
  await page.keyboard.press("End");
  assert.equal(await frameShown(page), 255);
  await page.close();

  const head = whole.indexOf('data-block="head"');
  writeFileSync(file, whole.slice(0, head + 60), "latin1");
  page = await open(b, file);
  await page.waitForSelector("#trouble:not([hidden])");
  assert.match(await page.locator("#trouble-text").innerText(), /damaged or was cut off/);
  await page.close();

  copyFileSync(new URL("../dist/viewer.html", import.meta.url), file);
  page = await open(b, file);
  await page.waitForSelector("#trouble:not([hidden])");
  assert.match(await page.locator("#trouble-text").innerText(), /no trajectory in this page/);
  await shot(page, "trouble");
  quiet(page);
  await page.close();
});

test("a trajectory that was cut off is shown as far as it goes", async () => {
  const file = join(room, "cut.carom");
  writeFileSync(file, readFileSync(trajectory("tower")).subarray(0, statSync(trajectory("tower")).size / 2));
  carom("view", file, "--out", html("cut"));
  const page = await open(b, html("cut"));
  await loaded(page);
  assert.match(await page.locator("#note").innerText(), /not whole .* stops in the middle/);
  quiet(page);
  await page.close();
});

test("the page itself is small", () => {
  assert.ok(statSync(new URL("../dist/viewer.html", import.meta.url)).size < 2e6);
  assert.ok(!/https?:\/\/(?!www\.w3\.org|github\.com|threejs\.org|[a-z.]*khronos\.org)[a-z]/.test(readFileSync(html("bag"), "latin1").replace(/application\/x-carom[^<]*/g, "").match(/<(script|link|img)[^>]*(src|href)=[^>]*>/g)?.join() ?? ""), "it asks for nothing from elsewhere");
});
