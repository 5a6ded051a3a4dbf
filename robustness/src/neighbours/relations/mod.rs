//! What must hold of any scene.
//!
//! Each relation looks at the run of a scene, or at that of another scene that must move alike. Its tolerance is derived
//! where it is defined.

mod bits;
mod compare;
mod conservation;
mod cost;
mod couplings;
mod halving;
mod laws;
mod limits;
mod looks;
mod penetration;
mod soundness;
mod wording;

use super::run::{self, Trace, Way};
use super::scene::Scene;
use crate::Entropy;
use compare::Yardstick;
use contact_fmu::model::Model;
use std::cell::OnceCell;

/// What came of looking at a relation.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It was looked at, and holds.
    Held,
    /// It says nothing about this scene.
    Idle,
    /// It does not hold.
    Broke(String),
}

/// Something that must hold.
pub struct Relation {
    /// Name in the list of known failures.
    pub name: &'static str,
    /// Looked at in one of so many scenes: of the first seeds, of all later ones.
    pub one_in: [usize; 2],
    /// Looks.
    pub check: fn(&Case) -> Verdict,
}

/// Seeds below this are looked at closely; of later ones, of which any number is to be run, those relations that take more
/// than the run of the scene itself are looked at in few.
const CLOSELY: u64 = 1024;

/// All relations. The first says whether a scene can be run at all; those that take long are looked at in some scenes.
pub const RELATIONS: [Relation; 33] = [
    Relation { name: "runs", one_in: [1, 1], check: soundness::runs },
    Relation { name: "tells", one_in: [1, 1], check: soundness::tells },
    Relation { name: "momentum", one_in: [1, 1], check: conservation::momentum },
    Relation { name: "angular-momentum", one_in: [1, 1], check: conservation::angular_momentum },
    Relation { name: "reaction", one_in: [1, 1], check: conservation::reaction },
    Relation { name: "energy-books", one_in: [1, 1], check: conservation::books },
    Relation { name: "energy-rise", one_in: [1, 1], check: conservation::rise },
    Relation { name: "dissipation", one_in: [1, 1], check: conservation::dissipation },
    Relation { name: "energy-balance", one_in: [1, 1], check: conservation::balance },
    Relation { name: "penetration", one_in: [1, 1], check: penetration::penetration },
    Relation { name: "gap", one_in: [1, 1], check: penetration::gap },
    Relation { name: "laws", one_in: [1, 1], check: laws::cone },
    Relation { name: "restitution", one_in: [1, 1], check: laws::restitution },
    Relation { name: "slip", one_in: [1, 1], check: laws::slip },
    Relation { name: "limits", one_in: [1, 1], check: limits::limits },
    Relation { name: "cost", one_in: [1, 1], check: cost::cost },
    Relation { name: "rotation", one_in: [3, 36], check: looks::rotation },
    Relation { name: "translation", one_in: [4, 48], check: looks::translation },
    Relation { name: "mirror", one_in: [4, 48], check: looks::mirror },
    Relation { name: "boost", one_in: [3, 36], check: looks::boost },
    Relation { name: "units", one_in: [3, 36], check: looks::units },
    Relation { name: "order", one_in: [4, 48], check: wording::order },
    Relation { name: "patterns", one_in: [3, 36], check: wording::patterns },
    Relation { name: "standing-input", one_in: [4, 48], check: wording::standing_input },
    Relation { name: "fixed-body", one_in: [3, 36], check: wording::fixed_body },
    Relation { name: "time-shift", one_in: [6, 72], check: bits::time_shift },
    Relation { name: "isolated-body", one_in: [5, 60], check: bits::isolated_body },
    Relation { name: "substeps", one_in: [5, 60], check: bits::substeps },
    Relation { name: "restore", one_in: [5, 60], check: bits::restore },
    Relation { name: "copies", one_in: [1, 1], check: wording::copies },
    Relation { name: "packed", one_in: [64, 2048], check: bits::packed },
    Relation { name: "couplings", one_in: [1, 12], check: couplings::couplings },
    Relation { name: "halving", one_in: [1, 16], check: halving::halving },
];

/// A scene with its run.
pub struct Case {
    /// Where it comes from.
    pub seed: u64,
    /// As it was drawn, with copies.
    pub drawn: Scene,
    /// With copies as nodes.
    pub scene: Scene,
    /// Its model.
    pub model: Model,
    /// Its run.
    pub base: Trace,
    yardstick: OnceCell<Option<Yardstick>>,
}

impl Case {
    /// Runs a scene; the message of the check where it is not legal.
    pub fn new(seed: u64, drawn: Scene) -> Result<Case, String> {
        let mut scene = drawn.clone();
        if drawn.nodes.iter().any(|node| node.copies.is_some()) {
            scene = run::expanded(&drawn, &run::model(&drawn)?);
        }
        let model = run::model(&scene)?;
        let base = run::run_model(&scene, &model, &Way::default());
        Ok(Case { seed, drawn, scene, model, base, yardstick: OnceCell::new() })
    }

    /// Choices of a relation, the same whatever else is looked at.
    pub fn entropy(&self, relation: &str) -> Entropy {
        let name = relation
            .bytes()
            .fold(self.seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        Entropy::seeded(name)
    }

    /// Whether a relation is looked at with this seed.
    pub fn is_due(&self, relation: &Relation) -> bool {
        let one_in = relation.one_in[usize::from(self.seed >= CLOSELY)];
        one_in == 1 || self.entropy(relation.name).below(one_in) == 0
    }

    /// Looks at a relation.
    pub fn look(&self, relation: &Relation) -> Verdict {
        if relation.name != "runs" && self.base.fault.is_some() {
            return Verdict::Idle;
        }
        (relation.check)(self)
    }
}
