//! What the ledgers of energy of coupled bodies take back from rebounds.

use crate::engine::coupling::CouplingMode;
use crate::engine::scalar::Scalar;
use crate::engine::state::State;
use crate::engine::system::System;

/// Energy that a coupling may take back from rebounds.
pub fn excess<S: Scalar>(system: &System, state: &State<S>, index: usize) -> S {
    match &system.couplings[index].mode {
        CouplingMode::Kinetic(settings) if settings.guard => state.couplings[index].diagnosis.energy_excess,
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
