//! Reading and writing the engine's state through a variable's slot.

use super::Slot;
use crate::engine::{self, ContactMode, Mechanism, Scalar, State, System};
use crate::model::stops::Stops;

/// Value of a latency that is not known yet.
pub(super) const UNKNOWN_LATENCY: i32 = -1;

/// Component along the axis of a joint.
const ALONG: usize = 2;

/// Value of a real variable.
pub fn get_real<S: Scalar>(slot: Slot, system: &System, state: &State<S>) -> S {
    let mean = |impulse: S| {
        if state.step.duration > 0.0 { impulse / S::from(state.step.duration) } else { S::zero() }
    };
    match slot {
        Slot::Time => S::from(state.time),
        Slot::NodePosition { node, axis } => state.nodes[node].position[axis],
        Slot::NodeVelocity { node, axis } => state.nodes[node].velocity[axis],
        Slot::NodeOrientation { rotation, component, .. } => {
            state.rotations[rotation].orientation.wxyz[component]
        }
        Slot::NodeAngularVelocity { rotation, axis, .. } => state.rotations[rotation].angular_velocity[axis],
        Slot::ExternalForce { node, axis } => state.inputs[node].value[axis],
        Slot::ExternalTorque { rotation, axis, .. } => state.torques[rotation].value[axis],
        Slot::GivenPosition { coupling, axis } => state.couplings[coupling].given.position[axis],
        Slot::GivenVelocity { coupling, axis } => state.couplings[coupling].given.velocity[axis],
        Slot::GivenOrientation { coupling, component } => {
            state.couplings[coupling].given.orientation.wxyz[component]
        }
        Slot::GivenAngularVelocity { coupling, axis } => {
            state.couplings[coupling].given.angular_velocity[axis]
        }
        Slot::AppliedForce { coupling, axis } => state.couplings[coupling].applied.force[axis],
        Slot::AppliedTorque { coupling, axis } => state.couplings[coupling].applied.torque[axis],
        Slot::CouplingForce { coupling, axis } => state.couplings[coupling].output.force[axis],
        Slot::CouplingTorque { coupling, axis } => state.couplings[coupling].output.torque[axis],
        Slot::AdaptedMass { coupling } => state.couplings[coupling].diagnosis.mass,
        Slot::EnergyExcess { coupling } => state.couplings[coupling].diagnosis.energy_excess,
        Slot::ResponseError { coupling } => state.couplings[coupling].diagnosis.response_error,
        Slot::GivenInverseMass { row, column } => state.inverse_mass[Mechanism::entry(row, column)],
        Slot::EffectiveMass { coupling } => {
            S::from(engine::along_contact(system, state, coupling).map_or(0.0, |along| along.mass()))
        }
        Slot::MechanismCondition { coupling } => {
            S::from(engine::along_contact(system, state, coupling).map_or(1.0, |along| along.condition()))
        }
        Slot::NodeForce { node, axis } => mean(state.nodes[node].contact_impulse[axis]),
        Slot::NodeTorque { rotation, axis, .. } => mean(state.rotations[rotation].contact_impulse[axis]),
        Slot::NodeMass { node } => state.parameters.mass[node],
        Slot::ContactGap { contact } => engine::gap(system, state, contact),
        Slot::ContactNormalForce { contact } => mean(state.contacts[contact].normal_impulse),
        Slot::ContactTangentialForce { contact, axis } => {
            mean(state.contacts[contact].tangential_impulse[axis])
        }
        Slot::ContactImpulse { contact } => state.contacts[contact].normal_impulse,
        Slot::ContactSlip { contact } => state.contacts[contact].slip,
        Slot::ContactRestitution { contact } => state.parameters.restitution[contact],
        Slot::ContactMu { contact } => state.parameters.mu[contact],
        Slot::SpringStiffness { spring } => state.parameters.stiffness[spring],
        Slot::SpringDamping { spring } => state.parameters.damping[spring],
        Slot::SpringTension { spring } => engine::spring_tension(system, state, spring),
        Slot::SpringLength { spring } => engine::spring_length(system, state, spring),
        Slot::JointForce { joint, axis } => mean(state.joints[joint].impulse[axis]),
        Slot::JointTorque { joint, axis } => mean(state.joints[joint].moment[axis]),
        Slot::JointAngle { joint } => state.joints[joint].angle,
        Slot::JointRate { joint } => engine::joint_motion(system, state, joint).spin[ALONG],
        Slot::JointDistance { joint } => engine::joint_motion(system, state, joint).apart[ALONG],
        Slot::JointSpeed { joint } => engine::joint_motion(system, state, joint).velocity[ALONG],
        Slot::JointDrive { drive, .. } => state.drives[drive].value[0],
        Slot::JointLimitForce { stops } => mean(stop_impulse(system, state, stops)),
        Slot::JointRestitution { stops } => {
            either(stops).map_or(S::zero(), |stop| state.parameters.restitution[stop])
        }
        Slot::Residual => S::from(state.step.residual),
        Slot::Penetration => state.step.penetration,
        Slot::KineticEnergy => engine::kinetic_energy(state),
        Slot::PotentialEnergy => engine::potential_energy(system, state),
        Slot::Energy => engine::mechanical_energy(system, state),
        Slot::Dissipated => state.step.dissipated,
        Slot::DissipatedByImpact => {
            state.step.dissipated - state.step.dissipated_by_friction - state.step.dissipated_by_damping
        }
        Slot::DissipatedByFriction => state.step.dissipated_by_friction,
        Slot::DissipatedByDamping => state.step.dissipated_by_damping,
        Slot::Gravity { axis } => state.parameters.gravity[axis],
        Slot::EngineStep => S::from(state.parameters.step),
        Slot::EngineSample => S::from(state.parameters.sample),
        // Belong to the event that an importer is told of, and not to the state.
        Slot::ImpactClock { .. }
        | Slot::ImpactImpulse { .. }
        | Slot::ImpactTime { .. }
        | Slot::CouplingImpulse { .. }
        | Slot::CouplingAngularImpulse { .. } => S::zero(),
        Slot::Iterations
        | Slot::Substeps
        | Slot::Captured
        | Slot::ContactState { .. }
        | Slot::JointFrictionState { .. }
        | Slot::JointLimitState { .. }
        | Slot::CouplingLatency { .. }
        | Slot::CouplingShaping { .. } => S::from(f64::from(get_integer(slot, state))),
    }
}

/// Impulse, or angular impulse, of stops along the coordinate of their joint.
fn stop_impulse<S: Scalar>(system: &System, state: &State<S>, stops: Stops) -> S {
    let of = |stop: usize| state.contacts[stop].normal_impulse * S::from(lever(system, stop));
    [stops.lower, stops.upper].into_iter().flatten().fold(S::zero(), |sum, stop| sum + of(stop))
}

/// Impulse of a contact along its normal, or of a stop along the coordinate of its joint.
pub fn impact_impulse(system: &System, contact: usize, normal: f64) -> f64 {
    normal * lever(system, contact)
}

/// What the impulse of a stop does to the coordinate of its joint; 1 for other contacts.
fn lever(system: &System, contact: usize) -> f64 {
    match system.contacts[contact].between {
        engine::Between::Pair(sides) => system.stop(sides).map_or(1.0, |stop| stop.lever()),
        _ => 1.0,
    }
}

/// One of the stops; both have the same restitution.
fn either(stops: Stops) -> Option<usize> {
    stops.lower.or(stops.upper)
}

fn mode_number(mode: ContactMode) -> i32 {
    match mode {
        ContactMode::Open => 0,
        ContactMode::Stick => 1,
        ContactMode::Slip => 2,
    }
}

/// Value of an integer variable; zero for a slot that holds a real.
pub fn get_integer<S: Scalar>(slot: Slot, state: &State<S>) -> i32 {
    match slot {
        Slot::Iterations => i32::try_from(state.step.iterations).unwrap_or(i32::MAX),
        Slot::Substeps => i32::try_from(state.step.substeps).unwrap_or(i32::MAX),
        Slot::Captured => i32::try_from(state.step.captured).unwrap_or(i32::MAX),
        Slot::ContactState { contact } => mode_number(state.contacts[contact].mode),
        Slot::JointFrictionState { joint } => mode_number(state.joints[joint].mode),
        Slot::JointLimitState { stops } => {
            let at = |stop: Option<usize>| {
                i32::from(stop.is_some_and(|stop| state.contacts[stop].mode != ContactMode::Open))
            };
            at(stops.upper) - at(stops.lower)
        }
        Slot::CouplingLatency { coupling } => {
            state.couplings[coupling].diagnosis.latency.map_or(UNKNOWN_LATENCY, i32::from)
        }
        Slot::CouplingShaping { coupling } => i32::from(state.couplings[coupling].diagnosis.shaping),
        _ => 0,
    }
}

/// Writes a real variable. Returns false for a slot that only the engine writes.
pub fn set_real<S: Scalar>(slot: Slot, state: &mut State<S>, value: S) -> bool {
    let target = match slot {
        Slot::NodePosition { node, axis } => &mut state.nodes[node].position[axis],
        Slot::NodeVelocity { node, axis } => &mut state.nodes[node].velocity[axis],
        Slot::NodeOrientation { rotation, component, .. } => {
            &mut state.rotations[rotation].orientation.wxyz[component]
        }
        Slot::NodeAngularVelocity { rotation, axis, .. } => {
            &mut state.rotations[rotation].angular_velocity[axis]
        }
        Slot::ExternalForce { node, axis } => &mut state.inputs[node].value[axis],
        Slot::ExternalTorque { rotation, axis, .. } => &mut state.torques[rotation].value[axis],
        Slot::GivenPosition { coupling, axis } => &mut state.couplings[coupling].given.position[axis],
        Slot::GivenVelocity { coupling, axis } => &mut state.couplings[coupling].given.velocity[axis],
        Slot::GivenOrientation { coupling, component } => {
            &mut state.couplings[coupling].given.orientation.wxyz[component]
        }
        Slot::GivenAngularVelocity { coupling, axis } => {
            &mut state.couplings[coupling].given.angular_velocity[axis]
        }
        Slot::AppliedForce { coupling, axis } => &mut state.couplings[coupling].applied.force[axis],
        Slot::AppliedTorque { coupling, axis } => &mut state.couplings[coupling].applied.torque[axis],
        Slot::GivenInverseMass { row, column } => &mut state.inverse_mass[Mechanism::entry(row, column)],
        Slot::NodeMass { node } => &mut state.parameters.mass[node],
        Slot::ContactRestitution { contact } => &mut state.parameters.restitution[contact],
        Slot::ContactMu { contact } => &mut state.parameters.mu[contact],
        Slot::SpringStiffness { spring } => &mut state.parameters.stiffness[spring],
        Slot::SpringDamping { spring } => &mut state.parameters.damping[spring],
        Slot::JointDrive { drive, .. } => &mut state.drives[drive].value[0],
        Slot::Gravity { axis } => &mut state.parameters.gravity[axis],
        Slot::JointRestitution { stops } => {
            for stop in [stops.lower, stops.upper].into_iter().flatten() {
                state.parameters.restitution[stop] = value;
            }
            return true;
        }
        Slot::EngineStep => {
            state.parameters.step = value.value();
            return true;
        }
        Slot::EngineSample => {
            state.parameters.sample = value.value();
            return true;
        }
        _ => return false,
    };
    *target = value;
    true
}
