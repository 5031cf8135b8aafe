// Colours and materials. Red is kept for contact: no body has it.
import * as THREE from "three";

const day = {
  back: 0xf1efe9, ground: 0xe9e6de, fixed: 0xcfccc4, kinematic: 0x6f7782,
  rigid: [0x3f7cac, 0xe0a03a, 0x4c9a7a, 0x8069a8, 0x5aa9b8, 0xb9863f, 0x5b7fd0, 0x7d9a44],
  cloth: [0x3d6fa8, 0xd8a03c, 0x4b9c86, 0x8a6fb0], lining: 0xe8dcc3,
  zone: 0xd4352c, force: 0xd4352c, position: 0x6a3fb5, gradForce: 0x1f8a5b,
  sky: 0xffffff, below: 0xb8b0a0, sun: 2.2, ambient: 1.5,
};
const night = {
  ...day,
  back: 0x16181c, ground: 0x1d2025, fixed: 0x4a4e56, kinematic: 0x8b939e,
  rigid: [0x5b9fd4, 0xe8b155, 0x5fb894, 0x9c84c6, 0x6fc3d2, 0xcf9c55, 0x7b9cec, 0x9bb95c],
  cloth: [0x4f87c4, 0xe3b052, 0x5cb49b, 0xa388cb], lining: 0xc9bfa9,
  zone: 0xff5a4d, force: 0xff6a5d, position: 0xb395ff, gradForce: 0x4fd49a,
  sky: 0xcfd8e6, below: 0x33302b, sun: 2.0, ambient: 0.9,
};
export const looks = { light: day, dark: night };

export function bodyColor(look, kind, index) {
  if (kind === "fixed") return look.fixed;
  if (kind === "kinematic") return look.kinematic;
  const list = kind === "cloth" ? look.cloth : look.rigid;
  return list[index % list.length];
}

export function rigidMaterial() {
  return new THREE.MeshStandardMaterial({ roughness: 0.62, metalness: 0.0 });
}

// Cloth has two sides, of two colours, and a fine weave that shows how it is stretched.
export function clothMaterial(color, lining) {
  const material = new THREE.MeshStandardMaterial({ roughness: 0.9, metalness: 0, side: THREE.DoubleSide, vertexColors: true });
  material.userData.front = { value: new THREE.Color(color) };
  material.userData.lining = { value: new THREE.Color(lining) };
  material.onBeforeCompile = (shader) => {
    shader.uniforms.front = material.userData.front;
    shader.uniforms.lining = material.userData.lining;
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", "#include <common>\nuniform vec3 front;\nuniform vec3 lining;")
      .replace("#include <color_fragment>",
        // the vertex colour's red part tells how much of a zone this is; green is the zone's share
        "vec3 side = gl_FrontFacing ? front : lining;\ndiffuseColor.rgb = mix(side, vec3(0.66, 0.035, 0.025), vColor.r);");
  };
  return material;
}
