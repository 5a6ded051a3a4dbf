"use strict";
// The 3D view: bodies where the samples have them, touching points, force arrows.

async function makeView(model, times) {
  const { scene: given, touching } = model;
  const canvas = document.getElementById("canvas");
  const renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
  renderer.shadowMap.enabled = true;
  const scene = new THREE.Scene();
  const camera = new THREE.PerspectiveCamera(35, 1, 0.01, 1000);
  const fall = new THREE.Vector3(...given.gravity);
  const up = fall.length() > 0 ? fall.normalize().negate() : new THREE.Vector3(0, 0, 1);
  camera.up.copy(up);
  const controls = new THREE.OrbitControls(camera, canvas);
  const column = (place) => (place === null ? null : data.column(place));
  const tracks = await Promise.all(
    given.bodies.map(async ({ motion }) => ({
      ...motion,
      r: await Promise.all(motion.r.map(column)),
      q: await Promise.all(motion.q.map(column)),
    })),
  );
  const load = (chunks) => Promise.all(chunks.map(data.f32));
  const [firstPoint, firstForce, contactOf] = await Promise.all(
    [touching.firstPoint, touching.firstForce, touching.contact].map(data.u32),
  );
  const [point, origin, force, friction] = await Promise.all([touching.point, touching.origin, touching.force, touching.friction].map(load));
  const meshes = await shapes.meshes(given.meshes);

  // Position and orientation of a body between samples k and k + 1.
  function pose(track, k, part, target) {
    const next = Math.min(k + 1, times.length - 1);
    const between = (values, otherwise, sign) => (values ? (1 - part) * values[k] + part * sign * values[next] : otherwise);
    const [x, y, z] = track.r.map((values, axis) => between(values, track.position[axis], 1));
    target.position.set(x, y, z);
    // A quaternion and its opposite are the same turn: the sign that makes the samples neighbours.
    const product = track.q.reduce((sum, values) => sum + (values ? values[k] * values[next] : 0), 0);
    const [qw, qx, qy, qz] = track.q.map((values, i) => between(values, track.orientation[i], product < 0 ? -1 : 1));
    target.quaternion.set(qx, qy, qz, qw).normalize();
  }

  // The space that all bodies take up over time.
  const dot = 0.012 * pathSize();
  const bodies = given.bodies.map((body, index) => {
    const object = body.shape.kind === "plane" ? new THREE.Group() : shapes.solid(body.shape, meshes, charts.colour(index), dot);
    object.name = body.name;
    scene.add(object);
    return object;
  });
  const space = new THREE.Box3();
  const moment = new THREE.Box3();
  const looks = Math.min(times.length, 200);
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

  const most = (first) => first.reduce((found, value, i) => (i ? Math.max(found, value - first[i - 1]) : 0), 0);
  // Seen through bodies, which would hide most of it.
  const glow = (colour) => new THREE.MeshBasicMaterial({ color: colour, depthTest: false, transparent: true, opacity: 0.9 });
  const instances = (form, material, count) => {
    const mesh = new THREE.InstancedMesh(form, material, Math.max(count, 1));
    mesh.frustumCulled = false;
    mesh.count = 0;
    scene.add(mesh);
    return mesh;
  };
  const contacts = model.contacts.length;
  const rods = instances(
    new THREE.CylinderGeometry(0.008 * radius, 0.008 * radius, 1, 10).translate(0, 0.5, 0),
    new THREE.MeshStandardMaterial({ color: 0x7d8794, roughness: 0.6 }),
    3 * given.ties.length,
  );
  const dots = instances(new THREE.SphereGeometry(0.011 * radius, 12, 8), glow(0xd81b60), most(firstPoint) + contacts);
  const arrows = (colour) => ({
    shafts: instances(new THREE.CylinderGeometry(0.006 * radius, 0.006 * radius, 1, 10).translate(0, 0.5, 0), glow(colour), contacts),
    heads: instances(new THREE.ConeGeometry(0.018 * radius, 0.05 * radius, 14).translate(0, -0.025 * radius, 0), glow(colour), contacts),
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
    const place = new THREE.Vector3();
    for (const track of tracks) {
      for (const k of [0, times.length >> 1, times.length - 1]) {
        box.expandByPoint(place.set(...[0, 1, 2].map((axis) => (track.r[axis] ? track.r[axis][k] : track.position[axis]))));
      }
    }
    return box.isEmpty() ? 1 : Math.max(box.getSize(place).length(), 0.1);
  }

  const settings = { forces: true, scale: 0, follow: -1 };
  // Nine tenths of the forces are shorter than a quarter of the scene; none is longer than the scene.
  const longest = 1.2 * radius;
  const lengthOf = (newtons) => (touching.usual > 0 ? (newtons / touching.usual) * 0.25 * radius * 2 ** settings.scale : 0);

  const matrix = new THREE.Matrix4();
  const turn = new THREE.Quaternion();
  const place = new THREE.Vector3();
  const direction = new THREE.Vector3();
  const scale = new THREE.Vector3();
  const UP = new THREE.Vector3(0, 1, 0);

  // Points of sample `last`, and of each contact the largest force of the samples from `first` to `last`.
  function showContacts(first, last) {
    const at = (list, i) => place.set(list[0][i], list[1][i], list[2][i]);
    dots.count = 0;
    const addDot = () => dots.count < dots.instanceMatrix.count && dots.setMatrixAt(dots.count++, matrix.makeTranslation(place));
    for (let i = firstPoint[last]; i < firstPoint[last + 1]; i++) at(point, i) && addDot();
    const strongest = new Map();
    for (let i = firstForce[first]; i < firstForce[last + 1]; i++) {
      const newtons = Math.hypot(force[0][i], force[1][i], force[2][i]);
      if (newtons > (strongest.get(contactOf[i])?.newtons ?? 0)) strongest.set(contactOf[i], { i, newtons });
    }
    for (const kind of [normals, frictions]) kind.shafts.count = kind.heads.count = 0;
    for (const { i } of strongest.values()) {
      if (i < firstForce[last]) at(origin, i) && addDot();
      if (!settings.forces) continue;
      addArrow(normals, at(origin, i), direction.set(...force.map((part, axis) => part[i] - friction[axis][i])));
      addArrow(frictions, at(origin, i), direction.set(...friction.map((part) => part[i])));
    }
    for (const mesh of [dots, normals.shafts, normals.heads, frictions.shafts, frictions.heads]) mesh.instanceMatrix.needsUpdate = true;
    return strongest.size;
  }

  // Changes the place and the vector.
  function addArrow({ shafts, heads }, from, vector) {
    const newtons = vector.length();
    const length = Math.min(lengthOf(newtons), longest);
    if (length < 1e-3 * radius) return;
    turn.setFromUnitVectors(UP, vector.divideScalar(newtons));
    shafts.setMatrixAt(shafts.count++, matrix.compose(from, turn, scale.set(1, Math.max(length - 0.04 * radius, 1e-6), 1)));
    from.addScaledVector(vector, length);
    heads.setMatrixAt(heads.count++, matrix.compose(from, turn, scale.setScalar(Math.min(1, length / (0.06 * radius)))));
  }

  // A spring or distance as a rod between its ends, and rods from the bodies' centres to where they are joined.
  function showTies() {
    rods.count = 0;
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
    rods.instanceMatrix.needsUpdate = true;
  }

  function addRod(from, to) {
    const length = direction.copy(to).sub(from).length();
    if (length < 1e-3 * radius) return;
    turn.setFromUnitVectors(UP, direction.divideScalar(length));
    rods.setMatrixAt(rods.count++, matrix.compose(from, turn, scale.set(1, length, 1)));
  }

  const last = { k: 0, part: 0, window: 0 };
  const before = new THREE.Vector3();
  // Shows the moment `part` of the way from sample k to the next, with the forces of the last `window` samples.
  function show(k, part, window) {
    Object.assign(last, { k, part, window });
    const followed = bodies[settings.follow];
    if (followed) before.copy(followed.position);
    bodies.forEach((object, index) => {
      pose(tracks[index], k, part, object);
      object.updateMatrixWorld();
    });
    if (followed) {
      const moved = followed.position.clone().sub(before);
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
    arrows: () => normals.shafts.count,
    frictionArrows: () => frictions.shafts.count,
    dots: () => dots.count,
    // Newtons of an arrow as long as the scene's radius.
    newtonsOfRadius: () => (touching.usual > 0 ? touching.usual / (0.25 * 2 ** settings.scale) : 0),
    radius,
    set(changes) {
      Object.assign(settings, changes);
      show(last.k, last.part, last.window);
    },
  };
}
