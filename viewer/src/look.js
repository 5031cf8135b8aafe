// Colours and materials. Red is kept for contact: no body has it.
import * as THREE from "three";

const day = {
  back: 0xf1f0ed, line: 0xb9b6ae, shade: 0.26, fixed: 0xd9d7d2, kinematic: 0x6f7782,
  rigid: [0xf0a830, 0x3fa67a, 0x8a68c0, 0x45b3c4, 0xd98a3d, 0x5a78e0, 0x86a83a, 0x2f86c9],
  cloth: [0x2f74b8, 0xe5a93a, 0x3fa58a, 0x8f6fc0], lining: 0xf0e2c4,
  zone: 0xd4352c, force: 0xd4352c, position: 0x6a3fb5, gradForce: 0x1f8a5b,
  sky: 0xf4f8ff, below: 0xcfc9c0, sun: 2.6, ambient: 1.75,
};
const night = {
  ...day,
  back: 0x1b1e23, line: 0x4a505a, shade: 0.5, fixed: 0x444a53, kinematic: 0x8b939e,
  rigid: [0xe8b155, 0x5fb894, 0x9c84c6, 0x6fc3d2, 0xcf9c55, 0x7b9cec, 0x9bb95c, 0x5b9fd4],
  cloth: [0x4f87c4, 0xe3b052, 0x5cb49b, 0xa388cb], lining: 0xc9bfa9,
  zone: 0xff5a4d, force: 0xff6a5d, position: 0xb395ff, gradForce: 0x4fd49a,
  sky: 0xcfd8e6, below: 0x3a3630, sun: 2.0, ambient: 1.5,
};
export const looks = { light: day, dark: night };

export function bodyColor(look, kind, index) {
  if (kind === "fixed") return look.fixed;
  if (kind === "kinematic") return look.kinematic;
  const list = kind === "cloth" ? look.cloth : look.rigid;
  return list[index % list.length];
}

// fast: without gloss, for machines that draw in software.
export function rigidMaterial(fast) {
  return fast ? new THREE.MeshLambertMaterial() : new THREE.MeshStandardMaterial({ roughness: 0.55, metalness: 0 });
}

// Cloth has two sides, of two colours, and a fine weave that shows how it is stretched.
export function clothMaterial(color, lining, fast) {
  const how = { side: THREE.DoubleSide, vertexColors: true };
  const material = fast ? new THREE.MeshLambertMaterial(how) : new THREE.MeshStandardMaterial({ roughness: 0.9, metalness: 0, ...how });
  material.userData.front = { value: new THREE.Color(color) };
  material.userData.lining = { value: new THREE.Color(lining) };
  material.onBeforeCompile = (shader) => {
    shader.uniforms.front = material.userData.front;
    shader.uniforms.lining = material.userData.lining;
    // the vertex colour is no colour: how much this is of a zone, and where it is in the weave
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>
uniform vec3 front;
uniform vec3 lining;
float stripe(float t) { // half light, half dark, as soft as a pixel
  float w = clamp(fwidth(t), 0.02, 0.5);
  return smoothstep(0.25 - w, 0.25 + w, abs(fract(t) - 0.5));
}`)
      .replace("#include <color_fragment>", `vec3 side = gl_FrontFacing ? front : lining;
side *= 1.0 - 0.10 * stripe(vColor.g) - 0.10 * stripe(vColor.b);
diffuseColor.rgb = mix(side, vec3(0.70, 0.03, 0.02), vColor.r);`);
  };
  return material;
}
