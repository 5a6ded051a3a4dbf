//! Writes `SystemStructure.ssd`, SSP 1.0.

use super::Component;
use super::connections::Wiring;
use super::units::Units;
use crate::description::write::GENERATION_TOOL;
use crate::description::{BaseUnit, Causality, EnumerationItem, ScalarVariable, Value, VariableType};
use crate::model::Model;
use quick_xml::events::{BytesDecl, Event};
use quick_xml::writer::Writer;
use std::io;

type Xml = Writer<Vec<u8>>;

const COMMON: &str = "http://ssp-standard.org/SSP1/SystemStructureCommon";
const DESCRIPTION: &str = "http://ssp-standard.org/SSP1/SystemStructureDescription";
const PARAMETER_VALUES: &str = "http://ssp-standard.org/SSP1/SystemStructureParameterValues";
const OMSIMULATOR: &str = "https://raw.githubusercontent.com/OpenModelica/OMSimulator/master/schema/oms.xsd";
const OPEN_SIMULATION_PLATFORM: &str = "http://opensimulationplatform.com/SSP/OSPAnnotations";
const FMU: &str = "application/x-fmu-sharedlibrary";

/// The file's contents.
pub fn write(model: &Model, components: &[Component], wiring: &Wiring) -> String {
    let mut xml = Writer::new_with_indent(Vec::new(), b' ', 2);
    let system = System { model, components, wiring, units: Units::of(components) };
    system.document(&mut xml).expect("writing to memory does not fail");
    let mut bytes = xml.into_inner();
    bytes.push(b'\n');
    String::from_utf8(bytes).expect("only UTF-8 was written")
}

struct System<'a> {
    model: &'a Model,
    components: &'a [Component],
    wiring: &'a Wiring<'a>,
    units: Units<'a>,
}

impl System<'_> {
    fn document(&self, xml: &mut Xml) -> io::Result<()> {
        let name = format!("{}_system", self.model.name);
        xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        xml.create_element("ssd:SystemStructureDescription")
            .with_attributes([("xmlns:ssc", COMMON), ("xmlns:ssd", DESCRIPTION)])
            .with_attribute(("xmlns:ssv", PARAMETER_VALUES))
            .with_attributes([("xmlns:oms", OMSIMULATOR), ("xmlns:osp", OPEN_SIMULATION_PLATFORM)])
            .with_attribute(("version", "1.0"))
            .with_attributes([("name", name.as_str()), ("generationTool", GENERATION_TOOL)])
            .write_inner_content(|xml| {
                self.system(xml, &name)?;
                self.enumerations(xml)?;
                self.unit_list(xml)?;
                let stop = format!("{:?}", self.model.experiment.stop);
                xml.create_element("ssd:DefaultExperiment")
                    .with_attributes([("startTime", "0.0"), ("stopTime", stop.as_str())])
                    .write_inner_content(|xml| self.libcosim_step_size(xml))?;
                Ok(())
            })?;
        Ok(())
    }

    fn system(&self, xml: &mut Xml, name: &str) -> io::Result<()> {
        xml.create_element("ssd:System")
            .with_attribute(("name", name))
            .with_attribute(("description", self.model.description.as_str()))
            .write_inner_content(|xml| {
                if !self.wiring.outer.is_empty() {
                    xml.create_element("ssd:Connectors").write_inner_content(|xml| {
                        self.wiring.outer.iter().try_for_each(|(name, port)| {
                            let kind = port.variable.causality.to_string();
                            self.connector(xml, name, &kind, port.component, port.variable)
                        })
                    })?;
                    let inputs = self.wiring.outer.iter().filter(|(_, port)| port.is_input());
                    let starts = inputs.map(|(name, port)| (name.as_str(), port.component, port.variable));
                    start_values(xml, &starts.collect::<Vec<_>>())?;
                }
                xml.create_element("ssd:Elements").write_inner_content(|xml| {
                    self.components.iter().try_for_each(|component| self.component(xml, component))
                })?;
                self.connections(xml)?;
                self.omsimulator_step_size(xml)
            })?;
        Ok(())
    }

    /// SSP 1.0 has no place for the step size, so it goes where OMSimulator keeps it.
    fn omsimulator_step_size(&self, xml: &mut Xml) -> io::Result<()> {
        annotation(xml, "org.openmodelica", &["oms:Annotations", "oms:SimulationInformation"], &|xml| {
            xml.create_element("oms:FixedStepMaster")
                .with_attributes([("description", "oms-ma"), ("stepSize", self.step().as_str())])
                .with_attributes([("absoluteTolerance", "0.0001"), ("relativeTolerance", "0.0001")])
                .write_empty()?;
            Ok(())
        })
    }

    /// The same where libcosim looks for it.
    fn libcosim_step_size(&self, xml: &mut Xml) -> io::Result<()> {
        annotation(xml, "com.opensimulationplatform", &["osp:Algorithm"], &|xml| {
            xml.create_element("osp:FixedStepAlgorithm")
                .with_attribute(("baseStepSize", self.step().as_str()))
                .write_empty()?;
            Ok(())
        })
    }

    fn step(&self) -> String {
        format!("{:?}", self.model.experiment.step)
    }

    fn component(&self, xml: &mut Xml, component: &Component) -> io::Result<()> {
        let mut element = xml
            .create_element("ssd:Component")
            .with_attribute(("name", component.name.as_str()))
            .with_attributes([("type", FMU), ("source", component.source.as_str())])
            .with_attribute(("implementation", component.implementation()));
        if let Some(description) = &component.description.description {
            element = element.with_attribute(("description", description.as_str()));
        }
        let connectors: Vec<_> =
            component.connectors().filter(|(variable, _)| self.wiring.shows(variable)).collect();
        if connectors.is_empty() {
            element.write_empty()?;
            return Ok(());
        }
        element.write_inner_content(|xml| {
            xml.create_element("ssd:Connectors").write_inner_content(|xml| {
                connectors.iter().try_for_each(|(variable, kind)| {
                    self.connector(xml, &variable.name, kind, component, variable)
                })
            })?;
            let inputs = connectors.iter().filter(|(variable, _)| variable.causality == Causality::Input);
            let starts = inputs.map(|(variable, _)| (variable.name.as_str(), component, *variable));
            start_values(xml, &starts.collect::<Vec<_>>())
        })?;
        Ok(())
    }

    fn connector(
        &self,
        xml: &mut Xml,
        name: &str,
        kind: &str,
        component: &Component,
        variable: &ScalarVariable,
    ) -> io::Result<()> {
        let mut element =
            xml.create_element("ssd:Connector").with_attribute(("name", name)).with_attribute(("kind", kind));
        if let Some(description) = &variable.description {
            element = element.with_attribute(("description", description.as_str()));
        }
        element.write_inner_content(|xml| {
            let element = xml.create_element(match variable.variable_type {
                VariableType::Real => "ssc:Real",
                VariableType::Integer => "ssc:Integer",
                VariableType::Boolean => "ssc:Boolean",
                VariableType::String => "ssc:String",
                VariableType::Enumeration => "ssc:Enumeration",
                VariableType::Binary | VariableType::Clock => "ssc:Binary",
            });
            let element = match variable.variable_type {
                VariableType::Enumeration => {
                    element.with_attribute(("name", enumeration_name(component, variable).as_str()))
                }
                VariableType::Real => match self.units.name(component, variable) {
                    Some(unit) => element.with_attribute(("unit", unit)),
                    None => element,
                },
                _ => element,
            };
            element.write_empty()?;
            Ok(())
        })?;
        Ok(())
    }

    fn connections(&self, xml: &mut Xml) -> io::Result<()> {
        let inner = self.wiring.inner.iter().map(|(start, end)| {
            [
                ("startElement", start.component.name.as_str()),
                ("startConnector", start.variable.name.as_str()),
                ("endElement", end.component.name.as_str()),
                ("endConnector", end.variable.name.as_str()),
            ]
            .to_vec()
        });
        let outer = self.wiring.outer.iter().map(|(name, port)| {
            let element = port.component.name.as_str();
            let connector = port.variable.name.as_str();
            if port.is_input() {
                [("startConnector", name.as_str()), ("endElement", element), ("endConnector", connector)]
                    .to_vec()
            } else {
                [("startElement", element), ("startConnector", connector), ("endConnector", name.as_str())]
                    .to_vec()
            }
        });
        let all: Vec<_> = inner.chain(outer).collect();
        if all.is_empty() {
            return Ok(());
        }
        xml.create_element("ssd:Connections").write_inner_content(|xml| {
            for attributes in all {
                xml.create_element("ssd:Connection").with_attributes(attributes).write_empty()?;
            }
            Ok(())
        })?;
        Ok(())
    }

    fn enumerations(&self, xml: &mut Xml) -> io::Result<()> {
        let mut list: Vec<(String, &[EnumerationItem])> = Vec::new();
        for component in self.components {
            for (variable, _) in component.connectors() {
                if variable.variable_type == VariableType::Enumeration {
                    let name = enumeration_name(component, variable);
                    let items = component.description.declared_type(variable).map(|known| &known.items[..]);
                    if !list.iter().any(|(known, _)| *known == name) {
                        list.push((name, items.unwrap_or_default()));
                    }
                }
            }
        }
        if list.is_empty() {
            return Ok(());
        }
        xml.create_element("ssd:Enumerations").write_inner_content(|xml| {
            for (name, items) in list {
                xml.create_element("ssc:Enumeration")
                    .with_attribute(("name", name.as_str()))
                    .write_inner_content(|xml| {
                        for item in items {
                            xml.create_element("ssc:Item")
                                .with_attribute(("name", item.name.as_str()))
                                .with_attribute(("value", item.value.to_string().as_str()))
                                .write_empty()?;
                        }
                        Ok(())
                    })?;
            }
            Ok(())
        })?;
        Ok(())
    }

    fn unit_list(&self, xml: &mut Xml) -> io::Result<()> {
        if self.units.list.is_empty() {
            return Ok(());
        }
        xml.create_element("ssd:Units").write_inner_content(|xml| {
            for (name, base) in &self.units.list {
                xml.create_element("ssc:Unit")
                    .with_attribute(("name", name.as_str()))
                    .write_inner_content(|xml| base_unit(xml, base))?;
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// Start values of inputs as a parameter set: runners start connectors at zero where nothing is said.
fn start_values(xml: &mut Xml, inputs: &[(&str, &Component, &ScalarVariable)]) -> io::Result<()> {
    let values = inputs.iter().filter_map(|(name, component, variable)| {
        Some((*name, parameter_type(variable.variable_type), start_text(component, variable)?))
    });
    let values: Vec<_> = values.collect();
    if values.is_empty() {
        return Ok(());
    }
    nest(xml, &["ssd:ParameterBindings", "ssd:ParameterBinding", "ssd:ParameterValues"], &|xml| {
        xml.create_element("ssv:ParameterSet")
            .with_attributes([("version", "1.0"), ("name", "initialValues")])
            .write_inner_content(|xml| {
                xml.create_element("ssv:Parameters").write_inner_content(|xml| {
                    values.iter().try_for_each(|(name, kind, value)| {
                        xml.create_element("ssv:Parameter")
                            .with_attribute(("name", *name))
                            .write_inner_content(|xml| {
                                let element = xml.create_element(*kind);
                                element.with_attribute(("value", value.as_str())).write_empty()?;
                                Ok(())
                            })?;
                        Ok(())
                    })
                })?;
                Ok(())
            })?;
        Ok(())
    })
}

fn parameter_type(variable_type: VariableType) -> &'static str {
    match variable_type {
        VariableType::Real => "ssv:Real",
        VariableType::Integer => "ssv:Integer",
        VariableType::Boolean => "ssv:Boolean",
        VariableType::String => "ssv:String",
        VariableType::Enumeration => "ssv:Enumeration",
        VariableType::Binary | VariableType::Clock => "ssv:Binary",
    }
}

/// The start value of a variable, where there is one; of an enumeration the name of its item.
fn start_text(component: &Component, variable: &ScalarVariable) -> Option<String> {
    let start = variable.start.as_ref()?;
    match (variable.variable_type, start) {
        (VariableType::Enumeration, Value::Integer(number)) => {
            let items = &component.description.declared_type(variable)?.items;
            items.iter().find(|item| item.value == *number).map(|item| item.name.clone())
        }
        _ => Some(start.to_string()),
    }
}

/// An annotation of a tool, with elements around what is inside.
fn annotation(
    xml: &mut Xml,
    tool: &str,
    around: &[&str],
    inside: &dyn Fn(&mut Xml) -> io::Result<()>,
) -> io::Result<()> {
    xml.create_element("ssd:Annotations").write_inner_content(|xml| {
        xml.create_element("ssc:Annotation")
            .with_attribute(("type", tool))
            .write_inner_content(|xml| nest(xml, around, inside))?;
        Ok(())
    })?;
    Ok(())
}

fn nest(xml: &mut Xml, around: &[&str], inside: &dyn Fn(&mut Xml) -> io::Result<()>) -> io::Result<()> {
    let [outermost, rest @ ..] = around else { return inside(xml) };
    xml.create_element(*outermost).write_inner_content(|xml| nest(xml, rest, inside))?;
    Ok(())
}

fn base_unit(xml: &mut Xml, base: &BaseUnit) -> io::Result<()> {
    let mut element = xml.create_element("ssc:BaseUnit");
    let exponents = [
        ("kg", base.kg),
        ("m", base.m),
        ("s", base.s),
        ("A", base.a),
        ("K", base.k),
        ("mol", base.mol),
        ("cd", base.cd),
        ("rad", base.rad),
    ];
    for (name, exponent) in exponents {
        if exponent != 0 {
            element = element.with_attribute((name, exponent.to_string().as_str()));
        }
    }
    for (name, value, default) in [("factor", base.factor, 1.0), ("offset", base.offset, 0.0)] {
        if value != default {
            element = element.with_attribute((name, format!("{value:?}").as_str()));
        }
    }
    element.write_empty()?;
    Ok(())
}

/// Enumerations of different FMUs may have the same name.
fn enumeration_name(component: &Component, variable: &ScalarVariable) -> String {
    format!("{}.{}", component.name, variable.declared_type.as_deref().unwrap_or(&variable.name))
}
