//! Contact problems and their independent check.

pub mod boxed;
pub mod complementarity;
pub mod cone;
pub mod lcp;
pub mod residual;
pub mod residual_linear;
