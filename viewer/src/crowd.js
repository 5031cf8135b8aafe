// Many bodies of one shape as one mesh, moved here vertex by vertex. Where drawing is done in
// software every instance costs a call of its own, and this costs none.
import * as THREE from "three";
import { mergeVertices } from "three/examples/jsm/utils/BufferGeometryUtils.js";

const mostVertices = 400000;

export function crowdSuits(geometry, count) {
  return count > 16 && geometry.attributes.position.count * count <= mostVertices;
}

export class Crowd extends THREE.Mesh {
  constructor(shape, material, count) {
    const one = mergeVertices(new THREE.BufferGeometry().setAttribute("position", shape.attributes.position).setAttribute("normal", shape.attributes.normal).setIndex(shape.index));
    const n = one.attributes.position.count, faces = one.index.array;
    const whole = new THREE.BufferGeometry();
    for (const name of ["position", "normal", "color"]) {
      whole.setAttribute(name, new THREE.BufferAttribute(new Float32Array(3 * n * count), 3).setUsage(THREE.DynamicDrawUsage));
    }
    const index = new Uint32Array(faces.length * count);
    for (let b = 0; b < count; b++) for (let i = 0; i < faces.length; i++) index[b * faces.length + i] = faces[i] + b * n;
    whole.setIndex(new THREE.BufferAttribute(index, 1));
    super(whole, material);
    material.vertexColors = true;
    this.one = one;
    this.facesOfOne = faces.length / 3;
  }

  // Body i is at (x,y,z), turned by the quaternion.
  put(i, x, y, z, qw, qx, qy, qz) {
    const p = this.one.attributes.position.array, m = this.one.attributes.normal.array;
    const to = this.geometry.attributes.position.array, normal = this.geometry.attributes.normal.array;
    const a = 1 - 2 * (qy * qy + qz * qz), b = 2 * (qx * qy - qw * qz), c = 2 * (qx * qz + qw * qy);
    const d = 2 * (qx * qy + qw * qz), e = 1 - 2 * (qx * qx + qz * qz), f = 2 * (qy * qz - qw * qx);
    const g = 2 * (qx * qz - qw * qy), h = 2 * (qy * qz + qw * qx), k = 1 - 2 * (qx * qx + qy * qy);
    for (let v = 0, o = i * p.length; v < p.length; v += 3, o += 3) {
      const u = p[v], s = p[v + 1], t = p[v + 2], nu = m[v], ns = m[v + 1], nt = m[v + 2];
      to[o] = x + a * u + b * s + c * t;
      to[o + 1] = y + d * u + e * s + f * t;
      to[o + 2] = z + g * u + h * s + k * t;
      normal[o] = a * nu + b * ns + c * nt;
      normal[o + 1] = d * nu + e * ns + f * nt;
      normal[o + 2] = g * nu + h * ns + k * nt;
    }
  }

  tint(i, color) {
    const out = this.geometry.attributes.color.array, size = this.one.attributes.position.array.length;
    for (let o = i * size; o < (i + 1) * size; o += 3) {
      out[o] = color.r;
      out[o + 1] = color.g;
      out[o + 2] = color.b;
    }
  }

  done(painted) {
    this.geometry.attributes.position.needsUpdate = this.geometry.attributes.normal.needsUpdate = true;
    if (painted) this.geometry.attributes.color.needsUpdate = true;
    this.geometry.boundingSphere = null;
  }

  which(hit) {
    return Math.floor(hit.faceIndex / this.facesOfOne);
  }
}

// The same for a machine with a graphics processor: one shape, many instances.
export class Instances extends THREE.InstancedMesh {
  constructor(shape, material, count) {
    super(shape, material, count);
    this.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    this.setColorAt(0, new THREE.Color(0xffffff));
  }

  put(i, x, y, z, qw, qx, qy, qz) {
    matrix.compose(place.set(x, y, z), turn.set(qx, qy, qz, qw), one);
    this.setMatrixAt(i, matrix);
  }

  tint(i, color) {
    this.setColorAt(i, color);
  }

  done(painted) {
    this.instanceMatrix.needsUpdate = true;
    if (painted) this.instanceColor.needsUpdate = true;
    this.boundingSphere = null; // of all instances, for picking
  }

  which(hit) {
    return hit.instanceId;
  }
}

const matrix = new THREE.Matrix4(), place = new THREE.Vector3(), turn = new THREE.Quaternion(), one = new THREE.Vector3(1, 1, 1);
