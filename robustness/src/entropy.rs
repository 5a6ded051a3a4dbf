//! Where the choices of a case come from: a seed, or the bytes of a coverage-guided fuzzer.

/// A stream of choices. One from bytes goes on with zeros at their end.
pub struct Entropy {
    source: Source,
}

enum Source {
    Seed(u64),
    Bytes { bytes: Vec<u8>, at: usize },
}

impl Entropy {
    /// Choices that depend on the seed only.
    pub fn seeded(seed: u64) -> Entropy {
        Entropy { source: Source::Seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d) }
    }

    /// Choices that a fuzzer makes.
    pub fn from_bytes(bytes: &[u8]) -> Entropy {
        Entropy { source: Source::Bytes { bytes: bytes.to_vec(), at: 0 } }
    }

    /// 64 bits (SplitMix64 by Steele, Lea and Flood 2014).
    pub fn bits(&mut self) -> u64 {
        match &mut self.source {
            Source::Seed(state) => {
                *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut z = *state;
                z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                z ^ (z >> 31)
            }
            Source::Bytes { bytes, at } => {
                let mut word = [0; 8];
                for byte in &mut word {
                    *byte = bytes.get(*at).copied().unwrap_or(0);
                    *at += 1;
                }
                u64::from_le_bytes(word)
            }
        }
    }

    /// A number below `count`, which is not zero.
    pub fn below(&mut self, count: usize) -> usize {
        // A fuzzer spends one byte on small choices.
        let bits = match &mut self.source {
            Source::Bytes { bytes, at } if count <= 256 => {
                let byte = bytes.get(*at).copied().unwrap_or(0);
                *at += 1;
                u64::from(byte)
            }
            _ => self.bits(),
        };
        (bits % count as u64) as usize
    }

    /// True once in `count` times.
    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }

    /// One of the choices.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// Uniform in 0..1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform between two numbers.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Between two numbers above zero, each decade as likely as the next.
    pub fn decades(&mut self, low: f64, high: f64) -> f64 {
        10.0_f64.powf(self.between(low.log10(), high.log10()))
    }

    /// A number that may do harm.
    pub fn hostile_number(&mut self) -> f64 {
        const EDGES: [f64; 22] = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MAX,
            f64::MIN,
            f64::MIN_POSITIVE,
            5e-324,
            -5e-324,
            f64::EPSILON,
            1e-300,
            1e300,
            1e154,
            1e16,
            -1e9,
            1e-9,
            4_294_967_296.0,
            2e7,
        ];
        match self.below(4) {
            0 | 1 => *self.pick(&EDGES),
            2 => f64::from_bits(self.bits()),
            _ => self.decades(1e-12, 1e12) * if self.one_in(2) { -1.0 } else { 1.0 },
        }
    }

    /// A size that may do harm.
    pub fn hostile_size(&mut self) -> usize {
        const EDGES: [usize; 8] =
            [0, 1, 2, 255, 65_536, u32::MAX as usize, isize::MAX as usize / 8 + 1, usize::MAX];
        if self.one_in(2) { *self.pick(&EDGES) } else { self.below(1000) }
    }
}
