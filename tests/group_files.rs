//! Model files with many bodies: groups, patterns, copies and the choice of what is shown.

use contact_fmu::model::copies::MAX_COPIES;
use contact_fmu::model::{Between, Group, Members, Model, file};
use contact_fmu::variables::table;

const BALLS: &str = r#"[model]
name = "balls"
[[node]]
name = "ball"
coupling = "owned"
mass = 1.0
shape.sphere.radius = 0.1
position = [0.0, 0.0, 1.0]
copies = { count = [2, 2, 1], spacing = [0.3, 0.4, 0.5] }
[[node]]
name = "egg"
coupling = "owned"
mass = 1.0
position = [0.0, 0.0, 3.0]
[[surface]]
name = "floor"
shape.plane.normal = [0.0, 0.0, 1.0]
[[surface]]
name = "wall"
shape.plane.normal = [1.0, 0.0, 0.0]
position = [-1.0, 0.0, 0.0]
"#;

fn parse(text: &str) -> Result<Model, String> {
    file::parse(text, "m.toml").map_err(|error| error.to_string())
}

fn model(more: &str) -> Model {
    parse(&format!("{BALLS}{more}")).unwrap_or_else(|error| panic!("refused:\n{error}"))
}

/// What is wrong with the file, and the hint.
fn fault(more: &str) -> (String, String) {
    let text = parse(&format!("{BALLS}{more}")).expect_err("accepted");
    let first = text.lines().next().unwrap().trim_start_matches("error: ").to_owned();
    let hint = text.lines().last().unwrap().trim_start_matches("hint: ").to_owned();
    (first, hint)
}

fn contact(name: &str, between: [&str; 2], more: &str) -> String {
    let name = if name.is_empty() { String::new() } else { format!("name = \"{name}\"\n") };
    format!("[[contact]]\n{name}between = {between:?}\n{more}\n")
}

fn group(model: &Model, index: usize) -> &Group {
    match &model.contacts[index].between {
        Between::Group(group) => group,
        Between::Pair { .. } => panic!("{} is a pair", model.contacts[index].name),
    }
}

#[test]
fn copies_stand_on_a_grid() {
    let model = model("");
    let names: Vec<&str> = model.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["ball_1", "ball_2", "ball_3", "ball_4", "egg"]);
    let places: Vec<[f64; 3]> = model.nodes[..4].iter().map(|node| node.position).collect();
    assert_eq!(places, [[0.0, 0.0, 1.0], [0.3, 0.0, 1.0], [0.0, 0.4, 1.0], [0.3, 0.4, 1.0]]);
    let scattered = BALLS.replace("0.5] }", "0.5], scatter = 0.01 }");
    let scattered = parse(&scattered).unwrap();
    for (node, place) in scattered.nodes.iter().zip(places) {
        for (found, on_grid) in node.position.iter().zip(place) {
            assert!((found - on_grid).abs() <= 0.01 && found != &on_grid);
        }
    }
    let many = parse(&BALLS.replace("[2, 2, 1]", "[1000, 1000, 1000]")).unwrap_err();
    assert!(many.starts_with(&format!("error: the model would have more than {MAX_COPIES} nodes")), "{many}");
    assert!(
        parse(&BALLS.replace("[2, 2, 1]", "[2, 0, 1]")).unwrap_err().contains("`copies.count[2]` must be")
    );
}

#[test]
fn a_contact_with_a_name_between_many_is_a_group() {
    let model = model(&contact("all", ["*", "*"], "restitution = 0.5\nfriction.cone.mu = 0.3"));
    assert_eq!(model.contacts.len(), 1);
    let contact = &model.contacts[0];
    assert_eq!((contact.name.as_str(), contact.restitution, contact.mu), ("all", 0.5, 0.3));
    let all = Members { nodes: vec![0, 1, 2, 3, 4], surfaces: vec![0, 1] };
    assert_eq!(*group(&model, 0), Group { sides: [all.clone(), all], rank: 0 });
    let variables = table(&model);
    let names: Vec<&str> = variables
        .iter()
        .map(|variable| variable.name.as_str())
        .filter(|name| name.starts_with("all"))
        .collect();
    let vector = ["all.f_t[1]", "all.f_t[2]", "all.f_t[3]"];
    let expected = [
        &["all.gap", "all.f_n"][..],
        &vector,
        &["all.impulse", "all.slip", "all.restitution", "all.mu", "all.state"],
    ];
    assert_eq!(names, expected.concat());
}

#[test]
fn names_with_a_star_stand_for_several() {
    let without = model(&contact("", ["ball_*", "floor"], ""));
    let names: Vec<&str> = without.contacts.iter().map(|contact| contact.name.as_str()).collect();
    assert_eq!(names, ["ball_1_floor", "ball_2_floor", "ball_3_floor", "ball_4_floor"]);
    let between = model(&contact("", ["ball_*", "ball_*"], ""));
    assert_eq!(between.contacts.len(), 6);
    let with = model(&contact("rain", ["floor", "ball_*"], ""));
    let balls = Members { nodes: vec![0, 1, 2, 3], surfaces: vec![] };
    let floor = Members { nodes: vec![], surfaces: vec![0] };
    assert_eq!(group(&with, 0).sides, [floor, balls]);
    let (message, _) = fault(&contact("", ["bull_*", "floor"], ""));
    assert_eq!(message, "no node or surface has a name like `bull_*`");
}

#[test]
fn the_entry_with_more_exact_names_decides() {
    let entries = [
        contact("all", ["*", "*"], "restitution = 0.1"),
        contact("rain", ["ball_*", "floor"], "restitution = 0.2"),
        contact("", ["ball_2", "floor"], "restitution = 0.3"),
        contact("", ["*", "wall"], "restitution = 0.4"),
    ];
    let model = model(&entries.concat());
    let (system, _) = model.assemble();
    let pile = system.pile.as_ref().unwrap();
    use contact_fmu::engine::SecondSide::{Node, Surface};
    let name = |contact: Option<usize>| contact.map(|contact| model.contacts[contact].name.as_str());
    assert_eq!(name(pile.contact_of(0, Surface(0))), Some("rain"));
    assert_eq!(name(pile.contact_of(4, Surface(0))), Some("all"));
    assert_eq!(name(pile.contact_of(0, Node(1))), Some("all"));
    // These have contacts of their own.
    assert_eq!(name(pile.contact_of(1, Surface(0))), None);
    assert_eq!(name(pile.contact_of(0, Surface(1))), None);
    assert_eq!(model.contacts.len(), 3 + 5);
    // A pair that a group names better is not one of its own.
    let model =
        self::model(&[contact("", ["*", "floor"], ""), contact("rain", ["ball_*", "floor"], "")].concat());
    let names: Vec<&str> = model.contacts.iter().map(|contact| contact.name.as_str()).collect();
    assert_eq!(names, ["egg_floor", "rain"]);
}

#[test]
fn rules_of_groups() {
    let twice = [contact("one", ["ball_*", "floor"], ""), contact("two", ["b*", "floor"], "")].concat();
    let (message, hint) = fault(&twice);
    assert_eq!(message, "the contact between `ball_1` and `floor` is given twice");
    assert_eq!(hint, "an entry between [\"ball_1\", \"floor\"] would decide");
    let twice = [contact("", ["ball_*", "floor"], ""), contact("two", ["b*", "floor"], "")].concat();
    assert_eq!(fault(&twice).0, "the contact between `ball_1` and `floor` is given twice");
    let (message, _) = fault(&contact("all", ["*", "*"], "friction.box.mu = 0.1"));
    assert_eq!(message, "a group has friction.cone or friction.facets only");
    let (message, _) = fault(&contact("all", ["*", "*"], "normal_stiffness = 1e6"));
    assert_eq!(message, "a group has no `normal_stiffness`");
    let (message, _) = fault(&contact("all", ["*", "*"], "compliance.hertz.stiffness = 1e6"));
    assert_eq!(message, "a group has no `compliance`");
    let (message, _) = fault(&contact("sides", ["wall", "f*"], ""));
    assert_eq!(message, "no two of these can touch");
    assert_eq!(fault(&contact("egg", ["*", "*"], "")).0, "the name `egg` is already taken by a node");
    let inside = contact("all", ["*", "*"], "").replace("[[contact]]", "[[node]]\nname = \"late\"\ncoupling = \"owned\"\nmass = 1.0\nshape.sphere.radius = 0.1\nposition = [0.3, 0.0, 1.15]\n[[contact]]");
    assert_eq!(fault(&inside).0, "`ball_2` starts 0.05 m inside `late`");
}

#[test]
fn outputs_choose_what_is_shown() {
    let all = contact("all", ["*", "*"], "");
    let shown = |outputs: &str| -> Vec<String> {
        let text = format!("{BALLS}{all}")
            .replace("name = \"balls\"", &format!("name = \"balls\"\noutputs = {outputs}"));
        let model = parse(&text).unwrap_or_else(|error| panic!("refused:\n{error}"));
        let names = table(&model).into_iter().map(|variable| variable.name);
        names.filter(|name| !name.starts_with("engine.") && !name.starts_with("gravity")).collect()
    };
    assert_eq!(shown("[]"), ["time"]);
    assert_eq!(
        shown("[\"all.gap\", \"ball_2.r*\"]"),
        ["time", "ball_2.r[1]", "ball_2.r[2]", "ball_2.r[3]", "all.gap"]
    );
    assert_eq!(shown("[\"*.mass\"]").len(), 1 + 5);
    let text = BALLS.replace("name = \"balls\"", "name = \"balls\"\noutputs = [\"ball_2.q\"]");
    let error = parse(&text).unwrap_err();
    assert!(error.starts_with("error: no variable has the name `ball_2.q`\n  --> m.toml:3:12"), "{error}");
    // What a master must set is there in any case.
    let moved = BALLS.replacen("coupling = \"owned\"\n", "", 1);
    let moved = moved.replace("name = \"balls\"", "name = \"balls\"\noutputs = []");
    let names: Vec<String> =
        table(&parse(&moved).unwrap()).into_iter().map(|variable| variable.name).collect();
    for name in ["ball_1.r[1]", "ball_4.v[3]", "ball_1.f[3]"] {
        assert!(names.iter().any(|found| found == name), "{name}");
    }
    assert!(!names.iter().any(|name| name.starts_with("egg")));
}
