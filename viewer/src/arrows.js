// Many arrows drawn together: forces, gradients.
import * as THREE from "three";
import { shaftGeometry, tipGeometry } from "./shapes.js";

const most = 4096;
const along = new THREE.Vector3(0, 0, 1);
const from = new THREE.Vector3(), way = new THREE.Vector3(), turn = new THREE.Quaternion();
const scale = new THREE.Vector3(), matrix = new THREE.Matrix4();

export class Arrows {
  constructor(scene, color) {
    this.material = new THREE.MeshStandardMaterial({ color, roughness: 0.5, emissive: color, emissiveIntensity: 0.35 });
    this.parts = [shaftGeometry(), tipGeometry()].map((geometry) => {
      const mesh = new THREE.InstancedMesh(geometry, this.material, most);
      mesh.frustumCulled = false;
      mesh.count = 0;
      scene.add(mesh);
      return mesh;
    });
    this.visible = false;
  }

  set visible(on) {
    for (const part of this.parts) part.visible = on;
  }

  paint(color) {
    this.material.color.set(color);
    this.material.emissive.set(color);
  }

  begin() {
    this.count = 0;
  }

  // From (x,y,z) along the vector d, drawn so long and so thick; a short one is thinner too.
  add(x, y, z, dx, dy, dz, length, thick) {
    const norm = Math.hypot(dx, dy, dz);
    if (this.count >= most || !(norm > 0) || !(length > 0)) return;
    const wide = Math.min(thick, 0.09 * length), tip = 3.4 * wide;
    way.set(dx / norm, dy / norm, dz / norm);
    turn.setFromUnitVectors(along, way);
    from.set(x, y, z);
    this.parts[0].setMatrixAt(this.count, matrix.compose(from, turn, scale.set(0.38 * wide, 0.38 * wide, length - tip)));
    from.addScaledVector(way, length - tip);
    this.parts[1].setMatrixAt(this.count, matrix.compose(from, turn, scale.set(wide, wide, tip)));
    this.count++;
  }

  end() {
    for (const part of this.parts) {
      part.count = this.count;
      part.instanceMatrix.needsUpdate = true;
    }
  }
}
