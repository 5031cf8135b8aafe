// Trajectory files written from their description alone (docs/trajectory.md), for motions that would
// take long to simulate.
import { closeSync, openSync, writeSync } from "node:fs";

// zlib's, which node has from 20.15 on only.
const remainders = Int32Array.from({ length: 256 }, (_, byte) => {
  let r = byte;
  for (let bit = 0; bit < 8; bit++) r = r & 1 ? (r >>> 1) ^ 0xedb88320 : r >>> 1;
  return r;
});
function crc32(bytes, before = 0) {
  let r = ~before;
  for (const byte of bytes) r = remainders[(r ^ byte) & 255] ^ (r >>> 8);
  return ~r;
}

function chunk(file, type, payload) {
  const padded = Buffer.alloc(Math.ceil(payload.length / 8) * 8);
  payload.copy(padded);
  const head = Buffer.alloc(16);
  head.write(type, 0, "latin1");
  head.writeBigUInt64LE(BigInt(padded.length), 8);
  const sum = crc32(padded, crc32(Buffer.concat([head.subarray(0, 4), head.subarray(8)])));
  head.writeUInt32LE(sum >>> 0, 4);
  writeSync(file, head);
  writeSync(file, padded);
}

const ints = (...v) => Buffer.from(new Int32Array(v).buffer);
const reals = (v) => Buffer.from(new Float64Array(v).buffer);

function bodyRecord({ kind, frame, vertices, edges, faces, name, thickness, mass }) {
  const text = Buffer.alloc(Math.ceil((name.length + 1) / 8) * 8);
  text.write(name);
  const numbers = [thickness, 0, 0, mass, mass, mass, mass, 0, 0, 0, 1, 0, 0, 0];
  return Buffer.concat([ints(kind, frame, vertices, edges, faces, 0, -1, text.length), reals(numbers), text]);
}

// model: {bodies: [...], vertices: [x,y,z,...], edges, faces: [...], nodes}; frameAt(i) gives
// {t, q, v, om, x, xv} as flat lists.
export function writeTrajectory(path, model, frames, dt, frameAt) {
  const file = openSync(path, "w");
  const order = Buffer.alloc(8);
  order.writeUInt32LE(1, 0);
  order.writeUInt32LE(0x01020304, 4);
  writeSync(file, Buffer.concat([Buffer.from("CAROMTRJ"), order]));
  const moving = model.bodies.filter((b) => b.kind !== 3).length;
  chunk(file, "HEAD", Buffer.concat([
    ints(model.bodies.length, model.vertices.length / 3, model.edges.length / 2, model.faces.length / 3, moving, model.nodes, 1, 0),
    reals([dt, 0, 0, -9.8])]));
  chunk(file, "BODY", Buffer.concat(model.bodies.map(bodyRecord)));
  const pad = (b) => Buffer.concat([b, Buffer.alloc((8 - (b.length % 8)) % 8)]);
  chunk(file, "MESH", Buffer.concat([reals(model.vertices), pad(ints(...model.edges)), pad(Buffer.from(new Int32Array(model.faces).buffer))]));
  chunk(file, "NODE", Buffer.concat([reals(new Array(model.nodes).fill(0.001)), Buffer.alloc(model.nodes)]));
  for (let i = 0; i < frames; i++) {
    const head = Buffer.alloc(112);
    head.writeBigInt64LE(BigInt(i), 0);
    head.writeDoubleLE(i * dt, 16);
    const s = frameAt(i);
    chunk(file, "FRAM", Buffer.concat([head, ...[s.t, s.q, s.v, s.om, s.x, s.xv].map(reals)]));
  }
  const done = Buffer.alloc(16);
  done.writeBigInt64LE(BigInt(frames), 0);
  chunk(file, "DONE", done);
  closeSync(file);
}

// A thousand cubes that fly apart and turn.
export function thousandCubes(path, frames = 500) {
  const corner = [], faces = [0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4, 2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5];
  for (let i = 0; i < 8; i++) corner.push(i & 1 ? 0.1 : -0.1, i & 2 ? 0.1 : -0.1, i & 4 ? 0.1 : -0.1);
  const model = { bodies: [], vertices: [], edges: [], faces: [], nodes: 0 };
  for (let b = 0; b < 1000; b++) {
    model.bodies.push({ kind: 2, frame: b, vertices: 8, edges: 0, faces: 12, name: `cube${b}`, thickness: 0.001, mass: 1 });
    model.vertices.push(...corner);
    model.faces.push(...faces.map((v) => v + 8 * b));
  }
  const at = (b) => [(b % 10) - 4.5, (Math.floor(b / 10) % 10) - 4.5, Math.floor(b / 100) - 4.5];
  writeTrajectory(path, model, frames, 0.01, (i) => {
    const s = { t: [], q: [], v: [], om: [], x: [], xv: [] }, time = i * 0.01;
    for (let b = 0; b < 1000; b++) {
      const p = at(b), half = 0.5 * time * (1 + (b % 7));
      for (const c of p) {
        s.t.push(0.5 * c + 0.2 * c * Math.sin(2 * time));
        s.v.push(0.4 * c * Math.cos(2 * time));
      }
      s.q.push(Math.cos(half), Math.sin(half), 0, 0);
      s.om.push(1 + (b % 7), 0, 0);
    }
    return s;
  });
}

// A sheet of n x n nodes with waves running over it.
export function wavySheet(path, n = 100, frames = 200) {
  const model = { bodies: [], vertices: [], edges: [], faces: [], nodes: n * n };
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) {
    model.vertices.push((2 * i) / (n - 1) - 1, (2 * j) / (n - 1) - 1, 0);
    const a = i * n + j;
    if (i < n - 1 && j < n - 1) model.faces.push(a, a + n, a + 1, a + 1, a + n, a + n + 1);
  }
  model.bodies.push({ kind: 3, frame: -1, vertices: n * n, edges: 0, faces: model.faces.length / 3, name: "sheet", thickness: 0.001, mass: 0 });
  writeTrajectory(path, model, frames, 0.02, (k) => {
    const x = new Float64Array(model.vertices);
    for (let i = 2; i < x.length; i += 3) x[i] = 0.12 * Math.sin(6 * x[i - 2] + 4 * k * 0.02) * Math.cos(5 * x[i - 1]);
    return { t: [], q: [], v: [], om: [], x, xv: new Float64Array(x.length) };
  });
}
