//! What the ledgers of energy of coupled bodies take back from rebounds, and the ledger of mechanisms.

use crate::engine::contact::InverseMass;
use crate::engine::coupling::CouplingMode;
use crate::engine::math::twist::Mobility;
use crate::engine::scalar::Scalar;
use crate::engine::state::State;
use crate::engine::system::System;

/// Energy that a coupling may take back from rebounds.
pub fn excess<S: Scalar>(system: &System, state: &State<S>, index: usize) -> S {
    match &system.couplings[index].mode {
        CouplingMode::Kinetic(settings) if settings.guard && !is_member(system, state, index) => {
            state.couplings[index].diagnosis.energy_excess
        }
        _ => S::zero(),
    }
}

/// Notes what an impact has taken back.
pub fn take_back<S: Scalar>(
    system: &System,
    state: &mut State<S>,
    index: usize,
    restitution: S,
    impact_energy: S,
) {
    let excess = excess(system, state, index);
    if excess.value() > 0.0 {
        let most = restitution * restitution * impact_energy;
        let taken = if excess.value() < most.value() { excess } else { most };
        state.couplings[index].diagnosis.energy_excess -= taken;
    }
}

/// Whether a body is a point of a mechanism, whose energy is not that of its mass.
fn is_member<S: Scalar>(system: &System, state: &State<S>, index: usize) -> bool {
    state.operator.joined
        && system.mechanism.as_ref().is_some_and(|mechanism| mechanism.members.contains(&index))
}

/// Books the work that the forces held over the last window have done on the points of a mechanism. What stands still only
/// takes energy from what touches it: what has been added since it last took all of it back is excess.
pub fn book<S: Scalar>(system: &System, state: &mut State<S>, together: &InverseMass<S>) {
    let Some(mechanism) = system.mechanism.as_ref().filter(|_| !together.is_empty()) else { return };
    if !mechanism.is_on_fixed {
        return;
    }
    let State { couplings, operator, .. } = state;
    let mut is_settled = true;
    for &member in &mechanism.members {
        let memory = &couplings[member].memory;
        let late = usize::from(memory.latency.windows);
        let nothing = Mobility { mass: S::from(f64::INFINITY), rotation: None };
        let Some(window) = memory.window(&couplings[member].given, nothing) else { return };
        operator.work += window.work(&memory.sent[late]).value();
        is_settled &= memory.settles[late];
    }
    let (calm, busy) = operator.settling;
    operator.settling = if is_settled { (calm.saturating_add(1), 0) } else { (0, busy.saturating_add(1)) };
    if !operator.delivers_impact() {
        operator.excess = (operator.excess + std::mem::take(&mut operator.work)).max(0.0);
    }
    for &member in &mechanism.members {
        couplings[member].diagnosis.energy_excess = S::from(operator.excess);
    }
}
