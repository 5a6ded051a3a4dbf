"use strict";
// The 3D view: bodies where the samples have them, touching points, force arrows.

async function makeView(model, times) {
  const { scene: given, film } = model;
  const canvas = document.getElementById("canvas");
  const renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
  renderer.shadowMap.enabled = true;
  const scene = new THREE.Scene();
  const camera = new THREE.PerspectiveCamera(35, 1, 0.01, 1000);
  const fall = new THREE.Vector3(...given.gravity);
  const up = fall.length() > 0 ? fall.normalize().negate() : new THREE.Vector3(0, 0, 1);
  camera.up.copy(up);
  const controls = new THREE.OrbitControls(camera, canvas);
  const load = (chunks) => Promise.all(chunks.map(data.f32));
  const filmed = film && (await load(film.poses));
  // Where a component of a pose is: in a column, in the film, or always as at the start.
  const source = async (place, body, component, start) => {
    if (place !== null) return { values: await data.column(place), from: 0, stride: 1, last: times.length - 1 };
    if (body !== undefined) return { values: filmed[component], from: body * film.frames, stride: film.stride, last: film.frames - 1 };
    return { values: [start], from: 0, stride: 1, last: 0 };
  };
  const tracks = await Promise.all(
    given.bodies.map(({ motion: { r, q, film: body, position, orientation } }) =>
      Promise.all([...r, ...q].map((place, i) => source(place, body, i, [...position, ...orientation][i]))),
    ),
  );
  // Touching points and forces, by sample or by frame of the film.
  const loadContacts = async (touching, stride, count) => {
    const [firstPoint, firstForce, contactOf] = await Promise.all([touching.firstPoint, touching.firstForce, touching.contact].map(data.u32));
    const [point, origin, force, friction] = await Promise.all([touching.point, touching.origin, touching.force, touching.friction].map(load));
    const newtons = force[0].map((x, i) => Math.hypot(x, force[1][i], force[2][i]));
    return { stride, last: firstForce.length - 2, firstPoint, firstForce, contactOf, point, origin, force, friction, newtons, strongest: new Int32Array(count).fill(-1) };
  };
  const contacts = [await loadContacts(model.touching, 1, model.contacts.length)];
  if (film) contacts.push(await loadContacts(film.touching, film.stride, (await data.u32(film.pairs[0])).length));
  const usual = Math.max(model.touching.usual, film?.touching.usual ?? 0);
  const meshes = await shapes.meshes(given.meshes);

  const [before, after, parts] = [new Float64Array(7), new Float64Array(7), new Float64Array(7)];
  // Position and orientation of a body between samples k and k + 1.
  function pose(track, k, part, target) {
    track.forEach(({ values, from, stride, last }, i) => {
      const at = Math.min((k + part) / stride, last);
      const low = Math.floor(at);
      before[i] = values[from + low];
      after[i] = values[from + Math.min(low + 1, last)];
      parts[i] = at - low;
    });
    // A quaternion and its opposite are the same turn: the sign that makes the samples neighbours.
    if (before[3] * after[3] + before[4] * after[4] + before[5] * after[5] + before[6] * after[6] < 0) for (let i = 3; i < 7; i++) after[i] *= -1;
    for (let i = 0; i < 7; i++) before[i] += parts[i] * (after[i] - before[i]);
    target.position.set(before[0], before[1], before[2]);
    target.quaternion.set(before[4], before[5], before[6], before[3]).normalize();
  }

  // The space that all bodies take up over time.
  const dot = 0.012 * pathSize();
  shapes.expect(given.bodies.length);
  const bodies = given.bodies.map((body, index) => {
    const object = body.shape.kind === "plane" ? new THREE.Group() : shapes.solid(body.shape, meshes, charts.colour(index), dot);
    object.name = body.name;
    scene.add(object);
    return object;
  });
  const space = new THREE.Box3();
  const moment = new THREE.Box3();
  const looks = Math.min(times.length, Math.max(10, Math.min(200, Math.round(2e4 / bodies.length))));
  for (let i = 0; i < looks; i++) {
    const k = Math.round((i * (times.length - 1)) / Math.max(looks - 1, 1));
    bodies.forEach((object, index) => {
      pose(tracks[index], k, 0, object);
      object.updateMatrixWorld();
      if (given.bodies[index].shape.kind !== "plane") space.union(moment.setFromObject(object));
    });
  }
  const fixed = given.fixed.filter(({ shape }) => shape.kind !== "plane").map((surface) => {
    const object = shapes.solid(surface.shape, meshes, 0x9aa3b0, dot);
    object.position.set(...surface.position);
    const [w, x, y, z] = surface.orientation;
    object.quaternion.set(x, y, z, w);
    object.name = surface.name;
    scene.add(object);
    return object;
  });
  if (space.isEmpty()) fixed.forEach((object) => space.union(moment.setFromObject(object)));
  if (space.isEmpty()) space.set(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1));
  const corner = new THREE.Vector3();
  for (const { ends } of given.ties) {
    for (const { body, place } of ends) if (body === null) space.expandByPoint(corner.set(...place));
  }
  // Planes that are near.
  for (const { shape, position } of given.fixed) {
    if (shape.kind !== "plane") continue;
    const above = foot(shape, position, space.getCenter(corner)).distanceTo(corner);
    if (above < 1.5 * space.getSize(new THREE.Vector3()).length()) space.expandByPoint(foot(shape, position, corner));
  }
  const centre = space.getCenter(new THREE.Vector3());
  const radius = Math.max(space.getSize(new THREE.Vector3()).length() / 2, 1e-6);

  // The point of a plane below another.
  function foot(shape, position, point) {
    const normal = new THREE.Vector3(...shape.normal);
    return point.clone().addScaledVector(normal, normal.dot(new THREE.Vector3(...position).sub(point)));
  }

  const planes = [];
  function addPlane(shape, position, parent) {
    const object = shapes.plane(shape, 1.6 * radius, 0xc4cbd6, 0x7b8696);
    if (!parent) object.position.copy(foot(shape, position, centre));
    (parent ?? scene).add(object);
    planes.push(object);
  }
  for (const { shape, position } of given.fixed) if (shape.kind === "plane") addPlane(shape, position, null);
  given.bodies.forEach(({ shape }, index) => shape.kind === "plane" && addPlane(shape, [0, 0, 0], bodies[index]));

  // Many contacts at a time are drawn finer, so that one is told from another.
  const mostOf = ({ firstForce }) => firstForce.reduce((most, first, i) => (i ? Math.max(most, first - firstForce[i - 1]) : 0), 0);
  const fine = radius * Math.min(1, Math.max(0.35, Math.cbrt(30 / contacts.reduce((sum, source) => sum + mostOf(source), 0))));
  // Seen through bodies, which would hide most of it.
  const glow = (colour) => new THREE.MeshBasicMaterial({ color: colour, depthTest: false, transparent: true, opacity: 0.9 });
  // As many copies of a form as are added.
  const instances = (form, material) => {
    let mesh = null;
    function grow(room) {
      const larger = new THREE.InstancedMesh(form, material, room);
      larger.frustumCulled = false;
      larger.count = mesh?.count ?? 0;
      if (mesh) {
        larger.instanceMatrix.array.set(mesh.instanceMatrix.array);
        scene.remove(mesh);
        mesh.dispose();
      }
      scene.add(larger);
      mesh = larger;
    }
    grow(16);
    return {
      clear: () => (mesh.count = 0),
      add(matrix) {
        if (mesh.count === mesh.instanceMatrix.count) grow(2 * mesh.count);
        mesh.setMatrixAt(mesh.count++, matrix);
      },
      changed: () => (mesh.instanceMatrix.needsUpdate = true),
      count: () => mesh.count,
    };
  };
  const rods = instances(
    new THREE.CylinderGeometry(0.008 * radius, 0.008 * radius, 1, 10).translate(0, 0.5, 0),
    new THREE.MeshStandardMaterial({ color: 0x7d8794, roughness: 0.6 }),
  );
  const dots = instances(new THREE.SphereGeometry(0.011 * fine, 12, 8), glow(0xd81b60));
  const arrows = (colour) => ({
    shafts: instances(new THREE.CylinderGeometry(0.006 * fine, 0.006 * fine, 1, 10).translate(0, 0.5, 0), glow(colour)),
    heads: instances(new THREE.ConeGeometry(0.018 * fine, 0.05 * fine, 14).translate(0, -0.025 * fine, 0), glow(colour)),
  });
  // Colours of the legend in report.css.
  const normals = arrows(0xe53935);
  const frictions = arrows(0x1e88e5);

  scene.add(new THREE.HemisphereLight(0xffffff, 0x8a8f99, 1.7));
  const sun = new THREE.DirectionalLight(0xffffff, 1.9);
  sun.castShadow = true;
  sun.shadow.mapSize.set(1024, 1024);
  const side = Math.abs(up.z) > 0.5 ? new THREE.Vector3(0.5, -0.7, 0) : new THREE.Vector3(0.5, 0, 0.7);
  sun.position.copy(centre).addScaledVector(up, 3 * radius).addScaledVector(side, 2 * radius);
  sun.target.position.copy(centre);
  Object.assign(sun.shadow.camera, { left: -2 * radius, right: 2 * radius, top: 2 * radius, bottom: -2 * radius, near: 0.1 * radius, far: 8 * radius });
  sun.shadow.camera.updateProjectionMatrix();
  sun.shadow.normalBias = 0.01 * radius;
  scene.add(sun, sun.target);

  function pathSize() {
    const box = new THREE.Box3();
    const body = new THREE.Group();
    for (const track of tracks) {
      for (const k of [0, times.length >> 1, times.length - 1]) {
        pose(track, k, 0, body);
        box.expandByPoint(body.position);
      }
    }
    return box.isEmpty() ? 1 : Math.max(box.getSize(new THREE.Vector3()).length(), 0.1);
  }

  const settings = { forces: true, scale: 0, follow: -1 };
  // Nine tenths of the forces are shorter than a quarter of the scene, less where there are many; none is longer than the scene.
  const longest = 1.2 * radius;
  const lengthOf = (newtons) => (usual > 0 ? (newtons / usual) * 0.25 * fine * 2 ** settings.scale : 0);

  const matrix = new THREE.Matrix4();
  const turn = new THREE.Quaternion();
  const place = new THREE.Vector3();
  const direction = new THREE.Vector3();
  const scale = new THREE.Vector3();
  const UP = new THREE.Vector3(0, 1, 0);

  // Points of sample `last`, and of each contact the largest force of the samples from `first` to `last`.
  function showContacts(first, last) {
    const shown = [dots, normals.shafts, normals.heads, frictions.shafts, frictions.heads];
    shown.forEach((copies) => copies.clear());
    for (const source of contacts) {
      const end = Math.min(Math.floor(last / source.stride), source.last);
      showTouches(source, Math.min(Math.ceil(first / source.stride), end), end);
    }
    shown.forEach((copies) => copies.changed());
  }

  function showTouches({ firstPoint, firstForce, contactOf, point, origin, force, friction, newtons, strongest }, first, last) {
    const at = (list, i) => place.set(list[0][i], list[1][i], list[2][i]);
    for (let i = firstPoint[last]; i < firstPoint[last + 1]; i++) dots.add(matrix.makeTranslation(at(point, i)));
    const pressed = [];
    for (let i = firstForce[first]; i < firstForce[last + 1]; i++) {
      const found = strongest[contactOf[i]];
      if (found < 0) pressed.push(contactOf[i]);
      if (found < 0 || newtons[i] > newtons[found]) strongest[contactOf[i]] = i;
    }
    for (const contact of pressed) {
      const i = strongest[contact];
      strongest[contact] = -1;
      if (i < firstForce[last]) dots.add(matrix.makeTranslation(at(origin, i)));
      if (!settings.forces) continue;
      const [x, y, z] = [friction[0][i], friction[1][i], friction[2][i]];
      addArrow(normals, at(origin, i), direction.set(force[0][i] - x, force[1][i] - y, force[2][i] - z));
      addArrow(frictions, at(origin, i), direction.set(x, y, z));
    }
  }

  // Changes the place and the vector.
  function addArrow({ shafts, heads }, from, vector) {
    const newtons = vector.length();
    const length = Math.min(lengthOf(newtons), longest);
    if (length < 1e-3 * fine) return;
    turn.setFromUnitVectors(UP, vector.divideScalar(newtons));
    shafts.add(matrix.compose(from, turn, scale.set(1, Math.max(length - 0.04 * fine, 1e-6), 1)));
    from.addScaledVector(vector, length);
    heads.add(matrix.compose(from, turn, scale.setScalar(Math.min(1, length / (0.06 * fine)))));
  }

  // A spring or distance as a rod between its ends, and rods from the bodies' centres to where they are joined.
  function showTies() {
    rods.clear();
    for (const { ends } of given.ties) {
      const places = ends.map(({ body, place: at }) => {
        const anchor = new THREE.Vector3(...at);
        if (body === null) return anchor;
        bodies[body].localToWorld(anchor);
        addRod(bodies[body].position, anchor);
        return anchor;
      });
      addRod(...places);
    }
    rods.changed();
  }

  function addRod(from, to) {
    const length = direction.copy(to).sub(from).length();
    if (length < 1e-3 * radius) return;
    turn.setFromUnitVectors(UP, direction.divideScalar(length));
    rods.add(matrix.compose(from, turn, scale.set(1, length, 1)));
  }

  const last = { k: 0, part: 0, window: 0 };
  const left = new THREE.Vector3();
  // Shows the moment `part` of the way from sample k to the next, with the forces of the last `window` samples.
  function show(k, part, window) {
    Object.assign(last, { k, part, window });
    const followed = bodies[settings.follow];
    if (followed) left.copy(followed.position);
    bodies.forEach((object, index) => {
      pose(tracks[index], k, part, object);
      object.updateMatrixWorld();
    });
    if (followed) {
      const moved = followed.position.clone().sub(left);
      camera.position.add(moved);
      controls.target.add(moved);
    }
    showTies();
    showContacts(Math.max(0, k - window), k);
    draw();
  }

  let asked = false;
  function draw() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      planes.forEach((plane) => plane.userData.face(camera.position));
      renderer.render(scene, camera);
    });
  }

  function home() {
    const away = up.clone().multiplyScalar(0.45).addScaledVector(side, 1.3).normalize();
    const distance = (1.05 * radius) / Math.sin((Math.PI / 180) * 0.5 * camera.fov) / Math.min(1, camera.aspect);
    camera.position.copy(centre).addScaledVector(away, distance);
    Object.assign(camera, { near: distance / 200, far: distance * 20 });
    camera.updateProjectionMatrix();
    controls.target.copy(centre);
    controls.update();
    draw();
  }

  function resize() {
    const { clientWidth: width, clientHeight: height } = canvas.parentElement;
    renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    renderer.setSize(width, height, false);
    camera.aspect = width / height;
    camera.updateProjectionMatrix();
    draw();
  }

  function paint() {
    const dark = charts.isDark();
    scene.background = new THREE.Color(charts.style("--back"));
    bodies.forEach((object, index) => {
      object.traverse((part) => part.material?.isMeshStandardMaterial && !planes.some((plane) => plane.userData.sheet === part) && part.material.color.set(charts.colour(index)));
    });
    for (const plane of planes) plane.userData.sheet.material.color.set(dark ? 0x3a4351 : 0xdfe4ec);
    draw();
  }

  controls.addEventListener("change", draw);
  new ResizeObserver(resize).observe(canvas.parentElement);
  resize();
  home();
  paint();
  const gridStep = planes[0]?.userData.step;
  return {
    show,
    home,
    paint,
    draw,
    gridStep,
    bodies: given.bodies.map((body) => body.name),
    // Lengths of the box around a body or surface, by name.
    sizes: () => Object.fromEntries([...bodies, ...fixed].map((object) => [object.name, new THREE.Box3().setFromObject(object, true).getSize(new THREE.Vector3()).toArray()])),
    position: (index) => bodies[index].position.toArray(),
    arrows: () => normals.shafts.count(),
    frictionArrows: () => frictions.shafts.count(),
    dots: () => dots.count(),
    // Newtons of an arrow as long as the scene's radius.
    newtonsOfRadius: () => (usual > 0 ? (usual * radius) / (0.25 * fine * 2 ** settings.scale) : 0),
    radius,
    set(changes) {
      Object.assign(settings, changes);
      show(last.k, last.part, last.window);
    },
  };
}
