// Meshes from the trajectory. Bodies of equal shape share one and are drawn together.
import * as THREE from "three";
import { toCreasedNormals } from "three/examples/jsm/utils/BufferGeometryUtils.js";

const crease = 0.6; // rad: flatter edges are rounded by light, sharper ones stay edges

function bodyGeometry(run, body) {
  const p = run.vertexData;
  if (body.faces === 0) {
    if (body.vertices === 2) return capsule(p, body);
    const ball = new THREE.SphereGeometry(body.thickness, 40, 24);
    ball.translate(p[3 * body.vertex], p[3 * body.vertex + 1], p[3 * body.vertex + 2]);
    return ball;
  }
  const geometry = new THREE.BufferGeometry();
  const first = 3 * body.vertex;
  geometry.setAttribute("position", new THREE.BufferAttribute(p.slice(first, first + 3 * body.vertices), 3));
  const faces = run.faceData.subarray(3 * body.face, 3 * (body.face + body.faces));
  geometry.setIndex(new THREE.BufferAttribute(Uint32Array.from(faces, (v) => v - body.vertex), 1));
  const made = toCreasedNormals(geometry, crease);
  return made;
}

function capsule(p, body) {
  const a = new THREE.Vector3().fromArray(p, 3 * body.vertex);
  const b = new THREE.Vector3().fromArray(p, 3 * body.vertex + 3);
  const axis = b.clone().sub(a);
  const shape = new THREE.CapsuleGeometry(body.thickness, axis.length(), 12, 32);
  const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 1, 0), axis.normalize());
  shape.applyQuaternion(turn);
  return shape.translate((a.x + b.x) / 2, (a.y + b.y) / 2, (a.z + b.z) / 2);
}

// Two bodies are of one shape when their vertices and faces are the same numbers.
function shapeKey(run, body) {
  const p = run.vertexData.subarray(3 * body.vertex, 3 * (body.vertex + body.vertices));
  const faces = run.faceData.subarray(3 * body.face, 3 * (body.face + body.faces));
  let h = 2166136261;
  const bits = new Uint32Array(p.buffer, p.byteOffset, p.length);
  for (let i = 0; i < bits.length; i++) h = Math.imul(h ^ bits[i], 16777619);
  for (let i = 0; i < faces.length; i++) h = Math.imul(h ^ (faces[i] - body.vertex), 16777619);
  return `${body.vertices}/${body.faces}/${body.thickness}/${h >>> 0}`;
}

// [{geometry, bodies: [index]}], cloth aside.
export function shapeGroups(run) {
  const groups = new Map();
  run.bodies.forEach((body, b) => {
    if (body.kind === "cloth" || (body.faces === 0 && !(body.thickness > 0))) return;
    const key = shapeKey(run, body);
    if (!groups.has(key)) groups.set(key, { geometry: bodyGeometry(run, body), bodies: [] });
    groups.get(key).bodies.push(b);
  });
  return [...groups.values()];
}

// A sheet's faces by its own nodes, with room for positions, normals and colours that change.
export function clothGeometry(run, body, firstNode) {
  const geometry = new THREE.BufferGeometry();
  const n = body.vertices;
  const dynamic = (size) => new THREE.BufferAttribute(new Float32Array(size * n), size).setUsage(THREE.DynamicDrawUsage);
  geometry.setAttribute("position", dynamic(3));
  geometry.setAttribute("normal", dynamic(3));
  geometry.setAttribute("color", dynamic(3));
  weave(run, body, geometry.attributes.color.array);
  const faces = run.faceData.subarray(3 * body.face, 3 * (body.face + body.faces));
  geometry.setIndex(new THREE.BufferAttribute(Uint32Array.from(faces, (v) => v - body.vertex), 1));
  geometry.userData = { firstNode, edge: meanEdge(run, body) };
  return geometry;
}

// Where a node is in the weave: its rest place along the sheet's two longest axes, twelve threads to
// the longer one. Stands beside the zone's red in the colours.
function weave(run, body, out) {
  const p = run.vertexData.subarray(3 * body.vertex, 3 * (body.vertex + body.vertices));
  const low = [0, 1, 2].map((k) => p.reduce((m, v, i) => (i % 3 === k ? Math.min(m, v) : m), Infinity));
  const size = [0, 1, 2].map((k) => p.reduce((m, v, i) => (i % 3 === k ? Math.max(m, v) : m), -Infinity) - low[k]);
  const axes = [0, 1, 2].sort((a, b) => size[b] - size[a]);
  const scale = 12 / (size[axes[0]] || 1);
  for (let i = 0; i < p.length; i += 3) {
    out[i + 1] = (p[i + axes[0]] - low[axes[0]]) * scale;
    out[i + 2] = (p[i + axes[1]] - low[axes[1]]) * scale;
  }
}

function meanEdge(run, body) {
  const p = run.vertexData;
  let sum = 0;
  for (let f = body.face; f < body.face + body.faces; f++) {
    const a = 3 * run.faceData[3 * f], b = 3 * run.faceData[3 * f + 1];
    sum += Math.hypot(p[a] - p[b], p[a + 1] - p[b + 1], p[a + 2] - p[b + 2]);
  }
  return body.faces ? sum / body.faces : 0;
}

// Normals of a sheet: each face adds its area to its corners.
export function clothNormals(position, index, normal) {
  normal.fill(0);
  for (let i = 0; i < index.length; i += 3) {
    const a = 3 * index[i], b = 3 * index[i + 1], c = 3 * index[i + 2];
    const ux = position[b] - position[a], uy = position[b + 1] - position[a + 1], uz = position[b + 2] - position[a + 2];
    const vx = position[c] - position[a], vy = position[c + 1] - position[a + 1], vz = position[c + 2] - position[a + 2];
    const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
    normal[a] += nx; normal[a + 1] += ny; normal[a + 2] += nz;
    normal[b] += nx; normal[b + 1] += ny; normal[b + 2] += nz;
    normal[c] += nx; normal[c + 1] += ny; normal[c + 2] += nz;
  }
  for (let i = 0; i < normal.length; i += 3) {
    const l = Math.hypot(normal[i], normal[i + 1], normal[i + 2]) || 1;
    normal[i] /= l; normal[i + 1] /= l; normal[i + 2] /= l;
  }
}

// The two parts of an arrow along z, of length 1 and radius 1: they are scaled apart, so that a long
// arrow's tip keeps its shape.
export function shaftGeometry() {
  return new THREE.CylinderGeometry(1, 1, 1, 10, 1).translate(0, 0.5, 0).rotateX(Math.PI / 2);
}

export function tipGeometry() {
  return new THREE.ConeGeometry(1, 1, 16).translate(0, 0.5, 0).rotateX(Math.PI / 2);
}
