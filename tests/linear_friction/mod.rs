//! Linear friction laws written out as dense complementarity problems, whole problems at once: what the engine's contact
//! problems are compared with.

pub mod bounded;
pub mod facets;
