//! `contact-fmu inspect`.

use crate::description::{CoSimulation, DefaultExperiment, ModelDescription, ModelExchange, ScalarVariable};
use crate::master::extract::FmuFile;
use crate::model::diagnostics::printable;
use serde::Serialize;
use std::fmt::{self, Display};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// Show what an FMU says about itself: variables, units, capabilities, platforms.
///
/// Works for FMI 2.0 and 3.0 FMUs of any tool; of arrays every component is shown. The FMU's library is not loaded.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  contact-fmu inspect ball.fmu\n  contact-fmu inspect ball.fmu --json")]
pub struct Arguments {
    /// FMU.
    #[arg(value_name = "X.fmu")]
    fmu: PathBuf,
    /// As JSON, with the names of the FMI standard.
    #[arg(long)]
    json: bool,
}

/// Prints the description on stdout.
pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let fmu = FmuFile::open(&arguments.fmu)?;
    let report = Report { platforms: &fmu.platforms, description: &fmu.description };
    let mut out = BufWriter::new(io::stdout().lock());
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &report).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        write!(out, "{report}")?;
    }
    out.flush()?;
    Ok(())
}

#[derive(Serialize)]
struct Report<'a> {
    platforms: &'a [String],
    #[serde(flatten)]
    description: &'a ModelDescription,
}

impl Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let description = self.description;
        let row = |f: &mut fmt::Formatter<'_>, name: &str, value: &str| {
            writeln!(f, "{name:<14}{}", printable(value))
        };
        row(f, "name", &description.model_name)?;
        row(f, "FMI version", &description.fmi_version.to_string())?;
        row(f, "guid", &description.guid)?;
        for (name, value) in [
            ("description", &description.description),
            ("version", &description.version),
            ("author", &description.author),
            ("license", &description.license),
            ("tool", &description.generation_tool),
            ("generated", &description.generation_date_and_time),
        ] {
            if let Some(value) = value {
                row(f, name, value)?;
            }
        }
        let platforms = if self.platforms.is_empty() { "none".to_owned() } else { self.platforms.join(", ") };
        row(f, "platforms", &platforms)?;
        row(f, "experiment", &experiment(&description.default_experiment))?;
        if let Some(interface) = &description.co_simulation {
            row(f, "co-simulation", &interface.model_identifier)?;
            capabilities(f, &co_simulation(interface))?;
        }
        if let Some(interface) = &description.model_exchange {
            row(f, "exchange", &interface.model_identifier)?;
            capabilities(f, &model_exchange(interface))?;
        }
        variables(f, description)
    }
}

fn experiment(experiment: &DefaultExperiment) -> String {
    let parts: Vec<String> = [
        ("start", experiment.start_time, " s"),
        ("stop", experiment.stop_time, " s"),
        ("step", experiment.step_size, " s"),
        ("tolerance", experiment.tolerance, ""),
    ]
    .into_iter()
    .filter_map(|(name, value, unit)| Some(format!("{name} {:?}{unit}", value?)))
    .collect();
    if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
}

fn co_simulation(interface: &CoSimulation) -> Vec<(&'static str, String)> {
    let flag = |value: bool| value.to_string();
    let mut list = vec![
        (
            "canHandleVariableCommunicationStepSize",
            flag(interface.can_handle_variable_communication_step_size),
        ),
        ("canInterpolateInputs", flag(interface.can_interpolate_inputs)),
        ("maxOutputDerivativeOrder", interface.max_output_derivative_order.to_string()),
        ("canRunAsynchronuously", flag(interface.can_run_asynchronuously)),
        ("canGetAndSetFMUstate", flag(interface.can_get_and_set_fmu_state)),
        ("canSerializeFMUstate", flag(interface.can_serialize_fmu_state)),
        ("providesDirectionalDerivative", flag(interface.provides_directional_derivative)),
        ("canBeInstantiatedOnlyOncePerProcess", flag(interface.can_be_instantiated_only_once_per_process)),
        ("canNotUseMemoryManagementFunctions", flag(interface.can_not_use_memory_management_functions)),
        ("needsExecutionTool", flag(interface.needs_execution_tool)),
    ];
    if let Some(more) = &interface.fmi3 {
        list.extend([
            ("hasEventMode", flag(more.has_event_mode)),
            ("mightReturnEarlyFromDoStep", flag(more.might_return_early_from_do_step)),
            ("canReturnEarlyAfterIntermediateUpdate", flag(more.can_return_early_after_intermediate_update)),
            ("providesIntermediateUpdate", flag(more.provides_intermediate_update)),
            ("providesAdjointDerivatives", flag(more.provides_adjoint_derivatives)),
        ]);
    }
    list
}

fn model_exchange(interface: &ModelExchange) -> [(&'static str, String); 7] {
    let flag = |value: bool| value.to_string();
    [
        ("completedIntegratorStepNotNeeded", flag(interface.completed_integrator_step_not_needed)),
        ("canGetAndSetFMUstate", flag(interface.can_get_and_set_fmu_state)),
        ("canSerializeFMUstate", flag(interface.can_serialize_fmu_state)),
        ("providesDirectionalDerivative", flag(interface.provides_directional_derivative)),
        ("canBeInstantiatedOnlyOncePerProcess", flag(interface.can_be_instantiated_only_once_per_process)),
        ("canNotUseMemoryManagementFunctions", flag(interface.can_not_use_memory_management_functions)),
        ("needsExecutionTool", flag(interface.needs_execution_tool)),
    ]
}

fn capabilities(f: &mut fmt::Formatter<'_>, capabilities: &[(&str, String)]) -> fmt::Result {
    capabilities.iter().try_for_each(|(name, value)| writeln!(f, "  {name:<40}{value}"))
}

fn variables(f: &mut fmt::Formatter<'_>, description: &ModelDescription) -> fmt::Result {
    let units = description.type_units();
    let unit_of = |variable: &ScalarVariable| -> String {
        let declared = || units.get(variable.declared_type.as_deref()?).copied();
        variable.unit.as_deref().or_else(declared).unwrap_or_default().to_owned()
    };
    let header = ["variable", "type", "causality", "unit", "start", "description"].map(str::to_owned);
    let rows: Vec<[String; 6]> = description
        .model_variables
        .iter()
        .map(|variable| {
            [
                variable.name.clone(),
                variable.type_name(),
                variable.causality.to_string(),
                unit_of(variable),
                variable.start.as_ref().map(ToString::to_string).unwrap_or_default(),
                variable.description.clone().unwrap_or_default(),
            ]
            .map(|cell| printable(&cell))
        })
        .collect();
    let width = |column: usize| {
        rows.iter().chain([&header]).map(|row| row[column].chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..5).map(width).collect();
    writeln!(f)?;
    for row in [&header].into_iter().chain(&rows) {
        let cells: String =
            row[..5].iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}  ")).collect();
        writeln!(f, "{}", format!("{cells}{}", row[5]).trim_end())?;
    }
    Ok(())
}
