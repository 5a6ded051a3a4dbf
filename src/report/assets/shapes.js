"use strict";
// Shapes of the model as objects of three.js, in the frame of the body that carries them.

const shapes = (() => {
  const Y = new THREE.Vector3(0, 1, 0);
  const Z = new THREE.Vector3(0, 0, 1);
  const turn = (from, to) => new THREE.Quaternion().setFromUnitVectors(from, new THREE.Vector3(...to).normalize());

  // Two tones by quadrant of the body's frame, so that a round body is seen to turn.
  function twoTone(geometry) {
    const plain = geometry.index ? geometry.toNonIndexed() : geometry;
    const place = plain.attributes.position;
    const tones = new Float32Array(3 * place.count);
    for (let i = 0; i < place.count; i += 3) {
      const sum = (get) => get.call(place, i) + get.call(place, i + 1) + get.call(place, i + 2);
      const sign = sum(place.getX) * sum(place.getY) * sum(place.getZ);
      tones.fill(sign > 0 ? 1 : 0.72, 3 * i, 3 * i + 9);
    }
    plain.setAttribute("color", new THREE.BufferAttribute(tones, 3));
    return plain;
  }

  function along(geometry, axis) {
    return geometry.applyQuaternion(turn(Y, axis));
  }

  const size = ([x, y, z]) => Math.hypot(x, y, z);

  // Round forms have fewer faces where there are many bodies; a multiple of four, for the two tones.
  let detail = 1;
  const faces = (count) => 4 * Math.ceil((detail * count) / 4);
  const expect = (bodies) => (detail = Math.min(1, Math.max(0.35, Math.sqrt(100 / bodies))));

  // Forms that bodies share.
  const known = new Map();

  // The solid of a shape; `dot` is the radius of what has no size.
  function geometry(shape, meshes, dot) {
    const key = JSON.stringify([shape, dot]);
    if (!known.has(key)) known.set(key, make(shape, meshes, dot));
    return known.get(key);
  }

  function make(shape, meshes, dot) {
    switch (shape.kind) {
      case "sphere":
        return twoTone(new THREE.SphereGeometry(shape.radius || dot, faces(40), faces(28)));
      case "box":
        return new THREE.BoxGeometry(...shape.size);
      case "capsule":
        return twoTone(along(new THREE.CapsuleGeometry(shape.radius, 2 * size(shape.half), faces(12), faces(32)), shape.half));
      case "cylinder":
        return twoTone(along(new THREE.CylinderGeometry(shape.radius, shape.radius, 2 * size(shape.half), faces(48), 2), shape.half));
      case "disc":
        return twoTone(along(new THREE.CylinderGeometry(shape.radius, shape.radius, 0.02 * shape.radius, faces(64), 2), shape.axis));
      case "mesh":
        return meshes[shape.mesh];
      default:
        return new THREE.SphereGeometry(dot, 20, 14);
    }
  }

  function solid(shape, meshes, colour, dot) {
    const form = geometry(shape, meshes, dot);
    const material = new THREE.MeshStandardMaterial({
      color: colour,
      roughness: 0.65,
      metalness: 0.05,
      flatShading: shape.kind === "mesh",
      side: shape.kind === "mesh" ? THREE.DoubleSide : THREE.FrontSide,
      vertexColors: form.hasAttribute("color"),
    });
    if (shape.kind !== "points") {
      const mesh = new THREE.Mesh(form, material);
      mesh.castShadow = mesh.receiveShadow = true;
      if (shape.kind === "box") mesh.add(edges(form));
      return mesh;
    }
    const group = new THREE.Group();
    for (const point of shape.points) {
      const mesh = new THREE.Mesh(form, material);
      mesh.position.set(...point);
      group.add(mesh);
    }
    return group;
  }

  function edges(form) {
    const material = new THREE.LineBasicMaterial({ color: 0x000000, transparent: true, opacity: 0.35 });
    return new THREE.LineSegments(new THREE.EdgesGeometry(form), material);
  }

  // A part of a plane around the foot of `centre`, with a grid.
  function plane(shape, extent, colour, lines) {
    const group = new THREE.Group();
    const inner = new THREE.Group();
    inner.quaternion.copy(turn(Z, shape.normal));
    group.add(inner);
    const sheet = new THREE.Mesh(
      new THREE.PlaneGeometry(2 * extent, 2 * extent),
      new THREE.MeshStandardMaterial({ color: colour, roughness: 0.95 }),
    );
    sheet.receiveShadow = true;
    // Lies a hair lower than what stands on it.
    sheet.position.z = -1e-3 * extent;
    inner.add(sheet);
    const step = niceStep(extent / 5);
    const count = Math.floor(extent / step);
    const ends = [];
    for (let i = -count; i <= count; i++) {
      ends.push(i * step, -extent, 0, i * step, extent, 0, -extent, i * step, 0, extent, i * step, 0);
    }
    const form = new THREE.BufferGeometry();
    form.setAttribute("position", new THREE.BufferAttribute(new Float32Array(ends), 3));
    const grid = new THREE.LineSegments(form, new THREE.LineBasicMaterial({ color: lines, transparent: true }));
    inner.add(grid);
    // From behind, through the solid, the sheet is not seen and the grid hardly.
    const face = (camera) => (grid.material.opacity = inner.worldToLocal(camera.clone()).z > 0 ? 0.6 : 0.12);
    group.userData = { sheet, step, face };
    return group;
  }

  // 1, 2 or 5 times a power of ten.
  function niceStep(about) {
    const power = 10 ** Math.floor(Math.log10(about));
    return power * [1, 2, 5, 10].find((factor) => factor * power >= about * 0.99);
  }

  async function meshes(list) {
    return Promise.all(
      list.map(async ({ corners, triangles }) => {
        const form = new THREE.BufferGeometry();
        form.setAttribute("position", new THREE.BufferAttribute(await data.f32(corners), 3));
        form.setIndex(new THREE.BufferAttribute(await data.u32(triangles), 1));
        form.computeVertexNormals();
        return form;
      }),
    );
  }

  return { expect, solid, plane, meshes };
})();
