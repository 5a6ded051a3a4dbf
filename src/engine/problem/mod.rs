//! Contact problems and their independent check.

pub mod cone;
pub mod residual;
