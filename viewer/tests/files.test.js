// What the program writes for others: glTF by Khronos's own validator, pictures and films.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { browser, carom, program, room, table, trajectory } from "./kit.js";

const { validateBytes } = createRequire(import.meta.url)("gltf-validator");

function glb(path) {
  const bytes = readFileSync(path), length = bytes.readUInt32LE(12);
  const data = bytes.subarray(20 + length + 8);
  return { json: JSON.parse(bytes.subarray(20, 20 + length)), data };
}

// Numbers of an accessor.
function numbers({ json, data }, index) {
  const a = json.accessors[index], v = json.bufferViews[a.bufferView];
  const width = { SCALAR: 1, VEC3: 3, VEC4: 4 }[a.type];
  const slice = data.buffer.slice(data.byteOffset + v.byteOffset, data.byteOffset + v.byteOffset + v.byteLength);
  return { width, list: new Float32Array(slice) };
}

for (const [name, ending, every] of [["bag", "glb", 1], ["bag", "gltf", 20], ["tower", "glb", 1], ["trampoline", "glb", 4], ["marble", "glb", 3]]) {
  test(`${name}.${ending} is valid glTF`, async () => {
    const out = join(room, `${name}.${ending}`);
    carom("export", trajectory(name), "--format", "gltf", "--out", out, "--every", String(every));
    const report = await validateBytes(new Uint8Array(readFileSync(out)));
    assert.equal(report.issues.numErrors, 0, JSON.stringify(report.issues.messages));
    assert.equal(report.issues.numWarnings, 0, JSON.stringify(report.issues.messages));
    assert.equal(report.info.animationCount, 1);
  });
}

test("what moves in glTF moves as in the trajectory", () => {
  const out = join(room, "tower.glb");
  carom("export", trajectory("tower"), "--format", "gltf", "--out", out);
  const file = glb(out), rows = table(trajectory("tower"), "bodies");
  const [animation] = file.json.animations;
  let compared = 0;
  for (const { sampler, target } of animation.channels) {
    const body = file.json.nodes[target.node].name, s = animation.samplers[sampler];
    const times = numbers(file, s.input).list, { width, list } = numbers(file, s.output);
    const columns = { translation: ["x", "y", "z"], rotation: ["qx", "qy", "qz", "qw"] }[target.path];
    for (const row of rows.filter((r) => r.body === body)) {
      assert.ok(Math.abs(times[row.frame] - row.time) < 1e-6);
      const got = columns.map((_, k) => list[width * row.frame + k]), want = columns.map((c) => row[c]);
      const sign = width === 4 && got.reduce((sum, g, k) => sum + g * want[k], 0) < 0 ? -1 : 1;
      got.forEach((g, k) => assert.ok(Math.abs(sign * g - want[k]) < 1e-5, `${body} ${columns[k]} of frame ${row.frame}`));
      compared++;
    }
  }
  assert.ok(compared > 1000);
});

const pngSize = (bytes) => [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];

// How many pictures a browser finds in a film, and their size.
async function filmOf(bytes) {
  const b = await browser();
  const page = await b.newPage();
  const blank = join(room, "blank.html"); // a place where a browser decodes
  writeFileSync(blank, "<!doctype html>");
  await page.goto(`file://${blank}`);
  const told = await page.evaluate(async (letters) => {
    const decoder = new ImageDecoder({ type: "image/gif", data: Uint8Array.fromBase64(letters) });
    await decoder.tracks.ready;
    await decoder.completed;
    const count = decoder.tracks.selectedTrack.frameCount, sizes = [];
    for (let frameIndex = 0; frameIndex < count; frameIndex++) {
      const { image } = await decoder.decode({ frameIndex });
      sizes.push(`${image.displayWidth}x${image.displayHeight}`);
      image.close();
    }
    return { count, sizes: [...new Set(sizes)] };
  }, bytes.toString("base64"));
  await b.close();
  return told;
}

test("carom render makes a picture, a sheet and a film", async () => {
  const one = join(room, "one.png"), sheet = join(room, "sheet.png"), film = join(room, "film.gif");
  carom("render", trajectory("bag"), "--frames", "60", "--out", one, "--size", "320x200", "--show", "zones,contacts");
  let bytes = readFileSync(one);
  assert.equal(bytes.subarray(1, 4).toString(), "PNG");
  assert.deepEqual(pngSize(bytes), [320, 200]);
  assert.ok(bytes.length > 3000, "it is not empty");
  carom("render", trajectory("bag"), "--frames", "0,40,80,-1", "--out", sheet, "--size", "400x250", "--theme", "dark");
  assert.deepEqual(pngSize(readFileSync(sheet)), [400, 2 * Math.round((198 * 250) / 400) + 4]);
  carom("render", trajectory("bag"), "--every", "0.2", "--out", film, "--size", "160x100");
  bytes = readFileSync(film);
  assert.equal(bytes.subarray(0, 6).toString(), "GIF89a");
  assert.deepEqual([bytes.readUInt16LE(6), bytes.readUInt16LE(8)], [160, 100]);
  assert.deepEqual(await filmOf(bytes), { count: 7, sizes: ["160x100"] });
});

test("what cannot be drawn is told", () => {
  const no = (...args) => {
    const r = spawnSync(program, args, { encoding: "utf8" });
    assert.equal(r.stdout, "");
    return [r.status, r.stderr];
  };
  const foreign = join(room, "foreign.carom");
  writeFileSync(foreign, "solid this is no trajectory\n");
  assert.deepEqual(no("view", foreign)[0], 2);
  assert.match(no("view", foreign)[1], /cannot be read as a trajectory/);
  assert.match(no("render", trajectory("bag"), "--out", "x.jpg")[1], /has to end with \.png, \.gif or \.mp4/);
  assert.match(no("render", trajectory("bag"), "--out", "x.png", "--frames", "9999")[1], /there is no frame 9999/);
  const without = spawnSync(program, ["view", trajectory("bag"), "--out", join(room, "never.html")], { encoding: "utf8", env: { ...process.env, CAROM_SHARE: room } });
  assert.equal(without.status, 1);
  assert.match(without.stderr, /make viewer/);
  const blind = spawnSync(program, ["render", trajectory("bag"), "--out", join(room, "never.png")], { encoding: "utf8", env: { ...process.env, CAROM_BROWSER: "/nonexistent/browser" } });
  assert.equal(blind.status, 1);
  assert.match(blind.stderr, /browser/);
  let film = 0;
  try {
    execFileSync("sh", ["-c", "command -v ffmpeg"]);
    film = 1;
  } catch {
    assert.match(no("render", trajectory("bag"), "--out", join(room, "x.mp4"))[1], /no ffmpeg here/);
  }
  if (film) carom("render", trajectory("bag"), "--every", "0.3", "--out", join(room, "x.mp4"), "--size", "160x100");
});
