//! Contact problems and their independent check.

pub mod block_matrix;
pub mod boxed;
pub mod cone;
pub mod delassus;
pub mod mixed;
pub mod residual;
pub mod residual_linear;
pub mod residual_mixed;
