//! Contact problems and their independent check.

pub mod block_matrix;
pub mod cone;
pub mod residual;
