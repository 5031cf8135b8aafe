// The camera and the picture: one stage, or two side by side under one camera.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { sideways } from "./stage.js";

// While it plays, a machine that cannot keep up gets fewer pixels and a coarser shadow; a still
// picture always gets the best.
const levels = [
  { ratio: 2, shadow: 2048 }, { ratio: 1, shadow: 1024 }, { ratio: 0.75, shadow: 512 },
  { ratio: 0.55, shadow: 512 }, { ratio: 0.5, shadow: 0 }, { ratio: 0.35, shadow: 0 },
];
const slowFrame = 1000 / 36; // ms: longer than this and 30 pictures a second are in danger

// A machine without a graphics processor starts where it will end up anyway.
function drawsInSoftware(renderer) {
  const gl = renderer.getContext(), about = gl.getExtension("WEBGL_debug_renderer_info");
  return Boolean(about) && /swiftshader|llvmpipe|software/i.test(gl.getParameter(about.UNMASKED_RENDERER_WEBGL));
}

export class View {
  constructor(canvas, bounds, up) {
    this.canvas = canvas;
    this.bounds = bounds;
    this.up = up;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: false, powerPreference: "high-performance" });
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
    this.best = drawsInSoftware(this.renderer) ? 1 : 0;
    this.level = this.best;
    this.played = this.best;
    this.times = [];
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
    return Math.min(levels[this.level].ratio, window.devicePixelRatio || 1, levels[this.level].ratio < 1 ? levels[this.level].ratio : 2);
  }

  // Called with the time of every picture while playing.
  pace(now, playing) {
    if (!playing) {
      this.times.length = 0;
      if (this.level !== this.best) this.setLevel(this.best);
      return;
    }
    if (this.level < this.played) this.setLevel(this.played);
    this.times.push(now);
    if (this.times.length < 13) return;
    const mean = (now - this.times[0]) / (this.times.length - 1);
    this.times.length = 0;
    if (mean > slowFrame && this.level < levels.length - 1) {
      // far too slow: two steps at once
      this.setLevel(Math.min(levels.length - 1, this.level + (mean > 2 * slowFrame ? 2 : 1)));
      this.played = this.level;
    }
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
