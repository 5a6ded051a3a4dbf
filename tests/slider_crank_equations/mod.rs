//! The slider-crank of `models/slider_crank` by its equations in the plane, followed from event to event.
//!
//! Angles `a` of crank and `b` of rod, from the x axis towards z. The slider does not turn: no joint gives it a moment,
//! and friction on a face, mu at half the height, is less than what its two corners take, half the length. So a face
//! touches as a whole, and each side is one contact at the wrist pin: `z = l1 sin a + l2 sin b` between `-c` and `c`.
//! `M (a, b)'' = q + N (n - mu s t)`, with rows `n` of the gap, `t` of x, and the sense `s` of sliding.

const L1: f64 = 0.153;
const L2: f64 = 0.306;
const CRANK: f64 = 0.038;
const ROD: f64 = 0.038;
const SLIDER: f64 = 0.076;
const CRANK_INERTIA: f64 = 7.4e-5;
const ROD_INERTIA: f64 = 5.9e-4;
const GRAVITY: f64 = 9.81;
const CLEARANCE: f64 = 0.001;
const RESTITUTION: f64 = 0.4;
const MU: f64 = 0.01;

/// Longest step of the fourth-order formula.
const STEP: f64 = 2e-6;
/// Speed of bounces that are closed.
const CLOSED: f64 = 1e-7;

/// What touches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Touch {
    /// Nothing.
    None,
    /// The upper face, by 1, or the lower one, by -1.
    Face(f64),
}

/// Where the mechanism is.
#[derive(Clone, Debug)]
pub struct SliderCrank {
    /// Time.
    pub time: f64,
    /// Angles of crank and rod.
    pub angles: [f64; 2],
    /// Their rates.
    pub rates: [f64; 2],
    /// Whether a face slides along the guide.
    pub touch: Touch,
    /// Impacts so far.
    pub impacts: usize,
    /// Whether there is a guide.
    has_guide: bool,
}

type Pair = [f64; 2];

fn dot(one: Pair, other: Pair) -> f64 {
    one[0] * other[0] + one[1] * other[1]
}

/// `M^-1 f`.
fn accelerated(angles: Pair, f: Pair) -> Pair {
    let first = CRANK_INERTIA + CRANK * L1 * L1 / 4.0 + (ROD + SLIDER) * L1 * L1;
    let second = ROD_INERTIA + ROD * L2 * L2 / 4.0 + SLIDER * L2 * L2;
    let mixed = (0.5 * ROD + SLIDER) * L1 * L2 * (angles[0] - angles[1]).cos();
    let determinant = first * second - mixed * mixed;
    [(second * f[0] - mixed * f[1]) / determinant, (first * f[1] - mixed * f[0]) / determinant]
}

/// Gravity and what is left of `M v'` in motion.
fn load(angles: Pair, rates: Pair) -> Pair {
    let mixed = (0.5 * ROD + SLIDER) * L1 * L2 * (angles[0] - angles[1]).sin();
    [
        -mixed * rates[1] * rates[1] - GRAVITY * angles[0].cos() * (0.5 * CRANK + ROD + SLIDER) * L1,
        mixed * rates[0] * rates[0] - GRAVITY * angles[1].cos() * (0.5 * ROD + SLIDER) * L2,
    ]
}

fn height(angles: Pair) -> f64 {
    L1 * angles[0].sin() + L2 * angles[1].sin()
}

/// Row of z, and of x.
fn rows(angles: Pair) -> (Pair, Pair) {
    ([L1 * angles[0].cos(), L2 * angles[1].cos()], [-L1 * angles[0].sin(), -L2 * angles[1].sin()])
}

impl SliderCrank {
    /// Stretched out, with the crank at 150 rad/s and the slider at rest.
    pub fn new(has_guide: bool) -> SliderCrank {
        SliderCrank {
            time: 0.0,
            angles: [0.0; 2],
            rates: [150.0, -75.0],
            touch: Touch::None,
            impacts: 0,
            has_guide,
        }
    }

    /// Where the centre of the slider is, along x and z.
    pub fn slider(&self) -> Pair {
        [L1 * self.angles[0].cos() + L2 * self.angles[1].cos(), height(self.angles)]
    }

    /// Angular accelerations, and the force of the guide on a face.
    fn acceleration(&self, angles: Pair, rates: Pair, sense: f64) -> (Pair, f64) {
        let load = load(angles, rates);
        let Touch::Face(side) = self.touch else { return (accelerated(angles, load), 0.0) };
        let (z, x) = rows(angles);
        let push = [0, 1].map(|k| -side * z[k] - MU * sense * x[k]);
        let (free, pushed) = (accelerated(angles, load), accelerated(angles, push));
        // z'' = z.v' - l1 sin(a) a'^2 - l2 sin(b) b'^2
        let bent = -L1 * angles[0].sin() * rates[0].powi(2) - L2 * angles[1].sin() * rates[1].powi(2);
        let force = -(dot(z, free) + bent) / dot(z, pushed);
        ([0, 1].map(|k| free[k] + force * pushed[k]), force)
    }

    fn sense(&self) -> f64 {
        dot(rows(self.angles).1, self.rates).signum()
    }

    /// The state after `dt`, by Runge and Kutta.
    fn ahead(&self, dt: f64) -> SliderCrank {
        let sense = self.sense();
        let slope = |angles: Pair, rates: Pair| (rates, self.acceleration(angles, rates, sense).0);
        let at = |(da, dv): (Pair, Pair), dt: f64| {
            ([0, 1].map(|k| self.angles[k] + dt * da[k]), [0, 1].map(|k| self.rates[k] + dt * dv[k]))
        };
        let one = slope(self.angles, self.rates);
        let (angles, rates) = at(one, 0.5 * dt);
        let two = slope(angles, rates);
        let (angles, rates) = at(two, 0.5 * dt);
        let three = slope(angles, rates);
        let (angles, rates) = at(three, dt);
        let four = slope(angles, rates);
        let mean = |k: usize| {
            let part = |of: fn(&(Pair, Pair)) -> &Pair| {
                (of(&one)[k] + 2.0 * of(&two)[k] + 2.0 * of(&three)[k] + of(&four)[k]) / 6.0
            };
            (part(|slope| &slope.0), part(|slope| &slope.1))
        };
        let [first, second] = [mean(0), mean(1)];
        SliderCrank {
            time: self.time + dt,
            angles: [self.angles[0] + dt * first.0, self.angles[1] + dt * second.0],
            rates: [self.rates[0] + dt * first.1, self.rates[1] + dt * second.1],
            ..self.clone()
        }
    }

    /// Whether something has happened between the last state and this one.
    fn has_event(&self, last: &SliderCrank) -> bool {
        match self.touch {
            Touch::None => {
                let (z, rate) = (height(self.angles), dot(rows(self.angles).0, self.rates));
                self.has_guide && z.abs() > CLEARANCE && z * rate > 0.0
            }
            Touch::Face(_) => {
                let sense = last.sense();
                self.sense() != sense || self.acceleration(self.angles, self.rates, sense).1 < 0.0
            }
        }
    }

    /// Follows the mechanism up to a time.
    pub fn advance_to(&mut self, time: f64) {
        while self.time < time - 1e-15 {
            let dt = STEP.min(time - self.time);
            let mut next = self.ahead(dt);
            if next.has_event(self) {
                let (mut low, mut high) = (0.0, dt);
                for _ in 0..60 {
                    let middle = 0.5 * (low + high);
                    if self.ahead(middle).has_event(self) { high = middle } else { low = middle }
                }
                next = self.ahead(high);
                next.settle(self.sense());
            }
            *self = next;
        }
    }

    /// After an event: an impact, or the end of touching, or sliding the other way.
    fn settle(&mut self, sense: f64) {
        match self.touch {
            Touch::Face(_) => {
                if self.acceleration(self.angles, self.rates, sense).1 < 0.0 {
                    self.touch = Touch::None;
                }
            }
            Touch::None => {
                let side = height(self.angles).signum();
                let (z, x) = rows(self.angles);
                let speed = -side * dot(z, self.rates);
                let push = [0, 1].map(|k| -side * z[k] - MU * self.sense() * x[k]);
                let pushed = accelerated(self.angles, push);
                let closes = -speed < CLOSED;
                let restitution = if closes { 0.0 } else { RESTITUTION };
                let impulse = -(1.0 + restitution) * speed / (-side * dot(z, pushed));
                self.rates = [0, 1].map(|k| self.rates[k] + impulse * pushed[k]);
                self.impacts += 1;
                if closes {
                    self.touch = Touch::Face(side);
                }
            }
        }
    }
}
