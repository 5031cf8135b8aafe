// What the tests share: the program, a browser, pages made by the one for the other.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
export const program = process.env.CAROM ?? join(root, "build/carom");
export const room = process.env.CAROM_VIEWER_ROOM ?? join(root, "build/viewer-tests");
export const example = (name) => join(root, "examples", `${name}.json`);
mkdirSync(room, { recursive: true });

export function carom(...args) {
  return execFileSync(program, args, { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });
}

// A trajectory of an example, made once.
export function trajectory(name, ...args) {
  const file = join(room, `${name}.carom`);
  if (!existsSync(file)) carom("run", example(name), "--out", file, "--json", ...args);
  return file;
}

// Rows of a table of carom export, by the names of its columns.
export function table(file, name) {
  const [head, ...lines] = carom("export", file, "--format", "csv", "--table", name).trim().split("\n");
  const columns = head.split(",");
  return lines.map((line) => Object.fromEntries(line.split(",").map((v, i) => [columns[i], v.startsWith('"') ? v.slice(1, -1) : Number(v)])));
}

// composed by the processor: a browser without a graphics processor spends most of its time there else
const flags = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-gpu-compositing"];
export async function browser() {
  return chromium.launch({ executablePath: process.env.CAROM_BROWSER ?? "/usr/bin/chromium", args: ["--no-sandbox", ...flags] });
}

// Opens a page and keeps what its console says.
export async function open(b, file, options = {}) {
  const page = await b.newPage({ viewport: { width: 1280, height: 800 }, ...options });
  page.said = [];
  // the driver's remarks on speed are not the page's
  const driver = /^\[\.WebGL-\w+\]GL Driver Message \(OpenGL, Performance,/;
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && !driver.test(m.text()) && page.said.push(m.text()));
  page.on("pageerror", (e) => page.said.push(String(e)));
  await page.goto(`file://${file}`);
  return page;
}

export async function loaded(page) {
  await page.waitForFunction(() => window.carom?.page.loaded > 0, null, { timeout: 60000 });
}

export const shot = (page, name) => page.screenshot({ path: join(room, `${name}.png`) });

// Milliseconds of processor that a browser has used so far, with all of its helpers: other work on
// the machine does not change it much.
export function spent() {
  const known = new Map();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const text = readFileSync(`/proc/${name}/stat`, "latin1");
      const field = text.slice(text.lastIndexOf(")") + 2).split(" ");
      known.set(Number(name), { parent: Number(field[1]), ticks: Number(field[11]) + Number(field[12]) });
    } catch {
      // it ended meanwhile
    }
  }
  const mine = new Set([process.pid]);
  for (let deep = 0; deep < 8; deep++) for (const [id, { parent }] of known) if (mine.has(parent)) mine.add(id);
  mine.delete(process.pid);
  return [...mine].reduce((sum, id) => sum + 10 * (known.get(id)?.ticks ?? 0), 0);
}
