//! Springs, dampers and joints of an island in one linear system an interval.
//!
//! Over an interval `dt` the velocities are those of free motion plus `u`:
//!
//! `(M + dt theta C + dt^2 theta^2 K) u = dt f + A^T x + J^T p`, `A (v + u) = b`
//!
//! with the forces `f` of springs and dampers where free motion takes them midway, the impulses `x` of the joints and
//! `p` of the contacts. The matrix is sparse, in blocks of three ([`factor`]), and solved once for free motion and
//! once a contact for how it yields; joints are bilateral rows of it. [Fancello 2012, 3.1; Peiret 2016, eq. 30]

mod approach;
pub mod assembly;
mod factor;
mod output;
pub mod plain;
mod rubbing;

pub use approach::{Approach, Change};
pub use assembly::{Before, Configuration, Scratch, Springs, Stiffening};
pub use output::{JointMotion, joint_motion, spring_apart, spring_energy, spring_length, spring_tension};
pub use rubbing::Rubbing;
