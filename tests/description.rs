//! `modelDescription.xml`: what is written reads back and keeps the rules of FMI 2.0; what others write is read.

#![cfg(feature = "cli")]

use crate::support::{OTHER_TOOL_DESCRIPTION, model};
use contact_fmu::description::read::read;
use contact_fmu::description::write::{GENERATION_TOOL, write};
use contact_fmu::description::{Causality, Initial, ModelDescription, Value, Variability, VariableType};
use contact_fmu::examples;
use contact_fmu::model::{Between, Model};
use contact_fmu::package::guid::guid;
use contact_fmu::variables::{self, Kind};
use std::collections::BTreeSet;
use std::time::Instant;

fn round_trip(model: &Model) -> ModelDescription {
    let xml = write(model, &variables::table(model), &guid(model));
    read(xml.as_bytes()).expect("what we write can be read")
}

#[test]
fn what_is_written_reads_back() {
    for name in examples::names() {
        let model = model(name).model;
        let description = round_trip(&model);
        assert_eq!(description.model_name, model.name);
        assert_eq!(description.description.as_deref(), Some(model.description.as_str()));
        assert_eq!(description.guid, guid(&model));
        assert_eq!(description.generation_tool.as_deref(), Some(GENERATION_TOOL));
        assert_eq!(description.generation_date_and_time, None, "no date: the same model, the same bytes");
        assert_eq!(description.variable_naming_convention.as_deref(), Some("structured"));
        assert_eq!(description.default_experiment.start_time, Some(0.0));
        assert_eq!(description.default_experiment.stop_time, Some(model.experiment.stop));
        assert_eq!(description.default_experiment.step_size, Some(model.experiment.step));
        let tolerance = description.model_exchange.as_ref().map(|_| 1e-10);
        assert_eq!(description.default_experiment.tolerance, tolerance, "for integrators of importers");
        let table = variables::table(&model);
        // Time is left out: libcosim and OpenModelica trip over it.
        assert_eq!(table[0].name, "time");
        assert_eq!(description.model_variables.len(), table.len() - 1);
        for (reference, (read, written)) in (1..).zip(description.model_variables.iter().zip(&table[1..])) {
            assert_eq!(read.name, written.name);
            assert_eq!(read.value_reference, reference);
            assert_eq!(read.description.as_deref(), Some(written.description.as_str()));
            assert_eq!(read.start, written.start.map(Value::Real), "{}", read.name);
            assert_eq!((read.min, read.max), (written.range.min, written.range.max));
            match written.kind {
                Kind::Real(unit) => {
                    assert_eq!(read.variable_type, VariableType::Real);
                    assert_eq!(read.unit.as_deref(), Some(unit.name()));
                    assert_eq!(read.quantity.as_deref(), unit.quantity());
                }
                Kind::Integer => assert_eq!(read.variable_type, VariableType::Integer),
                Kind::Clock => panic!("FMI 2.0 has no clocks"),
            }
        }
    }
}

#[test]
fn capabilities_are_told() {
    let description = round_trip(&model("bouncing_ball").model);
    let interface = description.model_exchange.expect("model exchange");
    assert_eq!(interface.model_identifier, "bouncing_ball");
    assert!(interface.completed_integrator_step_not_needed);
    assert!(interface.can_get_and_set_fmu_state && interface.can_serialize_fmu_state);
    assert!(interface.provides_directional_derivative);
    assert!(!interface.needs_execution_tool && !interface.can_be_instantiated_only_once_per_process);
    let interface = description.co_simulation.expect("co-simulation");
    assert_eq!(interface.model_identifier, "bouncing_ball");
    assert!(interface.can_handle_variable_communication_step_size);
    assert!(interface.can_interpolate_inputs);
    assert!(interface.can_get_and_set_fmu_state && interface.can_serialize_fmu_state);
    assert!(interface.provides_directional_derivative);
    assert!(!interface.needs_execution_tool && !interface.can_be_instantiated_only_once_per_process);
}

/// Nodes whose master repeats steps cannot be sampled.
#[test]
fn iterative_nodes_are_for_co_simulation_only() {
    let mut model = model("coupled_ball").model;
    assert!(round_trip(&model).model_exchange.is_some());
    model.nodes[0].coupling = contact_fmu::model::Coupling::Iterative;
    let description = round_trip(&model);
    assert!(description.co_simulation.is_some() && description.model_exchange.is_none());
}

#[test]
fn start_values_are_where_the_standard_wants_them() {
    for name in examples::names() {
        for variable in round_trip(&model(name).model).model_variables {
            let name = &variable.name;
            match variable.causality {
                Causality::Input => {
                    assert!(variable.start.is_some() && variable.initial.is_none(), "{name}");
                }
                Causality::Independent => panic!("{name} is not needed"),
                Causality::Parameter => {
                    assert_eq!(variable.initial, Some(Initial::Exact), "{name}");
                    assert!(variable.start.is_some(), "{name}");
                }
                _ => {
                    let exact = variable.initial == Some(Initial::Exact);
                    assert_eq!(variable.start.is_some(), exact, "{name}");
                }
            }
            let continuous = variable.variability == Variability::Continuous;
            assert!(!continuous || variable.variable_type == VariableType::Real, "{name}");
        }
    }
}

#[test]
fn bounds_are_told_where_there_are_some() {
    let description = round_trip(&model("bouncing_ball").model);
    for (name, min, max) in [
        ("ball.mass", Some(0.0), None),
        ("ball_floor.restitution", Some(0.0), Some(1.0)),
        ("ball_floor.gap", None, None),
        ("ball_floor.f_n", Some(0.0), None),
        ("ball_floor.impulse", Some(0.0), None),
        ("ball_floor.slip", Some(0.0), None),
        ("ball_floor.state", Some(0.0), Some(2.0)),
        ("engine.iterations", Some(0.0), None),
        ("engine.residual", Some(0.0), None),
        ("engine.penetration", Some(0.0), None),
        ("engine.energy", None, None),
    ] {
        let variable = description.variable(name).expect(name);
        assert_eq!((variable.min, variable.max), (min, max), "{name}");
    }
}

#[test]
fn exactly_the_units_in_use_are_defined() {
    for name in examples::names() {
        let description = round_trip(&model(name).model);
        let used: BTreeSet<&str> =
            description.model_variables.iter().filter_map(|variable| variable.unit.as_deref()).collect();
        let defined: BTreeSet<&str> =
            description.unit_definitions.iter().map(|unit| unit.name.as_str()).collect();
        assert_eq!(used, defined);
        assert!(description.unit_definitions.iter().all(|unit| unit.base_unit.is_some()));
        let newton = description.unit_definitions.iter().find(|unit| unit.name == "N").expect("N");
        let base = newton.base_unit.as_ref().expect("a base unit");
        assert_eq!((base.kg, base.m, base.s, base.a, base.factor), (1, 1, -2, 0, 1.0));
    }
}

#[test]
fn the_structure_lists_outputs_and_initial_unknowns() {
    for name in examples::names() {
        let description = round_trip(&model(name).model);
        let positions = |wanted: &dyn Fn(usize) -> bool| -> Vec<u32> {
            (1..=description.model_variables.len())
                .filter(|&index| wanted(index))
                .map(|index| index as u32)
                .collect()
        };
        let variable = |index: usize| &description.model_variables[index - 1];
        let outputs = positions(&|index| variable(index).causality == Causality::Output);
        let unknowns = positions(&|index| {
            variable(index).causality == Causality::Output
                && variable(index).initial == Some(Initial::Calculated)
        });
        let structure = &description.model_structure;
        let indices = |list: &[contact_fmu::description::Unknown]| -> Vec<u32> {
            list.iter().map(|unknown| unknown.index).collect()
        };
        assert_eq!(indices(&structure.outputs), outputs);
        assert_eq!(indices(&structure.initial_unknowns), unknowns);
        assert!(structure.derivatives.is_empty());
        for unknown in &structure.outputs {
            for &known in unknown.dependencies.iter().flatten() {
                assert_eq!(variable(known as usize).causality, Causality::Input);
            }
        }
        for unknown in &structure.initial_unknowns {
            for &known in unknown.dependencies.iter().flatten() {
                let known = variable(known as usize);
                assert!(known.initial == Some(Initial::Exact) || known.causality == Causality::Input);
            }
        }
        for list in [&structure.outputs, &structure.initial_unknowns] {
            let dependencies = list.iter().filter_map(|unknown| unknown.dependencies.as_ref());
            assert!(dependencies.clone().all(|list| list.is_sorted_by(|a, b| a < b)));
            let inputs = positions(&|index| variable(index).causality == Causality::Input).len();
            assert!(inputs > 100 || dependencies.count() > 0);
        }
    }
}

/// Names of the variables that an unknown depends on.
fn dependencies(
    description: &ModelDescription,
    unknowns: &[contact_fmu::description::Unknown],
    name: &str,
) -> Option<Vec<String>> {
    let variables = &description.model_variables;
    let index = 1 + variables.iter().position(|variable| variable.name == name).expect(name);
    let unknown = unknowns.iter().find(|unknown| unknown.index as usize == index).expect(name);
    let names =
        |list: &Vec<u32>| list.iter().map(|&index| variables[index as usize - 1].name.clone()).collect();
    unknown.dependencies.as_ref().map(names)
}

#[test]
fn forces_on_coupled_bodies_depend_on_the_motion_of_their_island() {
    let mut model = model("coupled_ball").model;
    let mut second = model.nodes[0].clone();
    second.name = "second".to_owned();
    model.nodes.push(second);
    let axes = |name: &str| (1..=3).map(move |axis| format!("{name}[{axis}]")).collect::<Vec<_>>();
    let inputs = |node: &str| ["r", "v", "f_ext"].map(|kind| axes(&format!("{node}.{kind}"))).concat();
    let description = round_trip(&model);
    let structure = &description.model_structure;
    assert_eq!(dependencies(&description, &structure.outputs, "ball.f[1]"), Some(inputs("ball")));
    assert_eq!(dependencies(&description, &structure.outputs, "second.f[3]"), Some(inputs("second")));
    for output in ["ball.adapted_mass", "ball.latency", "ball_floor.gap", "ball_floor.f_n", "engine.energy"] {
        assert_eq!(dependencies(&description, &structure.outputs, output), Some(Vec::new()), "{output}");
    }
    let initial = |name: &str| dependencies(&description, &structure.initial_unknowns, name);
    assert_eq!(initial("ball_floor.gap"), Some(axes("ball.r")));
    assert_eq!(initial("ball.f[3]"), None, "everything that the first forces may depend on");
    assert_eq!(initial("engine.energy"), None);
}

/// The fixture without its contacts.
fn bodies_of_couplings() -> String {
    let source = include_str!("fixtures/couplings.toml");
    source[..source.find("[[contact]]").expect("it has contacts")].to_owned()
}

#[test]
fn bodies_on_a_moving_surface_depend_on_one_another() {
    let source = bodies_of_couplings()
        + "[[contact]]\nbetween = [\"ball\", \"table\"]\n[[contact]]\nbetween = [\"owned\", \"table\"]\n\
           [[contact]]\nbetween = [\"top\", \"floor\"]\n";
    let model =
        contact_fmu::model::file::parse(&source, "couplings.toml").unwrap_or_else(|error| panic!("{error}"));
    let description = round_trip(&model);
    let list = |vectors: &[(&str, u32)]| -> Vec<String> {
        let components = |&(name, count): &(&str, u32)| {
            (1..=count).map(|index| format!("{name}[{index}]")).collect::<Vec<_>>()
        };
        vectors.iter().flat_map(components).collect()
    };
    let table = [("table.r", 3), ("table.v", 3), ("table.q", 4), ("table.w", 3)];
    let together =
        [&[("ball.r", 3), ("ball.v", 3), ("ball.f_ext", 3), ("owned.f_ext", 3)][..], &table].concat();
    let structure = &description.model_structure;
    for output in ["ball.f[1]", "table.t[2]"] {
        assert_eq!(dependencies(&description, &structure.outputs, output), Some(list(&together)), "{output}");
    }
    for output in ["table.latency", "owned.r[3]", "owned_table.gap"] {
        assert_eq!(dependencies(&description, &structure.outputs, output), Some(Vec::new()), "{output}");
    }
    let wall = list(&[("wall.r", 3), ("wall.v", 3), ("wall.q", 4), ("wall.w", 3)]);
    assert_eq!(dependencies(&description, &structure.outputs, "wall.f[1]"), Some(wall), "touches nothing");
    let again = [
        ("r", 3),
        ("v", 3),
        ("q", 4),
        ("w", 3),
        ("f_ext", 3),
        ("t_ext", 3),
        ("f_applied", 3),
        ("t_applied", 3),
    ];
    let again: Vec<_> = again.map(|(name, count)| (format!("again.{name}"), count)).to_vec();
    let again: Vec<_> = again.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(dependencies(&description, &structure.outputs, "again.f[1]"), Some(list(&again)));
    let initial = |name: &str| dependencies(&description, &structure.initial_unknowns, name);
    assert_eq!(initial("ball_table.gap"), Some(list(&[("ball.r", 3), ("table.r", 3), ("table.q", 4)])));
    assert_eq!(initial("owned_table.gap"), Some(list(&[("owned.r", 3), ("table.r", 3), ("table.q", 4)])));
    assert_eq!(initial("top_floor.gap"), Some(list(&[("top.r", 3), ("top.q", 4)])));
}

/// A force on a body that the FMU moves itself takes a step to do something: there are no algebraic loops through it.
#[test]
fn outputs_of_owned_nodes_depend_on_no_input_at_once() {
    for name in ["bouncing_ball", "oscillator", "chain", "slider_crank"] {
        for unknown in round_trip(&model(name).model).model_structure.outputs {
            assert_eq!(unknown.dependencies, Some(Vec::new()), "{name}: output {}", unknown.index);
        }
    }
}

#[test]
fn springs_and_joints_have_their_variables() {
    use Causality::{Input, Output, Parameter};
    use Variability::{Continuous, Discrete, Tunable};
    let source = r#"
        [model]
        name = "linkage"
        [[node]]
        name = "crank"
        coupling = "owned"
        mass = 1
        inertia = [1, 1, 1]
        [[node]]
        name = "slider"
        coupling = "owned"
        mass = 1
        inertia = [1, 1, 1]
        position = [1, 0, 0]
        [[node]]
        name = "alone"
        coupling = "owned"
        mass = 1
        [[spring]]
        name = "k"
        between = ["crank", "slider"]
        stiffness = 5
        damping = 0.25
        [[joint]]
        name = "pin"
        between = ["ground", "crank"]
        revolute = { axis = [0, 1, 0], position = [0, 0, 0] }
        drive.rate = "input"
        [[joint]]
        name = "guide"
        between = ["ground", "slider"]
        prismatic = { axis = [1, 0, 0], position = [1, 0, 0] }
        drive.position = "input"
        [[joint]]
        name = "sleeve"
        between = ["crank", "slider"]
        cylindrical = { axis = [0, 1, 0], position = [1, 0, 0] }
        [[joint]]
        name = "rod"
        between = ["crank", "slider"]
        distance = {}
    "#;
    let model = contact_fmu::model::file::parse(source, "linkage.toml").unwrap_or_else(|e| panic!("{e}"));
    let description = round_trip(&model);
    let list = [
        ("k.stiffness", Parameter, Tunable, "N/m", Some(5.0)),
        ("k.damping", Parameter, Tunable, "N.s/m", Some(0.25)),
        ("k.f", Output, Continuous, "N", None),
        ("k.length", Output, Continuous, "m", None),
        ("pin.drive", Input, Continuous, "rad/s", Some(0.0)),
        ("pin.angle", Output, Continuous, "rad", None),
        ("pin.rate", Output, Continuous, "rad/s", None),
        ("pin.f[1]", Output, Discrete, "N", None),
        ("pin.t[3]", Output, Discrete, "N.m", None),
        ("guide.drive", Input, Continuous, "m", Some(0.0)),
        ("guide.distance", Output, Continuous, "m", None),
        ("guide.speed", Output, Continuous, "m/s", None),
        ("sleeve.angle", Output, Continuous, "rad", None),
        ("sleeve.speed", Output, Continuous, "m/s", None),
        ("rod.f[2]", Output, Discrete, "N", None),
        ("engine.kinetic", Output, Discrete, "J", None),
        ("engine.potential", Output, Discrete, "J", None),
    ];
    for (name, causality, variability, unit, start) in list {
        let variable = description.variable(name).expect(name);
        assert_eq!((variable.causality, variable.variability), (causality, variability), "{name}");
        assert_eq!(variable.unit.as_deref(), Some(unit), "{name}");
        assert_eq!(variable.start, start.map(Value::Real), "{name}");
    }
    for name in ["pin.distance", "guide.angle", "sleeve.drive", "rod.angle", "rod.distance", "rod.rate"] {
        assert!(description.variable(name).is_none(), "{name}");
    }
    assert_eq!(description.variable("k.stiffness").unwrap().min, Some(0.0));
}

/// The energy of the springs is part of the potential energy, which is told at the start already.
#[test]
fn energies_at_the_start() {
    let model = model("oscillator").model;
    let (system, mut state) = model.assemble();
    let table = variables::table(&model);
    let slot = |name: &str| table.iter().find(|variable| variable.name == name).expect(name).slot;
    assert!(variables::set_real(slot("upper.r[3]"), &mut state, 2.101));
    assert!(variables::set_real(slot("upper.v[1]"), &mut state, 3.0));
    let value = |name: &str| variables::get_real(slot(name), &system, &state);
    let expected = [
        ("engine.kinetic", 4.5),
        ("engine.potential", 10.0 * (1.001 + 2.101) + 50.0),
        ("engine.energy", 10.0 * (1.001 + 2.101) + 54.5),
        ("spring.length", 1.1),
        ("spring.f", 1000.0),
    ];
    for (name, exact) in expected {
        assert!((value(name) - exact).abs() < 1e-9, "{name}: {}", value(name));
    }
}

/// Forces of a large island do not list its inputs one by one.
#[test]
fn large_islands_depend_on_everything() {
    let balls = (0..40).map(|n| format!("[[node]]\nname = \"b{n}\"\nmass = 1.0\nposition = [{n}.0, 0.0, 9.0]\n[[contact]]\nbetween = [\"b{n}\", \"table\"]\n"));
    let source =
        bodies_of_couplings() + "[[contact]]\nbetween = [\"ball\", \"table\"]\n" + &balls.collect::<String>();
    let model =
        contact_fmu::model::file::parse(&source, "couplings.toml").unwrap_or_else(|error| panic!("{error}"));
    let description = round_trip(&model);
    let outputs = &description.model_structure.outputs;
    assert_eq!(dependencies(&description, outputs, "b7.f[1]"), None);
    assert_eq!(dependencies(&description, outputs, "table.t[1]"), None);
    assert!(dependencies(&description, outputs, "top.f[1]").is_some());
}

#[test]
fn awkward_text_and_numbers_survive() {
    let mut model = model("bouncing_ball").model;
    model.description = "a < b & \"c\" > 'd', µ = 0.3, ]]> <!-- %s %%".to_owned();
    for value in [1e-300, 0.1, 1.0 / 3.0, f64::MAX, f64::MIN_POSITIVE, 123_456_789_012_345_680.0] {
        model.nodes[0].mass = value;
        model.nodes[0].position[0] = -value;
        let description = round_trip(&model);
        assert_eq!(description.description.as_deref(), Some(model.description.as_str()));
        assert_eq!(description.variable("ball.mass").unwrap().start, Some(Value::Real(value)));
        assert_eq!(description.variable("ball.r[1]").unwrap().start, Some(Value::Real(-value)));
    }
    model.description = "bell \u{7} and null \0".to_owned();
    assert_eq!(
        round_trip(&model).description.as_deref(),
        Some("bell \u{fffd} and null \u{fffd}"),
        "XML has no way to write these"
    );
}

#[test]
fn the_file_of_another_tool_is_read() {
    let description = read(OTHER_TOOL_DESCRIPTION.as_bytes()).unwrap();
    assert_eq!(description.guid, "lag & more");
    assert_eq!(description.model_exchange.as_ref().unwrap().model_identifier, "lag_me");
    let interface = description.co_simulation.as_ref().unwrap();
    assert_eq!(interface.model_identifier, "lag");
    assert!(interface.can_handle_variable_communication_step_size, "\"1\" is true");
    assert_eq!(description.default_experiment.stop_time, Some(1.0));
    assert_eq!(description.default_experiment.step_size, None);
    assert_eq!(description.model_variables.len(), 17, "annotations hold no variables");
    let start = |name: &str| description.variable(name).unwrap().start.clone();
    assert_eq!(start("T"), Some(Value::Real(0.5)), "white space is trimmed, annotations are passed over");
    assert_eq!(start("mode"), Some(Value::Integer(1)));
    assert_eq!(start("warn"), Some(Value::Boolean(false)));
    assert_eq!(start("label"), Some(Value::String("plain".to_owned())));
    assert_eq!(start("positive"), None);
    let variable = |name: &str| description.variable(name).unwrap();
    assert_eq!(description.unit_of(variable("u")), Some("degC"), "from the declared type");
    assert_eq!(variable("x").description.as_deref(), Some("State <x>"));
    assert_eq!(variable("x").value_reference, variable("y, alias of x").value_reference);
    assert_eq!(variable("resources").causality, Causality::Local, "the default");
    assert_eq!(variable("y, alias of x").effective_initial(), Some(Initial::Calculated));
    assert_eq!(variable("T").effective_initial(), Some(Initial::Exact));
    let unit = &description.unit_definitions[1];
    assert_eq!((unit.name.as_str(), unit.base_unit.as_ref().unwrap().offset), ("degC", 273.15));
    assert_eq!(description.declared_type(variable("mode")).unwrap().items[1].name, "direct");
    assert_eq!(description.model_structure.outputs[3].dependencies, Some(vec![2, 3]));
    assert_eq!(description.model_structure.initial_unknowns[0].dependencies, None);
}

#[test]
fn faults_are_told_with_their_line() {
    let broken = |from: &str, to: &str| {
        assert!(OTHER_TOOL_DESCRIPTION.contains(from), "{from}");
        read(OTHER_TOOL_DESCRIPTION.replacen(from, to, 1).as_bytes()).unwrap_err()
    };
    for (from, to, message) in [
        ("fmiVersion=\"2.0\"", "fmiVersion=\"1.0\"", "FMI version 1.0 is not supported, only 2.0 and 3.0"),
        ("fmiVersion=\"2.0\"", "", "<fmiModelDescription> has no fmiVersion"),
        ("stopTime=\"1\"", "stopTime=\"soon\"", "<DefaultExperiment>: stopTime=\"soon\" is not a number"),
        ("name=\"u\" valueReference=\"2\"", "name=\"u\"", "<ScalarVariable> has no valueReference"),
        ("valueReference=\"2\"", "valueReference=\"-1\"", "is not a whole number of the allowed range"),
        ("causality=\"input\"", "causality=\"sideways\"", "is not one of parameter, calculatedParameter"),
        ("<Boolean start=\"true\"/>", "", "variable `enabled` has no type"),
        ("<Integer start=\"0\"/>", "<Integer start=\"0.5\"/>", "start=\"0.5\" is not a whole number"),
        ("<Boolean start=\"0\"/>", "<Boolean start=\"no\"/>", "start=\"no\" is not true or false"),
        ("index=\"10\"", "index=\"18\"", "index 18 names no variable: there are 17, counted from 1"),
        ("dependencies=\"2 3\"", "dependencies=\"2 0\"", "index 0 names no variable"),
        ("</ModelVariables>", "</ModelVariable>", "not well-formed XML"),
        ("<fmiModelDescription", "<html", "the document is <html>, expected <fmiModelDescription>"),
    ] {
        let error = broken(from, to);
        assert!(error.message.contains(message), "{from} -> {to}: {error}");
        let before = &OTHER_TOOL_DESCRIPTION[..OTHER_TOOL_DESCRIPTION.find(from).unwrap()];
        assert_eq!(error.line, 1 + before.matches('\n').count(), "{from} -> {to}: {error}");
    }
    assert!(read(b"").unwrap_err().message.contains("no <fmiModelDescription>"));
    assert!(read(b"\x89PNG\r\n\x1a\n\0\0").unwrap_err().message.contains("not UTF-8"));
    let half = &OTHER_TOOL_DESCRIPTION[..OTHER_TOOL_DESCRIPTION.find("<ModelVariables>").unwrap()];
    let error = read(half.as_bytes()).unwrap_err();
    assert_eq!(error.message, "the file ends inside <fmiModelDescription>");
}

#[test]
fn entities_are_not_expanded() {
    let bomb = "<?xml version=\"1.0\"?>\n<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]>\n\
                <fmiModelDescription fmiVersion=\"2.0\" modelName=\"&b;\" guid=\"\"/>";
    let error = read(bomb.as_bytes()).unwrap_err();
    assert_eq!(error.line, 3);
    assert!(error.message.contains("attribute modelName"), "{error}");
}

#[test]
fn latin_1_is_read_where_it_is_declared() {
    let text = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><fmiModelDescription fmiVersion=\"2.0\" \
                modelName=\"K\u{fc}hler\" guid=\"g\"><CoSimulation modelIdentifier=\"k\"/></fmiModelDescription>";
    let latin_1: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    assert_eq!(read(&latin_1).unwrap().model_name, "K\u{fc}hler");
    let undeclared = text.replace("ISO-8859-1", "UTF-8");
    let bytes: Vec<u8> = undeclared.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    assert!(read(&bytes).unwrap_err().message.contains("not UTF-8"));
}

#[test]
fn ten_thousand_contacts_are_described_in_linear_time() {
    let described = |nodes: usize| {
        let mut model = model("bouncing_ball").model;
        model.nodes = vec![model.nodes[0].clone(); nodes];
        model.contacts = vec![model.contacts[0].clone(); nodes];
        for index in 0..nodes {
            model.nodes[index].name = format!("node{index}");
            model.contacts[index].name = format!("contact{index}");
            let Between::Pair { node, .. } = &mut model.contacts[index].between else { panic!("a pair") };
            *node = index;
        }
        let start = Instant::now();
        let xml = write(&model, &variables::table(&model), "{}");
        assert!(xml.len() > 1000 * nodes);
        start.elapsed()
    };
    let (some, many) = (described(1_000), described(10_000));
    assert!(many < some * 40, "1 000 in {some:?}, 10 000 in {many:?}");
}
