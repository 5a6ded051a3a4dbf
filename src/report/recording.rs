//! Samples of a simulation in memory, by column, with what the FMU logged.

use super::film::Film;
use crate::description::{Causality, ModelDescription, ScalarVariable, Value, VariableType};

/// Most messages that are kept; further ones are counted.
const MOST_MESSAGES: usize = 10_000;

/// All samples of some variables.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Times of the samples.
    pub times: Vec<f64>,
    /// The variables.
    pub columns: Vec<Column>,
    /// What the user was told, in order.
    pub messages: Vec<Message>,
    /// How many more messages there were.
    pub lost_messages: usize,
    /// What the variables do not tell, where it is to be shown.
    pub film: Option<Film>,
}

/// The samples of one variable.
#[derive(Clone, Debug)]
pub struct Column {
    /// Name.
    pub name: String,
    /// Unit; empty where there is none.
    pub unit: String,
    /// One sentence.
    pub description: String,
    /// Value reference, which tells the variable within the FMU.
    pub reference: u32,
    /// Place in the rows of the simulation.
    pub place: usize,
    /// Whether it is an input; otherwise an output.
    pub is_input: bool,
    /// Whether it is a real; otherwise it jumps from one whole number to another.
    pub is_real: bool,
    /// Values, one a sample; booleans are 0 and 1.
    pub values: Vec<f64>,
}

/// Something that the user was told.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Time of the sample before it.
    pub time: f64,
    /// What it is: `note`, `fmi2Warning`, ...
    pub kind: String,
    /// Text.
    pub text: String,
}

impl Recording {
    /// Nothing yet of the variables of a row that are wanted. Strings are left out, as they cannot be drawn.
    pub fn new<'a>(
        description: &'a ModelDescription,
        row: impl Iterator<Item = &'a ScalarVariable>,
        wanted: impl Fn(&str) -> bool,
    ) -> Recording {
        let column = |(place, variable): (usize, &'a ScalarVariable)| Column {
            name: variable.name.clone(),
            unit: description.unit_of(variable).filter(|unit| *unit != "1").unwrap_or_default().to_owned(),
            description: variable.description.clone().unwrap_or_default(),
            reference: variable.value_reference,
            place,
            is_input: variable.causality == Causality::Input,
            is_real: variable.variable_type == VariableType::Real,
            values: Vec::new(),
        };
        let drawable = row
            .enumerate()
            .filter(|(_, variable)| variable.variable_type != VariableType::String && wanted(&variable.name));
        Recording { columns: drawable.map(column).collect(), ..Recording::default() }
    }

    /// Takes a sample: a row of the simulation.
    pub fn push(&mut self, time: f64, row: &[Value]) {
        self.times.push(time);
        if let Some(film) = &mut self.film {
            film.advance();
        }
        for column in &mut self.columns {
            column.values.push(match &row[column.place] {
                Value::Real(value) => *value,
                Value::Integer(value) => *value as f64,
                Value::Boolean(value) => f64::from(u8::from(*value)),
                Value::String(_) => f64::NAN,
            });
        }
    }

    /// Takes a message.
    pub fn tell(&mut self, message: Message) {
        if self.messages.len() < MOST_MESSAGES {
            self.messages.push(message);
        } else {
            self.lost_messages += 1;
        }
    }

    /// Place of a column.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }
}

impl Column {
    /// Smallest and largest value; those that are no numbers do not count.
    pub fn range(&self) -> (f64, f64) {
        let start = (f64::INFINITY, f64::NEG_INFINITY);
        self.values.iter().fold(start, |(low, high), &value| (low.min(value), high.max(value)))
    }

    /// Whether all samples are the same number.
    pub fn is_constant(&self) -> bool {
        self.values.windows(2).all(|pair| pair[0] == pair[1])
    }
}
