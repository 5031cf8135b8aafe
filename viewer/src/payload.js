// The data a page holds: blocks of letters that carom wrote (docs/viewer.md), unpacked when they
// are needed. Nothing here knows how it is drawn.

export class Trouble extends Error {}

function lettersToBytes(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

async function unpack(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

function findBlocks() {
  const found = new Map();
  for (const node of document.querySelectorAll('script[type="application/x-carom"]')) {
    found.set(node.dataset.block, node);
  }
  return found;
}

// Takes a block out of the page; its letters are not needed a second time.
async function take(blocks, name) {
  const node = blocks.get(name);
  if (!node) throw new Trouble(`the block "${name}" is missing`);
  const buffer = await unpack(lettersToBytes(node.textContent));
  blocks.delete(name);
  node.remove();
  return buffer;
}

// Undoes put_channel of src/cli/page.c: three planes of bytes, what differs from going on as before.
// Gives numbers of `frames` rows of `width`.
function channel(bytes, at, width, frames, quantum) {
  const count = width * frames;
  const out = new Float32Array(count);
  let one = new Int32Array(width), two = new Int32Array(width);
  for (let f = 0, i = 0; f < frames; f++) {
    const now = f === 0 ? one : two; // the oldest row makes room for the new one
    for (let k = 0; k < width; k++, i++) {
      const rest = bytes[at + i] | (bytes[at + count + i] << 8) | (bytes[at + 2 * count + i] << 16);
      const guess = f === 0 ? 0 : f === 1 ? one[k] : 2 * one[k] - two[k];
      const x = ((guess + rest) << 8) >> 8; // 24 bits with a sign
      now[k] = x;
      out[i] = x * quantum;
    }
    if (f > 0) {
      two = one;
      one = now;
    }
  }
  return out;
}

const widths = (run) => {
  const b = run.bodies.length;
  return [3 * b, 4 * b, 3 * b, 3 * b, 3 * run.nodes];
};
export const seriesNames = ["frame", "step", "time", "kinetic", "gravity", "elastic", "total", "contacts", "zones", "gap"];

const cutNote = (run, k) => `The page was cut off: ${k * run.block} of ${run.frames} frames are in it. `;

// One motion: what stays is there at once, frames come block by block.
export class Run {
  constructor(blocks, head, index) {
    Object.assign(this, head);
    this.index = index;
    this.blocks = blocks;
    this.blockCount = Math.ceil(this.frames / this.block);
    this.ready = new Array(this.blockCount).fill(null);
    this.touching = new Array(this.blockCount).fill(null);
    this.pulls = new Array(this.blockCount).fill(null);
    this.waiting = new Map();
  }

  async open(runs) {
    if (this.mesh !== this.index) {
      const from = runs[this.mesh];
      await from.opened;
      this.vertexData = from.vertexData;
      this.faceData = from.faceData;
    } else {
      const mesh = await take(this.blocks, `${this.index}.mesh`);
      this.vertexData = new Float32Array(mesh, 0, 3 * this.vertices);
      this.faceData = new Int32Array(mesh, 12 * this.vertices, 3 * this.faces);
    }
    const series = await take(this.blocks, `${this.index}.series`);
    this.series = {};
    seriesNames.forEach((name, k) => {
      this.series[name] = new Float64Array(series, 8 * k * this.frames, this.frames);
    });
    this.time = this.series.time;
    await this.need(0);
  }

  // Unpacks the block of a frame, once.
  need(frame) {
    const k = Math.floor(frame / this.block);
    if (this.ready[k]) return Promise.resolve(this.ready[k]);
    if (!this.waiting.has(k)) {
      this.waiting.set(k, this.unpackBlock(k).catch(() => this.cutAt(k)));
    }
    return this.waiting.get(k);
  }

  // A block that cannot be unpacked: the page was cut off in it, and plays what is before.
  cutAt(k) {
    if (k * this.block < this.shown) {
      this.shown = k * this.block;
      this.note = cutNote(this, k) + this.note;
    }
    return null;
  }

  async unpackBlock(k) {
    const frames = Math.min(this.block, this.frames - k * this.block);
    const bytes = new Uint8Array(await take(this.blocks, `${this.index}.frames.${k}`));
    const width = widths(this);
    const data = [];
    let at = 0;
    for (let c = 0; c < width.length; c++) {
      data.push(channel(bytes, at, width[c], frames, this.quantum[c]));
      at += 3 * width[c] * frames;
    }
    this.ready[k] = data;
    if (this.blocks.has(`${this.index}.contacts.${k}`)) {
      this.touching[k] = contactFrames(await take(this.blocks, `${this.index}.contacts.${k}`), frames);
    }
    if (this.gradients && this.blocks.has(`${this.index}.gradients.${k}`)) {
      this.pulls[k] = new Float32Array(await take(this.blocks, `${this.index}.gradients.${k}`));
    }
    return data;
  }

  // All blocks that are left, with pauses for the page to breathe.
  async rest(progress) {
    for (let k = 0; k < this.blockCount; k++) {
      await this.need(k * this.block);
      progress?.();
      await new Promise((go) => setTimeout(go));
    }
  }

  has(frame) {
    return this.ready[Math.floor(frame / this.block)] !== null;
  }

  // A view of one channel's row: 0 positions, 1 quaternions (w,x,y,z), 2 velocities, 3 spins, 4 nodes.
  row(frame, c) {
    const k = Math.floor(frame / this.block);
    const w = widths(this)[c];
    const i = frame - k * this.block;
    return this.ready[k]?.[c].subarray(i * w, (i + 1) * w);
  }

  contacts(frame) {
    const k = Math.floor(frame / this.block);
    return this.touching[k]?.[frame - k * this.block] ?? null;
  }

  // dL/dposition and dL/dforce of all bodies, then dL/dx of all nodes, or null.
  gradient(frame) {
    const k = Math.floor(frame / this.block);
    const w = 6 * this.bodies.length + 3 * this.nodes;
    const i = frame - k * this.block;
    return this.pulls[k]?.subarray(i * w, (i + 1) * w) ?? null;
  }

  body(frame, b) {
    const p = this.row(frame, 0), v = this.row(frame, 2), w = this.row(frame, 3);
    if (!p) return null;
    const three = (a) => [a[3 * b], a[3 * b + 1], a[3 * b + 2]];
    const g = this.gradient(frame);
    const n = 3 * this.bodies.length;
    return {
      position: three(p), velocity: three(v), spin: three(w),
      dposition: g && three(g), dforce: g && three(g.subarray(n)),
    };
  }
}

function contactFrames(buffer, frames) {
  const whole = new Int32Array(buffer), real = new Float32Array(buffer);
  const list = [];
  for (let f = 0, at = 0; f < frames; f++) {
    const count = whole[at];
    list.push({ count, whole: whole.subarray(at + 1, at + 1 + 9 * count), real: real.subarray(at + 1, at + 1 + 9 * count) });
    at += 1 + 9 * count;
  }
  return list;
}

// What the page holds. Trouble with a sentence for people when it is not what it should be.
export async function openPage() {
  const blocks = findBlocks();
  if (!blocks.has("head")) {
    throw new Trouble("There is no trajectory in this page. carom view FILE writes one that has.");
  }
  if (typeof DecompressionStream === "undefined") {
    throw new Trouble("This browser is too old to unpack the trajectory; any from 2023 on can.");
  }
  let head;
  try {
    head = JSON.parse(new TextDecoder().decode(await take(blocks, "head")));
  } catch {
    throw new Trouble("The trajectory in this page cannot be read: the page is damaged or was cut off while it was copied. carom view makes it anew.");
  }
  if (head.version !== 1) {
    throw new Trouble(`The trajectory in this page is of version ${head.version}; this page can play version 1.`);
  }
  head.runs = head.runs.map((r, i) => new Run(blocks, r, i));
  // A page that was cut off plays what is there.
  for (const run of head.runs) {
    let k = 0;
    while (k < run.blockCount && blocks.has(`${run.index}.frames.${k}`)) k++;
    if (k < run.blockCount) {
      if (k === 0) throw new Trouble("The page was cut off before its first frame. carom view makes it anew.");
      run.note = cutNote(run, k) + run.note;
      run.shown = k * run.block;
    } else {
      run.shown = run.frames;
    }
  }
  return head;
}
