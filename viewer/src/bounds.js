// How large the scene is, where its middle and its floor are.
import * as THREE from "three";

// A body's farthest point from its own middle.
function reach(run, body) {
  let far = 0;
  for (let v = body.vertex; v < body.vertex + body.vertices; v++) {
    far = Math.max(far, Math.hypot(run.vertexData[3 * v], run.vertexData[3 * v + 1], run.vertexData[3 * v + 2]));
  }
  return far + body.thickness;
}

function addBody(box, run, b, radius) {
  const p = run.row(0, 0).subarray(3 * b, 3 * b + 3);
  const r = new THREE.Vector3(radius, radius, radius);
  const at = new THREE.Vector3().fromArray(p);
  box.expandByPoint(at.clone().sub(r)).expandByPoint(at.add(r));
}

// Everything that moves at frame 0; without any, all there is.
function startBox(run) {
  const box = new THREE.Box3(), all = new THREE.Box3();
  run.bodies.forEach((body, b) => {
    if (body.kind === "cloth") return;
    const radius = reach(run, body);
    addBody(all, run, b, radius);
    if (body.kind !== "fixed") addBody(box, run, b, radius);
  });
  const nodes = run.row(0, 4), p = new THREE.Vector3();
  for (let i = 0; i < nodes.length; i += 3) box.expandByPoint(p.fromArray(nodes, i));
  return box.isEmpty() ? all : box;
}

// A wall or a post belongs into the picture; a floor does not.
function addSmallFixed(box, run, limit) {
  const near = box.clone().expandByScalar(limit);
  run.bodies.forEach((body, b) => {
    const radius = body.kind === "fixed" ? reach(run, body) : 0;
    if (radius > 0 && radius < limit && near.containsPoint(new THREE.Vector3().fromArray(run.row(0, 0), 3 * b))) addBody(box, run, b, 0.6 * radius);
  });
}

// The lowest point of what is fixed and not far away, along up.
function floorOf(run, center, radius, up) {
  let floor = Infinity;
  const p = new THREE.Vector3(), q = new THREE.Quaternion();
  const places = run.row(0, 0), turns = run.row(0, 1);
  run.bodies.forEach((body, b) => {
    if (body.kind !== "fixed") return;
    q.set(turns[4 * b + 1], turns[4 * b + 2], turns[4 * b + 3], turns[4 * b]);
    for (let v = body.vertex; v < body.vertex + body.vertices; v++) {
      p.fromArray(run.vertexData, 3 * v).applyQuaternion(q);
      const height = p.dot(up) + up.dot(p.fromArray(places, 3 * b));
      if (height > center.dot(up) - 4 * radius) floor = Math.min(floor, height);
    }
  });
  return floor;
}

export function boundsOf(run, up) {
  const box = startBox(run);
  const whole = new THREE.Box3(new THREE.Vector3().fromArray(run.low), new THREE.Vector3().fromArray(run.high));
  const size = (b) => b.getSize(new THREE.Vector3()).length();
  // what flies away does not make the rest small
  if (!whole.isEmpty() && size(whole) < 20 * size(box)) box.union(whole);
  else if (!whole.isEmpty()) box.union(whole.intersect(box.clone().expandByScalar(2 * size(box))));
  addSmallFixed(box, run, 0.35 * size(box));
  const center = box.getCenter(new THREE.Vector3());
  const radius = Math.max(0.5 * size(box), 1e-6);
  const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => new THREE.Vector3(i & 1 ? box.max.x : box.min.x, i & 2 ? box.max.y : box.min.y, i & 4 ? box.max.z : box.min.z).dot(up));
  const fixed = floorOf(run, center, radius, up);
  return { box, center, radius, floor: Number.isFinite(fixed) ? fixed : Math.min(...corners) };
}
