//! The library of FMI 3.0 FMUs: exports the functions of that version, and no other symbol.

use contact_fmu_runtime::abi3::*;
use std::ffi::c_char;

macro_rules! export {
    (
        written { $($written:ident($($written_argument:ident: $written_type:ty),*) -> $result:ty;)* }
        on_instance { $($name:ident($($argument:ident: $type:ty),*) => $work:expr;)* }
    ) => {
        $(
            #[doc = concat!("`", stringify!($written), "` of FMI 3.0.")]
            ///
            /// # Safety
            /// Pointers are null or as the standard says.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, unused_unsafe, reason = "the name of the C function; some are safe")]
            pub unsafe extern "C" fn $written($($written_argument: $written_type),*) -> $result {
                // SAFETY: the caller follows the standard.
                unsafe { contact_fmu_runtime::fmi3::$written($($written_argument),*) }
            }
        )*
        $(
            #[doc = concat!("`", stringify!($name), "` of FMI 3.0.")]
            ///
            /// # Safety
            /// Pointers are null or as the standard says.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, reason = "the name of the C function")]
            pub unsafe extern "C" fn $name(instance: fmi3Instance $(, $argument: $type)*) -> fmi3Status {
                // SAFETY: the caller follows the standard.
                unsafe { contact_fmu_runtime::fmi3::$name(instance $(, $argument)*) }
            }
        )*
    };
}

contact_fmu_runtime::fmi3_functions!(export);
