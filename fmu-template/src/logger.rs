//! Log messages to the importer.
//!
//! The standard asks for a log line with every status other than fmi2OK, and calls everything else debug
//! logging. So without debug logging (loggingOn = fmi2False, or fmi2SetDebugLogging without categories) the
//! logStatus categories stay on, as in the Reference-FMUs, and with it all are on. A list of categories is
//! taken at its word: switched on, it becomes the list of what is logged; switched off, it is taken away.

use crate::abi::{
    fmi2Boolean, fmi2CallbackFunctions, fmi2CallbackLogger, fmi2ComponentEnvironment, fmi2False, fmi2Status,
    fmi2String,
};
use crate::abi3::fmi3LogMessageCallback;
use crate::arguments;
use crate::guard::{Answer, OK, Refusal};
use crate::instance::Instance;
use contact_fmu::log_categories::{
    LOG_ALL, LOG_CATEGORIES, LOG_COUPLING, LOG_EVENTS, LOG_STATUS_DISCARD, LOG_STATUS_ERROR,
    LOG_STATUS_WARNING,
};
use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicU8, Ordering};

/// Category of a message.
#[derive(Clone, Copy, Debug)]
pub enum Category {
    /// A contact changed.
    Events,
    /// A coupling learnt something.
    Coupling,
    /// With fmi2Warning.
    Warning,
    /// With fmi2Discard.
    Discard,
    /// With fmi2Error.
    Error,
}

impl Category {
    const EACH: [Category; 5] =
        [Category::Events, Category::Coupling, Category::Warning, Category::Discard, Category::Error];
    const ALL: u8 = 0b11111;
    const STATUS: u8 = Category::ALL & !(Category::Events.bit() | Category::Coupling.bit());

    const fn bit(self) -> u8 {
        1 << self as u8
    }

    fn name(self) -> &'static str {
        match self {
            Category::Events => LOG_EVENTS,
            Category::Coupling => LOG_COUPLING,
            Category::Warning => LOG_STATUS_WARNING,
            Category::Discard => LOG_STATUS_DISCARD,
            Category::Error => LOG_STATUS_ERROR,
        }
    }

    fn named(name: &CStr) -> Option<u8> {
        let name = name.to_bytes();
        if name == LOG_ALL.as_bytes() {
            return Some(Category::ALL);
        }
        Category::EACH.iter().find(|category| category.name().as_bytes() == name).map(|found| found.bit())
    }
}

/// The importer's function that takes messages.
#[derive(Clone, Copy, Debug)]
enum Callback {
    Two(fmi2CallbackLogger),
    Three(fmi3LogMessageCallback),
}

impl Callback {
    fn is_some(self) -> bool {
        match self {
            Callback::Two(callback) => callback.is_some(),
            Callback::Three(callback) => callback.is_some(),
        }
    }
}

/// Where messages go, and which.
#[derive(Debug)]
pub struct Logger {
    callback: Callback,
    environment: fmi2ComponentEnvironment,
    instance_name: CString,
    enabled: AtomicU8,
}

// SAFETY: the environment pointer is only handed back to the importer, which may call from any thread.
unsafe impl Send for Logger {}
// SAFETY: as above; the rest is immutable or atomic.
unsafe impl Sync for Logger {}

impl Logger {
    /// Messages of the instance `instance_name` to the importer's logger, if it has one.
    pub fn new(callbacks: Option<&fmi2CallbackFunctions>, instance_name: &CStr, debug: bool) -> Logger {
        Logger {
            callback: Callback::Two(callbacks.and_then(|callbacks| callbacks.logger)),
            environment: callbacks.map_or(std::ptr::null_mut(), |callbacks| callbacks.componentEnvironment),
            instance_name: instance_name.to_owned(),
            enabled: AtomicU8::new(Logger::debug_mask(debug)),
        }
    }

    /// The same for an importer of FMI 3.0, which knows the instance by its environment.
    pub fn for_fmi3(
        callback: fmi3LogMessageCallback,
        environment: fmi2ComponentEnvironment,
        debug: bool,
    ) -> Logger {
        Logger {
            callback: Callback::Three(callback),
            environment,
            instance_name: CString::default(),
            enabled: AtomicU8::new(Logger::debug_mask(debug)),
        }
    }

    /// What the importer wants to get back with every call.
    pub fn environment(&self) -> fmi2ComponentEnvironment {
        self.environment
    }

    fn debug_mask(debug: bool) -> u8 {
        if debug { Category::ALL } else { Category::STATUS }
    }

    /// Whether messages of a category reach anyone.
    #[inline]
    pub fn wants(&self, category: Category) -> bool {
        self.callback.is_some() && self.enabled.load(Ordering::Relaxed) & category.bit() != 0
    }

    /// Sends a message if its category is on.
    pub fn log(&self, status: fmi2Status, category: Category, message: &str) {
        if !self.wants(category) {
            return;
        }
        let name = c_string(category.name().to_owned());
        match self.callback {
            Callback::Two(Some(callback)) => {
                let (instance, message) = (self.instance_name.as_ptr(), c_string(escape(message)));
                // SAFETY: the importer's logger, called with what the standard says; all strings outlive the call.
                unsafe { callback(self.environment, instance, status, name.as_ptr(), message.as_ptr()) };
            }
            Callback::Three(Some(callback)) => {
                let message = c_string(message.to_owned());
                // SAFETY: as above.
                unsafe { callback(self.environment, status, name.as_ptr(), message.as_ptr()) };
            }
            Callback::Two(None) | Callback::Three(None) => {}
        }
    }
}

/// The message is a printf format, in which `#` marks value references: both marks are doubled.
fn escape(message: &str) -> String {
    message.replace('%', "%%").replace('#', "##")
}

fn c_string(text: String) -> CString {
    CString::new(text.replace('\0', " ")).expect("zero bytes were replaced")
}

/// fmi2SetDebugLogging.
///
/// # Safety
/// `categories` is null or has `count` strings.
pub unsafe fn set_debug_logging(
    instance: &mut Instance,
    logging_on: fmi2Boolean,
    count: usize,
    categories: *const fmi2String,
) -> Answer {
    let on = logging_on != fmi2False;
    // SAFETY: as promised by the caller.
    let categories = unsafe { arguments::input(categories, count, "categories")? };
    let mut named = 0;
    for &category in categories {
        // SAFETY: as promised by the caller.
        let name = unsafe { arguments::text(category) }.unwrap_or(c"NULL");
        named |= Category::named(name).ok_or_else(|| {
            let known: Vec<&str> = LOG_CATEGORIES.iter().map(|(name, _)| *name).collect();
            Refusal::error(format!(
                "unknown log category {}; there are {}",
                name.to_string_lossy(),
                known.join(", ")
            ))
        })?;
    }
    let enabled = &instance.logger.enabled;
    let mask = match (categories.is_empty(), on) {
        (true, _) => Logger::debug_mask(on),
        (false, true) => named,
        (false, false) => enabled.load(Ordering::Relaxed) & !named,
    };
    enabled.store(mask, Ordering::Relaxed);
    OK
}
