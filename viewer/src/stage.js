// One run on a stage: its bodies, the light, the ground, and what contact and gradients add.
import * as THREE from "three";
import { Arrows } from "./arrows.js";
import { Crowd, crowdSuits, Instances } from "./crowd.js";
import { bodyColor, clothMaterial, looks, rigidMaterial } from "./look.js";
import { clothGeometry, clothNormals, shapeGroups } from "./shapes.js";

const matrix = new THREE.Matrix4(), color = new THREE.Color();

export function upOf(run) {
  const g = new THREE.Vector3().fromArray(run.gravity);
  return g.length() > 0 ? g.normalize().negate() : new THREE.Vector3(0, 0, 1);
}

export class Stage {
  constructor(run, bounds, up, fast) {
    this.run = run;
    this.bounds = bounds;
    this.up = up;
    this.fast = fast;
    this.scene = new THREE.Scene();
    this.frame = -1;
    this.inZone = new Set();
    this.makeLight();
    this.makeBodies();
    this.makeSheets();
    this.makeGround();
    this.forces = new Arrows(this.scene, looks.light.force);
    this.pulls = new Arrows(this.scene, looks.light.position);
    this.pushes = new Arrows(this.scene, looks.light.gradForce);
    this.makeDots();
  }

  makeLight() {
    const { center, radius } = this.bounds;
    this.ambient = new THREE.HemisphereLight(0xffffff, 0xb0a890, 1.4);
    this.ambient.position.copy(this.up);
    this.sun = new THREE.DirectionalLight(0xfffaf2, 2.2);
    const side = sideways(this.up);
    const front = new THREE.Vector3().crossVectors(this.up, side);
    this.sun.position.copy(center).addScaledVector(this.up, 2.6 * radius).addScaledVector(side, -1.1 * radius).addScaledVector(front, -1.5 * radius);
    this.sun.target.position.copy(center);
    this.sun.castShadow = true;
    const camera = this.sun.shadow.camera;
    camera.left = camera.bottom = -1.5 * radius;
    camera.right = camera.top = 1.5 * radius;
    camera.near = 0.1 * radius;
    camera.far = 6.5 * radius;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.radius = 3;
    this.sun.shadow.normalBias = 0.004 * radius;
    this.sun.shadow.bias = -0.0004;
    this.fill = new THREE.DirectionalLight(0xdfe9ff, 0.45);
    this.fill.position.copy(center).addScaledVector(side, 3 * radius).addScaledVector(this.up, radius);
    this.fill.target.position.copy(center);
    this.scene.add(this.ambient, this.sun, this.sun.target);
    if (!this.fast) this.scene.add(this.fill, this.fill.target);
  }

  makeBodies() {
    this.groups = shapeGroups(this.run).map((group) => {
      const Kind = this.fast && crowdSuits(group.geometry, group.bodies.length) ? Crowd : Instances;
      const mesh = new Kind(group.geometry, rigidMaterial(this.fast), group.bodies.length);
      mesh.frustumCulled = false;
      mesh.receiveShadow = true;
      // a large flat thing that never moves throws no shadow worth its price
      mesh.castShadow = group.bodies.some((b) => this.run.bodies[b].kind !== "fixed") || this.small(group.geometry);
      mesh.userData.bodies = group.bodies;
      this.scene.add(mesh);
      return mesh;
    });
  }

  small(geometry) {
    geometry.computeBoundingSphere();
    return geometry.boundingSphere.radius < 1.2 * this.bounds.radius;
  }

  makeSheets() {
    let node = 0;
    this.sheets = [];
    this.run.bodies.forEach((body, b) => {
      if (body.kind !== "cloth") return;
      const mesh = new THREE.Mesh(clothGeometry(this.run, body, node), clothMaterial(0xffffff, 0xffffff, this.fast));
      mesh.frustumCulled = false;
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.userData.body = b;
      node += body.vertices;
      this.scene.add(mesh);
      this.sheets.push(mesh);
    });
  }

  // No floor but the shadows on it, and lines to tell how far: cheap where pixels are dear.
  makeGround() {
    const { center, radius, floor } = this.bounds;
    this.ground = new THREE.Group();
    this.ground.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), this.up);
    const height = floor - 0.004 * radius - center.dot(this.up);
    this.ground.position.copy(center).addScaledVector(this.up, height);
    this.shade = new THREE.Mesh(new THREE.CircleGeometry(3 * radius, 32), new THREE.ShadowMaterial());
    this.shade.receiveShadow = true;
    this.grid = gridLines(radius);
    this.ground.add(this.shade, this.grid);
    this.scene.add(this.ground);
  }

  makeDots() {
    const ball = new THREE.IcosahedronGeometry(1, 1);
    this.dots = new THREE.InstancedMesh(ball, new THREE.MeshBasicMaterial({ color: 0xd4352c, depthTest: false, transparent: true, opacity: 0.9 }), 4096);
    this.dots.frustumCulled = false;
    this.dots.renderOrder = 2;
    this.dots.count = 0;
    this.scene.add(this.dots);
  }

  // Colours of the day or the night; lights too.
  paint(theme) {
    const look = (this.look = looks[theme]);
    this.scene.background = new THREE.Color(look.back);
    this.scene.fog = new THREE.Fog(look.back, 6 * this.bounds.radius, 24 * this.bounds.radius);
    this.shade.material.opacity = look.shade;
    this.grid.material.color.set(look.line);
    this.ambient.color.set(look.sky);
    this.ambient.groundColor.set(look.below);
    this.ambient.intensity = look.ambient;
    this.sun.intensity = look.sun;
    this.forces.paint(look.force);
    this.pulls.paint(look.position);
    this.pushes.paint(look.gradForce);
    this.dots.material.color.set(look.zone);
    let free = 0;
    this.colors = this.run.bodies.map((body, b) => bodyColor(look, body.kind, body.kind === "rigid" ? free++ : b));
    for (const sheet of this.sheets) {
      const cloths = this.sheets.indexOf(sheet);
      sheet.material.userData.front.value.set(look.cloth[cloths % look.cloth.length]);
      sheet.material.userData.lining.value.set(look.lining);
    }
    this.frame = -1;
  }

  // Puts everything where it is at a frame. layers: what is to be seen; lengths: of arrows.
  show(frame, layers, lengths, chosen) {
    const positions = this.run.row(frame, 0), turns = this.run.row(frame, 1), nodes = this.run.row(frame, 4);
    if (!positions) return false;
    this.frame = frame;
    const contacts = this.run.contacts(frame);
    this.findZones(contacts, layers.zones);
    const paint = layers.zones || this.painted !== `${this.look.back} ${chosen}`;
    this.painted = layers.zones ? "" : `${this.look.back} ${chosen}`;
    for (const mesh of this.groups) this.placeGroup(mesh, positions, turns, chosen, paint);
    for (const sheet of this.sheets) this.placeSheet(sheet, nodes, contacts, layers);
    this.ground.visible = layers.ground;
    for (const mesh of [...this.groups, ...this.sheets]) mesh.material.wireframe = layers.wires;
    this.showContacts(contacts, layers, lengths);
    this.showGradients(frame, layers, lengths, positions);
    return true;
  }

  findZones(contacts, wanted) {
    this.inZone.clear();
    for (let i = 0; wanted && contacts && i < contacts.count; i++) {
      this.inZone.add(contacts.whole[9 * i]).add(contacts.whole[9 * i + 1]);
    }
  }

  placeGroup(mesh, p, q, chosen, paint) {
    mesh.userData.bodies.forEach((b, i) => {
      mesh.put(i, p[3 * b], p[3 * b + 1], p[3 * b + 2], q[4 * b], q[4 * b + 1], q[4 * b + 2], q[4 * b + 3]);
      if (!paint) return;
      const free = this.run.bodies[b].kind === "rigid";
      color.set(free && this.inZone.has(b) ? this.look.zone : this.colors[b]);
      if (b === chosen) color.lerp(white, 0.35);
      mesh.tint(i, color);
    });
    mesh.done(paint);
  }

  placeSheet(sheet, nodes, contacts, layers) {
    const { attributes, index, userData } = sheet.geometry;
    const count = attributes.position.count;
    attributes.position.array.set(nodes.subarray(3 * userData.firstNode, 3 * (userData.firstNode + count)));
    clothNormals(attributes.position.array, index.array, attributes.normal.array);
    attributes.position.needsUpdate = attributes.normal.needsUpdate = true;
    sheet.geometry.boundingSphere = null;
    if (layers.zones || userData.red) {
      userData.red = this.redden(sheet, layers.zones ? contacts : null);
      attributes.color.needsUpdate = true;
    }
  }

  // Nodes within an edge's length of a contact of their sheet are in its zone.
  redden(sheet, contacts) {
    const { attributes, userData } = sheet.geometry;
    const out = attributes.color.array, x = attributes.position.array;
    const reach = 1.6 * userData.edge, cells = new Map();
    const cell = (v) => Math.floor(v / reach);
    const key = (i, j, k) => (Math.imul(i, 73856093) ^ Math.imul(j, 19349663) ^ Math.imul(k, 83492791)) | 0;
    let any = false;
    for (let i = 0; i < out.length; i += 3) out[i] = 0;
    for (let c = 0; contacts && c < contacts.count; c++) {
      if (contacts.whole[9 * c] !== sheet.userData.body && contacts.whole[9 * c + 1] !== sheet.userData.body) continue;
      const p = contacts.real, at = 9 * c + 3;
      const k = key(cell(p[at]), cell(p[at + 1]), cell(p[at + 2]));
      if (!cells.has(k)) cells.set(k, []);
      cells.get(k).push(at);
      any = true;
    }
    for (let n = 0; any && n < x.length; n += 3) {
      let nearest = Infinity;
      for (let i = -1; i <= 1; i++) for (let j = -1; j <= 1; j++) for (let k = -1; k <= 1; k++) {
        const list = cells.get(key(cell(x[n]) + i, cell(x[n + 1]) + j, cell(x[n + 2]) + k));
        if (list) for (const at of list) {
          const p = contacts.real;
          nearest = Math.min(nearest, Math.hypot(p[at] - x[n], p[at + 1] - x[n + 1], p[at + 2] - x[n + 2]));
        }
      }
      out[n] = nearest < reach ? 1 : 0;
    }
    return any;
  }

  showContacts(contacts, layers, lengths) {
    const size = 0.008 * this.bounds.radius;
    this.dots.visible = layers.contacts;
    this.forces.visible = layers.forces;
    const count = contacts ? contacts.count : 0;
    this.dots.count = layers.contacts ? count : 0;
    matrix.makeScale(size, size, size);
    for (let i = 0; i < this.dots.count; i++) {
      matrix.setPosition(contacts.real[9 * i + 3], contacts.real[9 * i + 4], contacts.real[9 * i + 5]);
      this.dots.setMatrixAt(i, matrix);
    }
    this.dots.instanceMatrix.needsUpdate = true;
    this.forces.begin();
    for (let i = 0; layers.forces && i < count; i++) {
      const [x, y, z, fx, fy, fz] = contacts.real.subarray(9 * i + 3, 9 * i + 9);
      const length = Math.hypot(fx, fy, fz) * lengths.force;
      this.forces.add(x, y, z, fx, fy, fz, Math.min(length, 1.2 * this.bounds.radius), 0.028 * this.bounds.radius);
    }
    this.forces.end();
  }

  // dL/dposition from each body, and dL/dforce beside it: where a push would raise the objective.
  showGradients(frame, layers, lengths, positions) {
    const g = layers.gradients ? this.run.gradient(frame) : null;
    const n = this.run.bodies.length, thick = 0.035 * this.bounds.radius;
    this.pulls.visible = this.pushes.visible = Boolean(g);
    this.pulls.begin();
    this.pushes.begin();
    for (let b = 0; g && b < n; b++) {
      const [x, y, z] = positions.subarray(3 * b, 3 * b + 3);
      for (const [arrows, at, scale] of [[this.pulls, 3 * b, lengths.position], [this.pushes, 3 * (n + b), lengths.push]]) {
        const [dx, dy, dz] = g.subarray(at, at + 3);
        arrows.add(x, y, z, dx, dy, dz, Math.min(Math.hypot(dx, dy, dz) * scale, 1.2 * this.bounds.radius), thick);
      }
    }
    this.pulls.end();
    this.pushes.end();
  }

  // The body under a ray, or -1.
  pick(caster) {
    const hits = caster.intersectObjects([...this.groups, ...this.sheets], false);
    if (!hits.length) return -1;
    const { object } = hits[0];
    return object.userData.bodies ? object.userData.bodies[object.which(hits[0])] : object.userData.body;
  }
}

const white = new THREE.Color(0xffffff);

// Lines a round length apart, which fade with the distance from the middle.
function gridLines(radius) {
  const power = 10 ** Math.floor(Math.log10(radius));
  const step = radius / power > 5 ? 2 * power : radius / power > 2 ? power : power / 2;
  const count = Math.ceil((4 * radius) / step), pieces = 16, far = count * step;
  const points = [], fades = [];
  const fade = (x, y) => Math.max(0, 1 - Math.hypot(x, y) / far) ** 1.5;
  for (let i = -count; i <= count; i++) {
    for (let k = 0; k < pieces; k++) {
      const a = (2 * k / pieces - 1) * far, b = (2 * (k + 1) / pieces - 1) * far, c = i * step;
      points.push(c, a, 0, c, b, 0, a, c, 0, b, c, 0);
      for (const [x, y] of [[c, a], [c, b], [a, c], [b, c]]) fades.push(1, 1, 1, 0.55 * fade(x, y));
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
  geometry.setAttribute("color", new THREE.Float32BufferAttribute(fades, 4));
  const lines = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false, fog: false }));
  lines.renderOrder = -1;
  return lines;
}

export function sideways(up) {
  const axis = Math.abs(up.x) < 0.9 ? new THREE.Vector3(1, 0, 0) : new THREE.Vector3(0, 1, 0);
  return axis.addScaledVector(up, -axis.dot(up)).normalize();
}
