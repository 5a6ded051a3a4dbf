//! The slider-crank with clearance against its equations in the plane, from impact to impact and while it slides, and
//! without the guide.

use crate::common::{model, run};
use crate::slider_crank_equations::{SliderCrank, Touch};
use contact_fmu::engine::State;

/// Largest distance of the slider from where the equations have it, in m, and the largest turn of the slider.
fn compare(states: &[State<f64>], exact: &mut SliderCrank, mut see: impl FnMut(&SliderCrank)) -> (f64, f64) {
    let (mut worst, mut turned) = (0.0_f64, 0.0_f64);
    for state in &states[1..] {
        exact.advance_to(state.time);
        let [x, z] = exact.slider();
        let slider = &state.nodes[2].position;
        worst = worst.max((slider[0] - x).hypot(slider[2] - z));
        turned = turned.max(state.rotations[2].orientation.wxyz[2].abs());
        see(exact);
    }
    (worst, turned)
}

#[test]
fn without_a_guide_the_mechanism_moves_as_its_equations_say() {
    let mut errors = Vec::new();
    for step in [2e-5, 1e-5] {
        let mut model = model("slider_crank");
        model.contacts.clear();
        model.engine.step = step;
        let (worst, _) = compare(&run(&model, 1e-4, 0.1).states, &mut SliderCrank::new(false), |_| {});
        errors.push(worst);
    }
    assert!(errors[1] < 1e-5, "{errors:?}");
    assert!(errors[0] > 3.5 * errors[1], "order 2: {errors:?}");
}

#[test]
fn with_clearance_it_rattles_as_its_equations_say() {
    let model = model("slider_crank");
    let run = run(&model, 1e-4, 0.2);
    let mut exact = SliderCrank::new(true);
    let mut sliding = 0;
    let (worst, turned) =
        compare(&run.states, &mut exact, |exact| sliding += usize::from(exact.touch != Touch::None));
    assert!(exact.impacts > 100 && sliding > 100, "{} impacts, {sliding} steps of sliding", exact.impacts);
    assert!(turned < 1e-9, "the slider has turned by {turned:e}");
    assert!(worst < 1e-5, "{worst:e} m");
}
