//! What stands between C and every function: a null or foreign pointer, a second call at the same time, a call
//! in the wrong mode and a panic all end here as fmi2Error.

use crate::abi::{fmi2Component, fmi2Status};
use crate::instance::{Instance, Run};
use crate::lifecycle::{Function, Interface, Mode, mode_names};
use crate::logger::{Category, Logger};
use std::any::Any;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What a function answers; the guard logs a refusal.
pub type Answer = Result<fmi2Status, Refusal>;

/// Done, nothing to say.
pub const OK: Answer = Ok(fmi2Status::fmi2OK);

/// Why a call was not carried out.
#[derive(Debug)]
pub struct Refusal {
    status: fmi2Status,
    message: String,
}

impl Refusal {
    /// The call is wrong: fmi2Error.
    #[cold]
    pub fn error(message: impl Into<String>) -> Refusal {
        Refusal { status: fmi2Status::fmi2Error, message: message.into() }
    }

    /// The call is right, its values cannot be used: fmi2Discard.
    #[cold]
    pub fn discard(message: impl Into<String>) -> Refusal {
        Refusal { status: fmi2Status::fmi2Discard, message: message.into() }
    }

    /// Why, in words.
    pub fn into_message(self) -> String {
        self.message
    }

    fn category(&self) -> Category {
        if self.status == fmi2Status::fmi2Discard { Category::Discard } else { Category::Error }
    }
}

/// For functions that are always refused.
pub fn refused(reason: &str) -> Answer {
    Err(Refusal::error(reason))
}

const MAGIC: u64 = u64::from_le_bytes(*b"CFMUinst");

/// What a fmi2Component points to.
pub struct Handle {
    /// Tells an instance from other memory; zero once freed. A dangling pointer is caught as long as its
    /// memory was not used again.
    magic: AtomicU64,
    /// Held during a call.
    busy: AtomicBool,
    /// Held while a second call is reported, so that a logger which calls back does not recurse.
    reporting: AtomicBool,
    logger: Arc<Logger>,
    instance: UnsafeCell<Instance>,
}

impl Handle {
    /// Hands an instance to the importer, until [`free`].
    pub fn give(instance: Instance) -> fmi2Component {
        Box::into_raw(Box::new(Handle {
            magic: AtomicU64::new(MAGIC),
            busy: AtomicBool::new(false),
            reporting: AtomicBool::new(false),
            logger: Arc::clone(&instance.logger),
            instance: UnsafeCell::new(instance),
        }))
        .cast()
    }

    /// # Safety
    /// `component` is null or points to readable memory that lives as long as the answer is used.
    #[inline]
    unsafe fn find<'a>(component: fmi2Component) -> Option<&'a Handle> {
        let pointer = component.cast::<Handle>().cast_const();
        if pointer.is_null() || !pointer.is_aligned() {
            return None;
        }
        // SAFETY: not null, aligned and readable; an atomic integer may hold any bits.
        let magic = unsafe { &(*pointer).magic };
        if magic.load(Ordering::Relaxed) != MAGIC {
            return None;
        }
        // SAFETY: the magic word says that `give` made this.
        Some(unsafe { &*pointer })
    }

    #[cold]
    fn report_second_call(&self, function: Function) {
        if !self.reporting.swap(true, Ordering::Acquire) {
            let name = function.name();
            self.logger.log(
                fmi2Status::fmi2Error,
                Category::Error,
                &format!("{name}: another call on this instance has not returned yet"),
            );
            self.reporting.store(false, Ordering::Release);
        }
    }
}

/// Runs the body of a function on its instance.
///
/// # Safety
/// `component` is null or a pointer that fmi2Instantiate returned.
#[inline]
pub unsafe fn enter(
    component: fmi2Component,
    function: Function,
    body: impl FnOnce(&mut Instance) -> Answer,
) -> fmi2Status {
    // SAFETY: as promised by the caller.
    unsafe { enter_if(component, function, body, is_allowed) }
}

/// Goes on with a function that has let the importer in between.
///
/// # Safety
/// `component` is null or a pointer that fmi3InstantiateCoSimulation returned.
pub unsafe fn resume(
    component: fmi2Component,
    function: Function,
    body: impl FnOnce(&mut Instance) -> Answer,
) -> fmi2Status {
    // SAFETY: as promised by the caller.
    unsafe {
        enter_if(component, function, body, |run, _| match run.mode {
            Mode::Intermediate => Ok(()),
            mode => Err(Refusal::error(format!("while the step was made, the instance has become {mode}"))),
        })
    }
}

#[inline]
unsafe fn enter_if(
    component: fmi2Component,
    function: Function,
    body: impl FnOnce(&mut Instance) -> Answer,
    is_allowed: impl FnOnce(&Run, Function) -> Result<(), Refusal>,
) -> fmi2Status {
    // SAFETY: as promised by the caller.
    let Some(handle) = (unsafe { Handle::find(component) }) else {
        return fmi2Status::fmi2Error;
    };
    if handle.busy.swap(true, Ordering::Acquire) {
        handle.report_second_call(function);
        return fmi2Status::fmi2Error;
    }
    // SAFETY: whoever sets `busy` is alone with the instance until it clears it.
    let instance = unsafe { &mut *handle.instance.get() };
    let allowed = is_allowed(&instance.run, function);
    let status = run(instance, function, |instance| allowed.and_then(|()| body(instance)));
    handle.busy.store(false, Ordering::Release);
    status
}

#[inline]
fn is_allowed(run: &Run, function: Function) -> Result<(), Refusal> {
    let interface = run.interface();
    if function.interface().is_some_and(|of| of != interface) {
        Err(wrong_interface(interface))
    } else if function.allowed() & run.mode.bit() == 0 {
        Err(wrong_mode(function, run))
    } else {
        Ok(())
    }
}

#[inline]
fn run(
    instance: &mut Instance,
    function: Function,
    body: impl FnOnce(&mut Instance) -> Answer,
) -> fmi2Status {
    let answer = catch_unwind(AssertUnwindSafe(|| body(instance))).unwrap_or_else(|panic| {
        instance.run.mode = Mode::Failed;
        Err(Refusal::error(format!(
            "internal error: {}; the instance can only be read, reset, restored or freed",
            panic_text(panic.as_ref())
        )))
    });
    answer.unwrap_or_else(|refusal| {
        let message = format!("{}: {}", function.name(), refusal.message);
        instance.logger.log(refusal.status, refusal.category(), &message);
        refusal.status
    })
}

#[cold]
fn wrong_interface(interface: Interface) -> Refusal {
    let other = match interface {
        Interface::CoSimulation => Interface::ModelExchange,
        Interface::ModelExchange => Interface::CoSimulation,
    };
    Refusal::error(format!("for {other} only, and the instance was made for {interface}"))
}

#[cold]
fn wrong_mode(function: Function, run: &Run) -> Refusal {
    Refusal::error(format!(
        "not allowed while the instance is {}, only while it is: {}",
        run.mode,
        mode_names(function.allowed(), run)
    ))
}

/// The message of a panic.
pub fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("unknown panic")
}

/// Ends an instance. Null and foreign pointers are ignored; an instance with a call under way is kept.
///
/// # Safety
/// `component` is null or a pointer that fmi2Instantiate returned, and is not used afterwards.
pub unsafe fn free(component: fmi2Component, function: Function) {
    // SAFETY: as promised by the caller.
    let Some(handle) = (unsafe { Handle::find(component) }) else {
        return;
    };
    if handle.busy.swap(true, Ordering::Acquire) {
        handle.report_second_call(function);
        return;
    }
    // SAFETY: whoever sets `busy` is alone with the instance until it clears it.
    if unsafe { (*handle.instance.get()).run.mode } == Mode::Intermediate {
        handle.report_second_call(function);
        handle.busy.store(false, Ordering::Release);
        return;
    }
    handle.magic.store(0, Ordering::Relaxed);
    // SAFETY: `give` made it with a Box, and nobody else is in a call on it.
    let owned = unsafe { Box::from_raw(component.cast::<Handle>()) };
    // A panic here has no instance left to report on.
    drop(catch_unwind(AssertUnwindSafe(|| drop(owned))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::tests::{free_flight, log_lines};

    #[test]
    fn a_panic_fails_the_instance_and_is_logged() {
        let component = Handle::give(free_flight());
        // SAFETY: from `give`.
        let call = |function, body: fn(&mut Instance) -> Answer| unsafe { enter(component, function, body) };
        assert_eq!(
            call(Function::fmi2SetDebugLogging, |_| panic!("gear {} broke", 7)),
            fmi2Status::fmi2Error
        );
        let lines = log_lines();
        assert_eq!(lines.len(), 1);
        assert!(lines[0].contains("fmi2SetDebugLogging: internal error: gear 7 broke"), "{}", lines[0]);
        assert_eq!(call(Function::fmi2DoStep, |_| OK), fmi2Status::fmi2Error);
        assert_eq!(call(Function::fmi2GetReal, |_| OK), fmi2Status::fmi2OK);
        assert_eq!(call(Function::fmi2Reset, crate::lifecycle::reset), fmi2Status::fmi2OK);
        assert_eq!(call(Function::fmi2EnterInitializationMode, |_| OK), fmi2Status::fmi2OK);
        // SAFETY: from `give`, not used afterwards.
        unsafe { free(component, Function::fmi2FreeInstance) };
    }

    #[test]
    fn a_call_during_a_call_is_refused() {
        let component = Handle::give(free_flight());
        let mut inner = fmi2Status::fmi2OK;
        // SAFETY: from `give`.
        let outer = unsafe {
            enter(component, Function::fmi2Reset, |_| {
                inner = enter(component, Function::fmi2Reset, |_| OK);
                free(component, Function::fmi2FreeInstance);
                OK
            })
        };
        assert_eq!((outer, inner), (fmi2Status::fmi2OK, fmi2Status::fmi2Error));
        let lines = log_lines();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].contains("fmi2Reset: another call"), "{}", lines[0]);
        assert!(lines[1].contains("fmi2FreeInstance: another call"), "{}", lines[1]);
        // SAFETY: from `give`, not used afterwards.
        unsafe { free(component, Function::fmi2FreeInstance) };
    }
}
