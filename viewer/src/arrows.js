// Many arrows drawn together: forces, gradients.
import * as THREE from "three";
import { arrowGeometry } from "./shapes.js";

const most = 4096;
const along = new THREE.Vector3(0, 0, 1);
const from = new THREE.Vector3(), way = new THREE.Vector3(), turn = new THREE.Quaternion();
const scale = new THREE.Vector3(), matrix = new THREE.Matrix4();

export class Arrows {
  constructor(scene, color) {
    this.material = new THREE.MeshStandardMaterial({ color, roughness: 0.5, emissive: color, emissiveIntensity: 0.35 });
    this.mesh = new THREE.InstancedMesh(arrowGeometry(), this.material, most);
    this.mesh.frustumCulled = false;
    this.mesh.count = 0;
    this.mesh.visible = false;
    this.mesh.castShadow = false;
    scene.add(this.mesh);
  }

  paint(color) {
    this.material.color.set(color);
    this.material.emissive.set(color);
  }

  begin() {
    this.count = 0;
  }

  // From (x,y,z) along the vector d, drawn so long; thick is its thickness.
  add(x, y, z, dx, dy, dz, length, thick) {
    const norm = Math.hypot(dx, dy, dz);
    if (this.count >= most || !(norm > 0) || !(length > 0)) return;
    from.set(x, y, z);
    way.set(dx / norm, dy / norm, dz / norm);
    turn.setFromUnitVectors(along, way);
    const wide = Math.min(thick, length);
    scale.set(wide, wide, length);
    this.mesh.setMatrixAt(this.count++, matrix.compose(from, turn, scale));
  }

  end() {
    this.mesh.count = this.count;
    this.mesh.instanceMatrix.needsUpdate = true;
  }
}
