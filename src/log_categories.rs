//! Log categories of the FMU: `modelDescription.xml` lists them, the library inside the FMU uses them.

/// Contacts that change between open, stick and slip.
pub const LOG_EVENTS: &str = "logEvents";
/// How bodies that the master moves respond to forces.
pub const LOG_COUPLING: &str = "logCoupling";
/// Why a call returned fmi2Warning, and couplings that do not work well.
pub const LOG_STATUS_WARNING: &str = "logStatusWarning";
/// Why a call returned fmi2Discard.
pub const LOG_STATUS_DISCARD: &str = "logStatusDiscard";
/// Why a call returned fmi2Error.
pub const LOG_STATUS_ERROR: &str = "logStatusError";
/// All categories at once.
pub const LOG_ALL: &str = "logAll";

/// Name and description of every category.
pub const LOG_CATEGORIES: &[(&str, &str)] = &[
    (LOG_EVENTS, "Contacts that change between open, stick and slip"),
    (LOG_COUPLING, "How bodies that the master moves respond to forces"),
    (LOG_STATUS_WARNING, "Why a call returned fmi2Warning, and couplings that do not work well"),
    (LOG_STATUS_DISCARD, "Why a call returned fmi2Discard"),
    (LOG_STATUS_ERROR, "Why a call returned fmi2Error"),
    (LOG_ALL, "All categories"),
];
