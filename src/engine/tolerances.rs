//! Numbers that were chosen, not derived, each with its reason. All are parts of scales of the problem at hand (a length, a
//! speed, an entry of a matrix), so that models in other units move alike.
//!
//! Precision comes in steps. Where a comparison has to tell round-off from what counts, it takes the step that fits the
//! way by which its numbers were made, and no number of its own.

/// Steps after which a search in a bracket ends: bisection alone takes as many as a number has digits, and some more where
/// the bracket is too wide by orders.
pub const BISECTIONS: u32 = 4 * f64::MANTISSA_DIGITS;

/// See [`TOLERANCES`].
#[derive(Clone, Copy, Debug)]
pub struct Tolerances {
    /// Precision of a result that a repeated solution has refined: some units in the last place.
    pub last_bits: f64,
    /// Precision after tens of operations.
    pub few_roundings: f64,
    /// Precision after thousands of operations: relative changes below it end fixed-point iterations, lengths below it over
    /// the size of a shape tell no direction, pivots below it are none.
    pub rounding: f64,
    /// Part of a quantity that has no effect on a motion which is itself exact to the order of the step: times at the ends
    /// of an interval, compliances that only choose between redundant forces, gains of energy in a step (a thousand
    /// million steps double it).
    pub negligible: f64,
    /// Half of the digits of a number, the square root of its precision: shifts of a matrix that are small against its
    /// entries and large against their round-off; sines below it make a cross product meaningless; Newton's next step after
    /// a change of this size is exact.
    pub half_of_digits: f64,
    /// A difference that is clearly no round-off and still decides nothing: between faces to project on, times of a master,
    /// directions that joints hold.
    pub small: f64,
    /// Length, over half of how thin a solid is, below which a difference of features does not make another contact point:
    /// equal faces on each other touch with as many corners as they have.
    pub sliver: f64,
    /// Cosine of the angle between normals of features that touch together, and of normals that are followed within an
    /// interval: 26 degrees, less than half of what a corner of a hexagon turns.
    pub aligned: f64,
    /// Slope, or sine, up to which parts next to the nearest one may come to touch within a step: 6 degrees.
    pub tilted: f64,
    /// A thousandth, to which models are known: distances, over that of a contact point from the centre, at which features
    /// touch together, position corrections close gaps, and flat shapes are thick; sines below which a round side touches
    /// along a line; compliances, forces and intervals that leave a motion as it is; smoothing of slip speeds over that of
    /// complementarity.
    pub slight: f64,
    /// A hundredth, where a guess will do: of a speed, a depth, a learnt mass, a displacement.
    pub coarse: f64,
    /// A tenth: what is so much smaller than something else does not lead.
    pub much_less: f64,
    /// Largest displacement of a contact point within an interval, over its distance from the centre, that a linear
    /// approach follows: a quarter of a radian, at which a cosine is wrong by 3 percent.
    pub followed_part: f64,
    /// Part of the other rows that a row may be coupled to before a dense matrix is faster than a sparse one (measured).
    pub dense_part: f64,
    /// Newton iterations of one inner problem: those that converge take four to eight.
    pub newton_steps: u32,
    /// Iterations of Newton's method without a better point before it gives up: it may get worse before it converges.
    pub patience: u32,
    /// Times that something is done which mostly has its effect at once: substitutions that take a shift out, outer iterations
    /// without progress or at one shift, patches before sweeps over all.
    pub tries: u32,
    /// Rows, or block rows, that every method is tried on, and that are not worth the bookkeeping of a sparse one.
    pub few_rows: usize,
    /// Gauss-Seidel sweeps between two residuals, each of which costs as much as a sweep.
    pub sweeps_between_residuals: u32,
    /// Displacements that close gaps and joints; each leaves an error of the square of the one before.
    pub placement_rounds: usize,
    /// Passes of friction whose bounds follow from the answer and start from nothing.
    pub bound_passes: u32,
    /// Parts that a step may be cut into because a model asks for it: more would take hours.
    pub most_substeps: f64,
    /// Parts that a step is cut into where something turns too far: the cost of a step stays bounded.
    pub most_parts: u32,
    /// Shift or compliance, over a diagonal near one, at which contacts are nearly on their own: where proximal points and
    /// the path of vanishing compliance begin.
    pub first_shift: f64,
    /// Smoothing of complementarity that follows as a part of the one before, and the length of what is left of the smoothed
    /// equations, over the smoothing, at which it does: larger steps lose the path in piles.
    pub smoothing_shrink: f64,
    /// See above.
    pub smoothing_centre: f64,
    /// Part of the tolerance that solvers aim at, so that round-off and last touches do not undo it.
    pub aimed_part: f64,
    /// Starting points of Newton's methods: all problems that any of them solves are solved by then.
    pub restarts: u32,
    /// Rows up to which dense elimination from so many starts is bearable.
    pub restarted_rows: usize,
    /// Pairs of bodies from which on sweeps come before Newton with all of them, and from which on smoothing comes in the
    /// place of that (measured).
    pub large_pile: usize,
    /// See above.
    pub huge_pile: usize,
    /// Gauss-Seidel sweeps of a large pile for each iteration of the limit: they cost a small part of one of Newton's.
    pub sweeps_per_iteration: u32,
    /// Where one contact in so many, or more, is wrong, patches are not worth their while.
    pub patch_share: usize,
    /// Rings of neighbours that a patch has around what is wrong.
    pub patch_rings: usize,
    /// Contacts that a patch has at most.
    pub patch_contacts: usize,
    /// Pairs up to which an island is split at impacts.
    pub split_pairs: usize,
    /// Nodes that touch something, up to which they are eliminated last: many of them would fill the matrix.
    pub touching_last: usize,
    /// By how much boxes of the broad phase are wider, over a body's size: slow bodies do not need a second pass.
    pub box_margin: f64,
    /// Turn, in rad, of a free rotation in one part: well below the pole of the tangent of half of it.
    pub largest_turn: f64,
    /// Part of the step within which bounces that end are not resolved one by one.
    pub unresolved_part: f64,
    /// Part of the time `1 / omega` of its spring that a continuous contact moves within an interval.
    pub part_of_oscillation: f64,
    /// Part of the decrease which a linear model promises that a step must bring [Armijo 1966].
    pub sufficient_decrease: f64,
}

/// The values in use.
pub const TOLERANCES: Tolerances = Tolerances {
    last_bits: 1e-15,
    few_roundings: 1e-14,
    rounding: 1e-12,
    negligible: 1e-9,
    half_of_digits: 1e-8,
    small: 1e-6,
    sliver: 1e-4,
    aligned: 0.9,
    tilted: 0.1,
    slight: 1e-3,
    coarse: 0.01,
    much_less: 0.1,
    followed_part: 0.25,
    dense_part: 0.4,
    newton_steps: 12,
    patience: 6,
    tries: 3,
    few_rows: 8,
    sweeps_between_residuals: 4,
    placement_rounds: 4,
    bound_passes: 50,
    most_substeps: 1e7,
    most_parts: 256,
    first_shift: 0.1,
    smoothing_shrink: 0.2,
    smoothing_centre: 0.3,
    aimed_part: 0.4,
    restarts: 30,
    restarted_rows: 400,
    large_pile: 48,
    huge_pile: 500,
    sweeps_per_iteration: 10,
    patch_share: 3,
    patch_rings: 2,
    patch_contacts: 300,
    split_pairs: 64,
    touching_last: 16,
    box_margin: 0.05,
    largest_turn: 1.0,
    unresolved_part: 1.0 / 64.0,
    part_of_oscillation: 0.025,
    sufficient_decrease: 1e-4,
};
