"""Mass and kinematics of URDF robots by NumPy alone, another way than the importer goes: homogeneous matrices and second
moments of mass, link by link, without merging."""

import xml.etree.ElementTree as xml

import numpy as np


def numbers(element, key, default):
    text = None if element is None else element.get(key)
    return np.array([float(word) for word in (text or default).split()])


def rotation(axis, angle):
    """Rodrigues."""
    x, y, z = axis
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def frame(element):
    origin = element.find("origin")
    roll, pitch, yaw = numbers(origin, "rpy", "0 0 0")
    matrix = np.eye(4)
    matrix[:3, :3] = rotation((0, 0, 1), yaw) @ rotation((0, 1, 0), pitch) @ rotation((1, 0, 0), roll)
    matrix[:3, 3] = numbers(origin, "xyz", "0 0 0")
    return matrix


def moved(joint, value):
    axis = numbers(joint.find("axis"), "xyz", "1 0 0")
    axis /= np.linalg.norm(axis)
    matrix = np.eye(4)
    if joint.get("type") in ("revolute", "continuous"):
        matrix[:3, :3] = rotation(axis, value)
    elif joint.get("type") == "prismatic":
        matrix[:3, 3] = axis * value
    return frame(joint) @ matrix, axis


class Body:
    """Links that are fixed to one another: the sum over them of the integrals of 1, x and x x^T over mass."""

    def __init__(self):
        self.links, self.moments = [], np.zeros((4, 4))

    def add(self, name, link, at):
        self.links.append(name)
        inertial = link.find("inertial")
        if inertial is None:
            return
        at = at @ frame(inertial)
        mass = float(inertial.find("mass").get("value"))
        entry = lambda key: float(inertial.find("inertia").get(key, "0"))
        tensor = np.array([[entry("ixx"), entry("ixy"), entry("ixz")], [entry("ixy"), entry("iyy"), entry("iyz")],
                           [entry("ixz"), entry("iyz"), entry("izz")]])
        local = np.zeros((4, 4))
        local[:3, :3] = np.eye(3) * np.trace(tensor) / 2 - tensor
        local[3, 3] = mass
        self.moments += at @ local @ at.T

    @property
    def mass(self):
        return self.moments[3, 3]

    @property
    def centre(self):
        return self.moments[:3, 3] / self.mass

    @property
    def tensor(self):
        """About the centre of mass, in world components."""
        second = self.moments[:3, :3] - self.mass * np.outer(self.centre, self.centre)
        return np.eye(3) * np.trace(second) - second


class Robot:
    """A robot at given coordinates of its joints, which are 0 where they are not given."""

    def __init__(self, path, values):
        root = xml.parse(path).getroot()
        links = {link.get("name"): link for link in root.findall("link")}
        joints = root.findall("joint")
        children = {joint.find("child").get("link") for joint in joints}
        (self.root,) = set(links) - children
        self.frames, self.joints = {self.root: np.eye(4)}, {}
        body_of = {self.root: Body()}
        self.bodies = [body_of[self.root]]
        while len(self.frames) < len(links):
            for joint in joints:
                parent, child = joint.find("parent").get("link"), joint.find("child").get("link")
                if parent in self.frames and child not in self.frames:
                    step, axis = moved(joint, values.get(joint.get("name"), 0.0))
                    self.frames[child] = at = self.frames[parent] @ step
                    if joint.get("type") == "fixed":
                        body_of[child] = body_of[parent]
                        continue
                    body_of[child] = Body()
                    self.bodies.append(body_of[child])
                    self.joints[joint.get("name")] = at[:3, 3], at[:3, :3] @ axis, body_of[parent], body_of[child]
        for name, link in links.items():
            body_of[name].add(name, link, self.frames[name])
