"""Mechanisms drawn at random, many moved at once: spatial chains of one to six revolute and prismatic joints with random axes, some
planar, with point masses, and springs between them that close loops. One to four of the masses are nodes over a floor."""

import numpy as np
from masters import FMU2NamedSlave
from mechanisms import G, model


# Steps in which an impact is delivered, and what it lacked is made up for.
DELIVERY = 8


class Chains:
    """Chains of the same number of joints. Mass k is behind joint k: R_k = R_(k-1) turn(axis_k, q_k), p_k = p_(k-1) + R_k arm_k,
    or p_(k-1) + R_k (arm_k + q_k axis_k) behind a prismatic joint."""

    def __init__(self, seeds, joints, step):
        draw = [np.random.default_rng(seed) for seed in seeds]
        each = lambda make: np.array([make(random) for random in draw])
        self.joints, self.step = joints, step
        unit = lambda vectors: vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
        planar = each(lambda random: random.random() < 0.4)
        axes = unit(each(lambda random: random.normal(size=(joints, 3))))
        self.axes = np.where(planar[:, None, None], [0.0, 1.0, 0.0], axes)
        self.slides = each(lambda random: random.random(joints) < 0.15)
        slide_axes = unit(each(lambda random: random.normal(size=(joints, 3))) * np.where(planar[:, None, None], [1.0, 0.0, 1.0], 1.0))
        self.axes = np.where(self.slides[..., None], slide_axes, self.axes)
        lengths = each(lambda random: random.uniform(0.3, 1.0, joints))
        ways = unit(each(lambda random: random.normal(size=(joints, 3))) * np.where(planar[:, None, None], [1.0, 0.0, 1.0], 1.0))
        # Arms are across their axes, so that every joint moves its mass.
        across = ways - self.axes * (ways * self.axes).sum(axis=-1, keepdims=True)
        self.arms = lengths[..., None] * np.where(self.slides[..., None], ways, unit(across))
        self.masses = each(lambda random: random.uniform(0.3, 3.0, joints))
        self.q, self.v = each(lambda random: random.uniform(-1.0, 1.0, joints)), np.zeros((len(draw), joints))
        self.nodes = [np.sort(random.permutation(joints)[: random.integers(1, 5)]) for random in draw]
        self.restitution = each(lambda random: random.uniform(0.0, 0.8))
        self.mu = each(lambda random: random.choice([0.0, 0.4]))
        self.guesses = [chain * random.uniform(0.5, 2.0, joints) for chain, random in zip(self.masses, draw)]
        self.make_springs(draw)
        places = self.places(self.q)[0]
        lowest = np.array([places[b, nodes, 2].min() for b, nodes in enumerate(self.nodes)])
        self.floor = lowest - each(lambda random: random.uniform(0.05, 0.3))

    def make_springs(self, draw):
        """Half of the chains have one, from a mass to another one or to the ground; H omega is drawn too."""
        count, joints = self.q.shape
        places, jacobian, _ = self.places(self.q)
        self.ends = np.array([random.permutation(joints + 1)[:2] for random in draw])
        self.ends = np.sort(self.ends, axis=1)  # the last index is the ground
        anchors = places[:, -1] + np.array([random.normal(size=3) for random in draw])
        self.anchors = anchors
        along, self.rest = self.stretch(places)
        ways = np.einsum("ba,bai->bi", along, self.difference(jacobian))
        answer = np.einsum("bi,bi->b", ways, np.linalg.solve(self.mass_matrix(jacobian), ways[..., None])[..., 0])
        wanted = np.array([10 ** random.uniform(-2, np.log10(0.3)) for random in draw])
        has = np.array([random.random() < 0.5 for random in draw])
        self.stiffness = np.where(has, (wanted / self.step) ** 2 / np.maximum(answer, 1e-3), 0.0)
        self.h_omega = self.step * np.sqrt(self.stiffness * answer)

    def difference(self, of_masses):
        """Between the ends of the springs: first less second."""
        padded = np.concatenate([of_masses, np.zeros_like(of_masses[:, :1])], axis=1)
        rows = np.arange(len(padded))
        return padded[rows, self.ends[:, 0]] - padded[rows, self.ends[:, 1]]

    def stretch(self, places):
        apart = self.difference(places) - np.where((self.ends[:, 1] == self.joints)[:, None], self.anchors, 0.0)
        length = np.linalg.norm(apart, axis=1)
        return apart / length[:, None], length

    def places(self, q, v=None):
        """Of the masses, their Jacobians by batch, mass, axis, joint, and with velocities the accelerations that joints make by
        going on as they do."""
        count, joints = q.shape
        turn = np.broadcast_to(np.eye(3), (count, 3, 3))
        place = spin = rise = acceleration = np.zeros((count, 3))
        places, axes, origins, bends = [], [], [], []
        jacobian = np.zeros((count, joints, 3, joints))
        for k in range(joints):
            axis, slides = np.einsum("bij,bj->bi", turn, self.axes[:, k]), self.slides[:, k, None]
            angle = np.where(self.slides[:, k], 0.0, q[:, k])
            turn = np.einsum("bij,bjk->bik", turn, rotations(self.axes[:, k], angle))
            arm = np.einsum("bij,bj->bi", turn, self.arms[:, k])
            arm = np.where(slides, arm + axis * q[:, k, None], arm)
            origins.append(place)
            axes.append(axis)
            if v is not None:
                rate = axis * v[:, k, None]
                slid = np.where(slides, rate, 0.0)
                turned = np.where(slides, 0.0, rate)
                rise = rise + np.cross(spin, turned)
                spin = spin + turned
                acceleration = acceleration + np.cross(rise, arm) + np.cross(spin, np.cross(spin, arm)) + 2 * np.cross(spin, slid)
                bends.append(acceleration)
            place = place + arm
            places.append(place)
            for i in range(k + 1):
                jacobian[:, k, :, i] = np.where(self.slides[:, i, None], axes[i], np.cross(axes[i], place - origins[i]))
        return np.stack(places, 1), jacobian, np.stack(bends, 1) if v is not None else None

    def mass_matrix(self, jacobian):
        return np.einsum("bkai,bk,bkaj->bij", jacobian, self.masses, jacobian)

    def rates(self, q, v, force):
        places, jacobian, bends = self.places(q, v)
        all_forces = force - self.masses[..., None] * bends
        all_forces[..., 2] -= G * self.masses
        push = np.einsum("bkai,bka->bi", jacobian, all_forces)
        along, length = self.stretch(places)
        pull = self.stiffness * (length - self.rest)
        push -= pull[:, None] * np.einsum("ba,bai->bi", along, self.difference(jacobian))
        return v, np.linalg.solve(self.mass_matrix(jacobian), push[..., None])[..., 0]

    def move(self, force):
        """The classical Runge-Kutta rule, over a step with forces on the masses."""
        h, q, v = self.step, self.q, self.v
        a = self.rates(q, v, force)
        b = self.rates(q + h / 2 * a[0], v + h / 2 * a[1], force)
        c = self.rates(q + h / 2 * b[0], v + h / 2 * b[1], force)
        d = self.rates(q + h * c[0], v + h * c[1], force)
        self.q = q + h / 6 * (a[0] + 2 * b[0] + 2 * c[0] + d[0])
        self.v = v + h / 6 * (a[1] + 2 * b[1] + 2 * c[1] + d[1])

    def motion(self):
        """Places over the floor, velocities, energies and the potential part of them."""
        places, jacobian, _ = self.places(self.q)
        velocities = np.einsum("bkai,bi->bka", jacobian, self.v)
        kinetic = 0.5 * np.einsum("bk,bka->b", self.masses, velocities**2)
        _, length = self.stretch(places)
        potential = G * (self.masses * places[..., 2]).sum(axis=1) + 0.5 * self.stiffness * (length - self.rest) ** 2
        over = places - self.floor[:, None, None] * np.array([0.0, 0.0, 1.0])
        return over, velocities, kinetic + potential, potential


def rotations(axes, angles):
    """Matrices of turns about unit vectors."""
    x, y, z = axes.T
    zero = np.zeros_like(x)
    cross = np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]]).transpose(2, 0, 1)
    s, c = np.sin(angles)[:, None, None], np.cos(angles)[:, None, None]
    return np.eye(3) + s * cross + (1 - c) * cross @ cross


def run(fmus, seeds, joints, order, step, stop):
    """Moves chains with an FMU each. Returns by chain: largest gain of energy as a part of what gravity has given, the step in which
    it passes 1 %, the step of the first warning (both none if there is none), H omega of its spring, and the warnings. A gain
    has to last for more steps than the delivery of an impact takes."""
    chains = Chains(seeds, joints, step)
    places, velocities, energy, potential = chains.motion()
    slaves = []
    for b, nodes in enumerate(chains.nodes):
        text = model([(0.0, 0.0, 1.0)] * len(nodes), [1.0] * len(nodes), 0.5, 0.5, step)
        slave = FMU2NamedSlave(*fmus.of_text(text))
        slave.instantiate()
        names = lambda letter: [slave.references[f"n{k}.{letter}[{axis}]"] for k in range(len(nodes)) for axis in (1, 2, 3)]
        slave.given, slave.wanted = names("r") + names("v"), names("f")
        for k, node in enumerate(nodes):
            slave.set_named({f"n{k}.mass": chains.guesses[b][node], f"n{k}_floor.mu": chains.mu[b]})
            slave.set_named({f"n{k}_floor.restitution": chains.restitution[b]})
        slave.setupExperiment(startTime=0.0)
        slave.enterInitializationMode()
        slave.setReal(slave.given, [*places[b, nodes].ravel(), *velocities[b, nodes].ravel()])
        slave.held = np.array(slave.getReal(slave.wanted))
        slave.exitInitializationMode()
        slaves.append(slave)
    count, start, deepest = len(slaves), energy, potential
    least = 0.01 * G * (chains.masses * np.linalg.norm(chains.arms, axis=2)).sum(axis=1)
    gain, passed, warned = np.zeros(count), [None] * count, [None] * count
    lately, ended = [], np.zeros(count, bool)
    for k in range(round(stop / step)):
        force = np.zeros((count, joints, 3))
        for b, (slave, nodes) in enumerate(zip(slaves, chains.nodes)):
            if ended[b]:
                continue
            slave.setReal(slave.given, [*places[b, nodes].ravel(), *velocities[b, nodes].ravel()])
            slave.doStep(k * step, step)
            new = np.array(slave.getReal(slave.wanted))
            force[b, nodes] = (new if order == "sequential" else slave.held).reshape(-1, 3)
            slave.held = new
            # Other lines are about contact inside the FMU.
            if warned[b] is None and any(line.startswith("n") for line in slave.warnings):
                warned[b] = k
        chains.move(force)
        chains.q[ended], chains.v[ended] = 0.0, 0.0
        places, velocities, energy, potential = chains.motion()
        deepest = np.minimum(deepest, potential)
        lately = [*lately[-DELIVERY:], (energy - start) / np.maximum(start - deepest, least)]
        # One that runs away is left alone.
        runs_away = lately[-1] > 100.0
        part = np.where(ended, 0.0, np.where(runs_away, lately[-1], np.min(lately, axis=0)))
        gain = np.maximum(gain, part)
        ended |= runs_away
        for b in np.flatnonzero(part > 0.01):
            passed[b] = k if passed[b] is None else passed[b]
    found = [(gain[b], passed[b], warned[b], chains.h_omega[b], slaves[b].warnings) for b in range(count)]
    for slave in slaves:
        slave.terminate()
        slave.freeInstance()
    return found
