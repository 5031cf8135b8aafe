// How fast large motions open and play. Wall times depend on what else the machine does; the
// processor time that the browser takes does so much less, and either of them has to be good.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser, carom, loaded, open, room, shot, spent } from "./kit.js";
import { thousandCubes, wavySheet } from "./synthetic.js";

const openMost = 3000; // ms
const pictureMost = 2 * (1000 / 30); // ms of processor: 30 pictures a second on two, which drawing in software is spread over

let b;
before(async () => { b = await browser(); });
after(async () => { await b.close(); });

async function measure(name, make) {
  const file = join(room, `${name}.carom`), html = join(room, `${name}.html`);
  if (!existsSync(file)) make(file);
  carom("view", file, "--out", html, "--every", "1");
  const before = spent();
  const page = await open(b, html);
  await page.waitForFunction(() => window.carom?.page.opened > 0, null, { timeout: 120000 });
  const openedAfter = spent() - before;
  await loaded(page);
  await page.evaluate(() => { window.carom.play(true); });
  await page.waitForTimeout(1500); // it finds its pace
  const look = () => page.evaluate(() => ({ pictures: window.carom.page.pictures, now: performance.now(), opened: window.carom.page.opened, loaded: window.carom.page.loaded, level: window.carom.view().level }));
  const first = await look(), used = spent();
  await page.waitForTimeout(2000);
  const last = await look(), took = spent() - used, pictures = last.pictures - first.pictures;
  await page.evaluate(() => window.carom.play(false));
  await page.waitForTimeout(700);
  await shot(page, `pace-${name}`);
  const told = { opened: Math.round(last.opened), opened_cpu: openedAfter, loaded: Math.round(last.loaded),
    per_second: Math.round((1000 * pictures) / (last.now - first.now)), picture_cpu: Math.round(took / pictures), level: last.level };
  console.log(`${name}: open after ${told.opened} ms (${told.opened_cpu} ms of processor), all unpacked after ${told.loaded} ms, ${told.per_second} pictures/s (${told.picture_cpu} ms of processor each, level ${told.level})`);
  assert.deepEqual(page.said, []);
  await page.close();
  return told;
}

for (const [name, make] of [["thousand", thousandCubes], ["sheet", wavySheet]]) {
  test(`${name}: opens in 3 s, plays at 30 pictures a second`, async () => {
    const told = await measure(name, make);
    assert.ok(Math.min(told.opened, told.opened_cpu) < openMost, `it opened after ${told.opened} ms, ${told.opened_cpu} ms of processor`);
    assert.ok(told.per_second >= 30 || told.picture_cpu < pictureMost, `${told.per_second} pictures a second, ${told.picture_cpu} ms of processor each`);
  });
}
