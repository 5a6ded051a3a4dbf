"""Exact solutions, in closed form or event by event."""

import numpy as np


def ball_height(times, height=0.801, g=10.0, restitution=0.8):
    """Gap of a ball dropped from `height` above the floor."""
    impact = np.sqrt(2 * height / g)
    speed = g * impact
    gaps = np.where(times <= impact, height - g * times**2 / 2, 0.0)
    for _ in range(400):
        speed *= restitution
        flight = 2 * speed / g
        since = times - impact
        gaps = np.where((since > 0) & (since <= flight), since * (speed - g * since / 2), gaps)
        impact += flight
    return gaps


def ball_impacts(count, height=0.801, g=10.0, restitution=0.8):
    """Times of the first impacts and speeds before them."""
    times, speeds = [np.sqrt(2 * height / g)], [np.sqrt(2 * height * g)]
    for _ in range(count - 1):
        speeds.append(speeds[-1] * restitution)
        times.append(times[-1] + 2 * speeds[-1] / g)
    return np.array(times), np.array(speeds)


def tilted_travel(times, height, g, angle, mu, restitution):
    """Path along a tilted plane of a ball that is let go at `height` above it and slides in every contact.

    Friction takes `mu` of the normal impulse, the normal impulse is `g cos t + v_n`, and `v_n` is the ball's.
    """
    normal = ball_height(times, height, g * np.cos(angle), restitution)
    weight = g * times**2 / 2
    return weight * np.sin(angle) - mu * (normal - height + weight * np.cos(angle))


class Modes:
    """Free motion of M q'' + K q = f from q, v at time 0."""

    def __init__(self, mass, stiffness, force):
        self.scale = np.sqrt(mass)
        values, self.vectors = np.linalg.eigh(stiffness / np.outer(self.scale, self.scale))
        self.omega = np.sqrt(np.where(values > 1e-9 * values.max(initial=1.0), values, 0.0))
        self.oscillates = self.omega > 0
        self.push = self.vectors.T @ (force / self.scale)
        self.square = np.where(self.oscillates, self.omega**2, 1.0)

    def start(self, position, velocity):
        self.rest = np.where(self.oscillates, self.push / self.square, 0.0)
        self.q = self.vectors.T @ (self.scale * position) - self.rest
        self.v = self.vectors.T @ (self.scale * velocity)

    def at(self, time, rows):
        """Position, velocity and acceleration of some coordinates."""
        safe = np.where(self.oscillates, self.omega, 1.0)
        c, s = np.cos(self.omega * time), np.sin(self.omega * time)
        drift = self.push * time
        q = np.where(
            self.oscillates, self.rest + self.q * c + self.v / safe * s, self.q + self.v * time + drift * time / 2
        )
        v = np.where(self.oscillates, self.v * c - self.q * self.omega * s, self.v + drift)
        a = np.where(self.oscillates, -self.square * (q - self.rest), self.push)
        rows = self.vectors[rows] / self.scale[rows, None]
        return rows @ q, rows @ v, rows @ a


def stopped(mass, stiffness, force, position, velocity, restitution, times, still=1e-9):
    """q and v at `times` of a linear system whose first coordinate meets a stop at 0, with Newton's impact law.

    Event by event: flights in closed form, their ends by bisection; bounces slower than `still` end in contact, which
    ends where its force would pull.
    """
    mass, force = np.asarray(mass, float), np.asarray(force, float)
    position, velocity = np.array(position, float), np.array(velocity, float)
    n = len(mass)
    all_rows, first, neighbours = np.arange(n), np.array([0]), np.flatnonzero(stiffness[0, 1:])
    free = Modes(mass, stiffness, force)
    held = Modes(mass[1:], stiffness[1:, 1:], force[1:]) if n > 1 else None
    states = np.zeros((len(times), 2 * n))
    now, touching = 0.0, False
    quickest = 0.1 / max(free.omega.max(), 1.0)

    def fill(begin, end, at):
        for index in np.flatnonzero((times >= begin) & (times < end)):
            states[index, :n], states[index, n:] = at(times[index] - begin)

    def first_root(of, step, until):
        """First time at which `of` falls below 0."""
        low = 0.0
        while low < until:
            high = low + step
            if of(high) < 0.0:
                for _ in range(100):
                    middle = 0.5 * (low + high)
                    low, high = (low, middle) if of(middle) < 0.0 else (middle, high)
                return high
            low = high
        return np.inf

    end = times[-1] + 1e-9
    while now < end:
        if touching:
            held.start(position[1:], velocity[1:])

            def at(time):
                q, v, _ = held.at(time, all_rows[:-1])
                return np.append(0.0, q), np.append(0.0, v)

            def pressure(time):
                return stiffness[0, neighbours + 1] @ held.at(time, neighbours)[0] - force[0]

            until = first_root(pressure, quickest, end - now)
            touching = False
        else:
            free.start(position, velocity)
            at = lambda time: free.at(time, all_rows)[:2]
            speed, push = free.at(0.0, first)[1][0], free.at(0.0, first)[2][0]
            step = quickest if push >= 0 or position[0] > 0 else min(quickest, 0.4 * speed / -push)
            until = first_root(lambda time: free.at(time, first)[0][0], step, end - now)
        fill(now, now + until, at)
        if not np.isfinite(until):
            break
        position, velocity = at(until)
        position[0] = 0.0
        if velocity[0] < 0.0:
            velocity[0] *= -restitution
            touching = velocity[0] < still
            velocity[0] = 0.0 if touching else velocity[0]
        now += until
    return states


def stick_slip(times, friction, amplitude, omega):
    """x and v of a unit mass on a plane with friction up to `friction`, from rest under amplitude sin(omega t)."""
    drive = lambda time: amplitude * np.sin(omega * time)
    states = np.zeros((len(times), 2))
    end, look = times[-1] + 1e-9, 0.001 * 2 * np.pi / omega
    now, place, sticks = 0.0, 0.0, True

    def first_root(of):
        """First time after `now` at which `of` is no longer positive."""
        high = now + look
        while of(high) > 0.0 and high < end:
            high += look
        low = high - look
        for _ in range(100 if high < end else 0):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if of(middle) > 0.0 else (low, middle)
        return high

    while now < end:
        if sticks:
            until = first_root(lambda time: friction - abs(drive(time)))
            position = velocity = lambda time: np.zeros_like(time)
        else:
            way = np.sign(drive(now))
            first, second, begin = amplitude / omega, amplitude / omega**2, now
            velocity = lambda time: first * (np.cos(omega * begin) - np.cos(omega * time)) - way * friction * (
                time - begin
            )
            position = lambda time: (
                first * np.cos(omega * begin) * (time - begin)
                - second * (np.sin(omega * time) - np.sin(omega * begin))
                - way * friction * (time - begin) ** 2 / 2
            )
            until = first_root(lambda time: way * velocity(time))
        here = (times >= now) & (times < until)
        states[here, 0], states[here, 1] = place + position(times[here]), velocity(times[here])
        place += position(until)
        now = until
        sticks = not sticks and abs(drive(now)) <= friction
    return states


def moreau_jean(position, velocity, acceleration, restitution, mu, h, steps, gamma=0.5):
    """A unit mass (along, above) a plane, or above it alone, by the scheme of Moreau and Jean with theta = 1/2."""
    q, v = np.array(position, float), np.array(velocity, float)
    states = [np.append(q, v)]
    for _ in range(steps):
        free = v + h * np.asarray(acceleration)
        after = free.copy()
        if q[-1] + gamma * h * v[-1] <= 0.0:
            press = max(0.0, -(free[-1] + restitution * v[-1]))
            after[-1] = free[-1] + press
            after[:-1] = free[:-1] + np.clip(-free[:-1], -mu * press, mu * press)
        q, v = q + h * 0.5 * (v + after), after
        states.append(np.append(q, v))
    return np.array(states)
