//! Serialized states: damaged, cut off, of other versions, of other models, and forged with right checksums.

use crate::client::{Client, PREPARED, any_model};
use crate::{Entropy, damage};
use contact_fmu_runtime::abi::*;
use contact_fmu_runtime::*;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

const CHECKSUM: usize = 8 + 4 + 38 + 8;
const LENGTH: usize = CHECKSUM - 8;
const PAYLOAD: usize = CHECKSUM + 4;

/// A good state.
struct Good {
    /// Place of the model.
    model: usize,
    /// For co-simulation, or else model exchange.
    co_simulation: bool,
    bytes: Vec<u8>,
}

/// Good states, by model: made when there is need of them.
static STATES: LazyLock<Vec<OnceLock<Vec<Good>>>> =
    LazyLock::new(|| PREPARED.iter().map(|_| OnceLock::new()).collect());

fn good(model: usize) -> Vec<Good> {
    let prepared = &PREPARED[model];
    let mut states = Vec::new();
    for co_simulation in [true, false] {
        let Some(client) = Client::started(prepared, co_simulation) else { continue };
        states.push(Good { model, co_simulation, bytes: client.bytes() });
        let step = prepared.known.model.experiment.step;
        for k in 0..if co_simulation { 20 } else { 0 } {
            // SAFETY: a live instance.
            unsafe { fmi2DoStep(client.component, f64::from(k) * step, step, fmi2True) };
        }
        states.push(Good { model, co_simulation, bytes: client.bytes() });
    }
    states
}

fn any_good(entropy: &mut Entropy) -> &'static Good {
    let model = any_model(entropy);
    entropy.pick(STATES[model].get_or_init(|| good(model)))
}

/// By model and interface.
type Started = HashMap<(usize, bool), (Client, Vec<u8>)>;

thread_local! {
    /// Instances as they started, with their bytes, by model and interface. To make one takes longer than a case.
    static STARTED: RefCell<Started> = RefCell::default();
}

fn started(model: usize, co_simulation: bool) -> (Client, Vec<u8>) {
    let client = Client::started(&PREPARED[model], co_simulation).expect("a model that was started before");
    let bytes = client.bytes();
    (client, bytes)
}

/// One state.
pub fn run(entropy: &mut Entropy) {
    let good = any_good(entropy);
    let place = (good.model, good.co_simulation);
    let known = STARTED.with_borrow_mut(|all| all.remove(&place));
    // After a failure it is not put back.
    let (client, start) = known.unwrap_or_else(|| started(place.0, place.1));
    try_state(entropy, good, &client, &start);
    STARTED.with_borrow_mut(|all| all.insert(place, (client, start)));
}

/// Gives a state to an instance that has just started, and lets it start again.
fn try_state(entropy: &mut Entropy, good: &Good, client: &Client, start: &[u8]) {
    let mut bytes = good.bytes.clone();
    let must_fail = match entropy.below(8) {
        0 => {
            let at = entropy.below(bytes.len());
            bytes[at] ^= 1 << entropy.below(8);
            true
        }
        1 => {
            bytes.truncate(entropy.below(bytes.len()));
            true
        }
        2 => {
            bytes.extend((0..1 + entropy.below(100)).map(|k| k as u8));
            true
        }
        3 => {
            let version = entropy.bits() as u32;
            bytes[8..12].copy_from_slice(&version.to_le_bytes());
            version.to_le_bytes() != good.bytes[8..12]
        }
        4 => {
            let other = any_good(entropy);
            bytes.clone_from(&other.bytes);
            other.model != good.model || other.co_simulation != good.co_simulation
        }
        5 => {
            // Of another model, under the name of this one.
            let name = bytes[12..LENGTH].to_vec();
            bytes.clone_from(&any_good(entropy).bytes);
            bytes[12..LENGTH].copy_from_slice(&name);
            false
        }
        _ => {
            forge(entropy, &mut bytes);
            false
        }
    };
    let (status, mut state) = client.deserialize(&bytes);
    client.check(status);
    if status != fmi2Status::fmi2OK {
        assert!(state.is_null());
        assert_eq!(client.bytes(), start, "a state that was refused has changed the instance");
        return;
    }
    assert!(!must_fail, "a damaged state was taken");
    // SAFETY: a live instance and a saved state.
    unsafe {
        client.check(fmi2SetFMUstate(client.component, state));
        use_it(client);
        client.check(fmi2FreeFMUstate(client.component, &mut state));
        client.check(fmi2Reset(client.component));
        let (_, mut state) = client.deserialize(start);
        client.check(fmi2SetFMUstate(client.component, state));
        client.check(fmi2FreeFMUstate(client.component, &mut state));
    }
    assert_eq!(client.bytes(), start, "an instance does not come back to its start");
}

/// Changes the payload and makes length and checksum right again.
fn forge(entropy: &mut Entropy, bytes: &mut Vec<u8>) {
    let mut payload = bytes.split_off(PAYLOAD);
    let times = 1 + entropy.below(4);
    match entropy.below(3) {
        0 => damage::bytes(entropy, &mut payload, times),
        1 => {
            // A number where one may be.
            for _ in 0..times {
                let at = entropy.below(payload.len().saturating_sub(8).max(1));
                let value = entropy.hostile_number().to_le_bytes();
                let end = (at + 8).min(payload.len());
                payload[at..end].copy_from_slice(&value[..end - at]);
            }
        }
        _ => {
            if let Some(mode) = payload.first_mut() {
                *mode = entropy.below(10) as u8;
            }
        }
    }
    bytes[LENGTH..CHECKSUM].copy_from_slice(&(payload.len() as u64).to_le_bytes());
    bytes[CHECKSUM..PAYLOAD].copy_from_slice(&crc32fast::hash(&payload).to_le_bytes());
    bytes.extend(payload);
}

/// Reads and steps whatever was restored.
fn use_it(client: &Client) {
    client.check(client.read_all());
    let prepared = client.prepared;
    let step = client.real(prepared.reference("engine.step")).unwrap_or(1e-3);
    let time = client.real(prepared.reference("time")).unwrap_or(0.0);
    // SAFETY: a live instance, places for what is written.
    unsafe {
        if client.co_simulation {
            for k in 0..2 {
                client.check(fmi2DoStep(client.component, time + f64::from(k) * step, step, fmi2True));
            }
        } else {
            client.check(fmi2EnterEventMode(client.component));
            let sample = client.real(prepared.reference("engine.sample")).unwrap_or(1e-3);
            let mut info = std::mem::MaybeUninit::uninit();
            if sample / step < 100.0 {
                client.check(fmi2NewDiscreteStates(client.component, info.as_mut_ptr()));
            }
            client.check(fmi2EnterContinuousTimeMode(client.component));
            client.check(fmi2SetTime(client.component, time + sample));
        }
    }
    client.check(client.read_all());
    client.bytes();
}
