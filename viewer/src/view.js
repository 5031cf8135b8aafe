// The camera and the picture: one stage, or two side by side under one camera.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { sideways } from "./stage.js";

// While something moves, a machine that cannot keep up gets fewer pixels and a coarser shadow, step
// by step; a still picture always gets the best.
const levels = [
  { ratio: 2, shadow: 2048 }, { ratio: 1, shadow: 1024 }, { ratio: 0.75, shadow: 512 },
  { ratio: 0.6, shadow: 512 }, { ratio: 0.5, shadow: 256 }, { ratio: 0.4, shadow: 0 },
  { ratio: 0.3, shadow: 0 }, { ratio: 0.2, shadow: 0 },
];
const slowFrame = 1000 / 36; // ms: longer than this and 30 pictures a second are in danger
const stillAfter = 180; // ms without motion
const lookEvery = 300; // ms over which the pace is measured

// Whether this machine has no graphics processor: what is dear then is another matter.
export function drawsInSoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  const about = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = about ? gl.getParameter(about.UNMASKED_RENDERER_WEBGL) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}

export class View {
  // fast: this machine draws in software.
  constructor(canvas, bounds, up, fast) {
    this.canvas = canvas;
    this.bounds = bounds;
    this.up = up;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !fast, powerPreference: "high-performance" });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.toneMapping = THREE.NeutralToneMapping;
    this.renderer.toneMappingExposure = 1.0;
    this.camera = new THREE.PerspectiveCamera(32, 1, 0.01 * bounds.radius, 200 * bounds.radius);
    this.camera.up.copy(up);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.maxDistance = 60 * bounds.radius;
    this.controls.minDistance = 0.02 * bounds.radius;
    this.best = 0;
    this.level = 0;
    this.kept = fast ? 3 : 0; // the level of what moves
    this.least = fast ? 1.5 : 1; // pixels of a still picture, which smooth its edges
    this.moved = 0;
    this.times = null;
    this.stages = [];
    this.home();
  }

  // The whole scene from a little above, or from another side.
  home(from = null, nearer = 1) {
    const { center, radius } = this.bounds;
    const side = sideways(this.up), front = new THREE.Vector3().crossVectors(this.up, side);
    const way = from ?? new THREE.Vector3().addScaledVector(side, 0.55).addScaledVector(front, -1).addScaledVector(this.up, 0.5).normalize();
    this.camera.aspect = this.aspect() || 1;
    this.camera.position.copy(center).addScaledVector(way, 4 * radius);
    this.camera.lookAt(center);
    this.camera.updateMatrixWorld();
    this.camera.position.copy(center).addScaledVector(way, this.farEnough(way) / nearer);
    this.controls.target.copy(center);
    this.controls.update();
  }

  // The least distance from which the corners of the scene's box are in the picture, with some air.
  farEnough(way) {
    const { center, box } = this.bounds;
    const turn = this.camera.quaternion.clone().invert();
    const high = Math.tan((this.camera.fov * Math.PI) / 360) * 0.98, wide = high * this.camera.aspect;
    let far = 0;
    for (let i = 0; i < 8; i++) {
      const p = new THREE.Vector3(i & 1 ? box.max.x : box.min.x, i & 2 ? box.max.y : box.min.y, i & 4 ? box.max.z : box.min.z).sub(center);
      const along = p.dot(way);
      p.applyQuaternion(turn);
      far = Math.max(far, along + Math.abs(p.x) / wide, along + Math.abs(p.y) / high);
    }
    return far;
  }

  aspect() {
    const split = this.stages && this.stages.length === 2;
    const { clientWidth: w, clientHeight: h } = this.canvas;
    return h ? (split && w > h ? w / 2 : w) / (split && w <= h ? h / 2 : h) : 1;
  }

  // The rectangles of the stages, in the canvas's own units from its top left.
  panes(w = this.canvas.clientWidth, h = this.canvas.clientHeight) {
    if (this.stages.length < 2) return [{ x: 0, y: 0, w, h }];
    return w > h ? [{ x: 0, y: 0, w: w / 2, h }, { x: w / 2, y: 0, w: w / 2, h }]
      : [{ x: 0, y: 0, w, h: h / 2 }, { x: 0, y: h / 2, w, h: h / 2 }];
  }

  resize(ratio = this.ratio()) {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    if (this.size === `${w} ${h} ${ratio}` || !w || !h) return;
    this.size = `${w} ${h} ${ratio}`;
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(w, h, false);
    this.camera.aspect = this.aspect();
    this.camera.updateProjectionMatrix();
  }

  ratio() {
    const own = Math.max(window.devicePixelRatio || 1, this.level === 0 ? this.least : 0);
    return Math.min(levels[this.level].ratio, own);
  }

  // Called before every picture. Says whether the picture has to be drawn anew for its quality.
  pace(now, moving) {
    if (!moving) {
      this.times = null;
      if (this.level === this.best || now - this.moved < stillAfter) return false;
      this.setLevel(this.best);
      return true;
    }
    this.moved = now;
    if (this.level < this.kept) this.setLevel(this.kept);
    this.times ??= { since: now, count: -1 };
    this.times.count++;
    const took = now - this.times.since;
    if (took < lookEvery || this.times.count < 1) return false;
    const mean = took / this.times.count;
    this.times = { since: now, count: 0 };
    if (mean > slowFrame && this.level < levels.length - 1) {
      this.kept = Math.min(levels.length - 1, this.level + (mean > 6 * slowFrame ? 3 : mean > 2.5 * slowFrame ? 2 : 1));
      this.setLevel(this.kept);
    }
    return false;
  }

  setLevel(level) {
    this.level = level;
    const size = levels[level].shadow;
    for (const { sun } of this.stages) {
      sun.castShadow = size > 0;
      if (size > 0 && sun.shadow.mapSize.x !== size) {
        sun.shadow.mapSize.set(size, size);
        sun.shadow.map?.dispose();
        sun.shadow.map = null;
      }
    }
  }

  show(stages) {
    this.stages = stages;
    this.size = "";
    this.setLevel(this.level);
  }

  draw(ratio) {
    this.resize(ratio);
    const { renderer } = this;
    const panes = this.panes();
    renderer.setScissorTest(panes.length > 1);
    this.camera.aspect = panes[0].w / panes[0].h;
    this.camera.updateProjectionMatrix();
    this.stages.forEach((stage, i) => {
      const p = panes[i], bottom = this.canvas.clientHeight - p.y - p.h;
      renderer.setViewport(p.x, bottom, p.w, p.h);
      renderer.setScissor(p.x, bottom, p.w, p.h);
      renderer.render(stage.scene, this.camera);
    });
  }

  // Draws in another size, finer; the canvas, to be read at once.
  drawSized(width, height, finer) {
    Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px`, right: "auto", bottom: "auto" });
    this.resize(finer);
    this.draw(finer);
    return this.canvas;
  }

  // From where: degrees around up, degrees above the ground, and how much nearer than home.
  look(around, above, nearer) {
    const a = (around * Math.PI) / 180, e = (above * Math.PI) / 180;
    const side = sideways(this.up), front = new THREE.Vector3().crossVectors(this.up, side);
    const way = new THREE.Vector3().addScaledVector(side, Math.cos(e) * Math.sin(a)).addScaledVector(front, -Math.cos(e) * Math.cos(a)).addScaledVector(this.up, Math.sin(e));
    this.home(way, nearer);
  }

  // Which stage and body is at a place of the window: {stage, body} or null.
  pick(x, y) {
    const box = this.canvas.getBoundingClientRect();
    const panes = this.panes();
    for (let i = 0; i < panes.length; i++) {
      const p = panes[i], u = (x - box.left - p.x) / p.w, v = (y - box.top - p.y) / p.h;
      if (u < 0 || u > 1 || v < 0 || v > 1 || !this.stages[i]) continue;
      const caster = new THREE.Raycaster();
      caster.setFromCamera(new THREE.Vector2(2 * u - 1, 1 - 2 * v), this.camera);
      const body = this.stages[i].pick(caster);
      return body < 0 ? null : { stage: this.stages[i], body };
    }
    return null;
  }

  // The camera goes with a place that moved.
  shift(by) {
    this.camera.position.add(by);
    this.controls.target.add(by);
  }
}
