//! Units of the variables, in Modelica spelling, with their SI base units and quantities.

/// A unit of the variable table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Unit {
    One,
    Second,
    Meter,
    MeterPerSecond,
    MeterPerSecondSquared,
    Kilogram,
    Newton,
    NewtonSecond,
    Joule,
    RadianPerSecond,
    NewtonMeter,
    Radian,
    NewtonPerMeter,
    NewtonSecondPerMeter,
    /// N.m.s
    NewtonMeterSecond,
    PerKilogram,
}

/// Exponents of the SI base units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct BaseUnit {
    pub kg: i32,
    pub m: i32,
    pub s: i32,
    pub rad: i32,
}

impl Unit {
    /// Modelica spelling.
    pub fn name(self) -> &'static str {
        match self {
            Unit::One => "1",
            Unit::Second => "s",
            Unit::Meter => "m",
            Unit::MeterPerSecond => "m/s",
            Unit::MeterPerSecondSquared => "m/s2",
            Unit::Kilogram => "kg",
            Unit::Newton => "N",
            Unit::NewtonSecond => "N.s",
            Unit::Joule => "J",
            Unit::RadianPerSecond => "rad/s",
            Unit::NewtonMeter => "N.m",
            Unit::Radian => "rad",
            Unit::NewtonPerMeter => "N/m",
            Unit::NewtonSecondPerMeter => "N.s/m",
            Unit::NewtonMeterSecond => "N.m.s",
            Unit::PerKilogram => "1/kg",
        }
    }

    /// Exponents of the SI base units.
    pub fn base(self) -> BaseUnit {
        let rad = i32::from(matches!(self, Unit::Radian | Unit::RadianPerSecond));
        let (kg, m, s) = match self {
            Unit::One | Unit::Radian => (0, 0, 0),
            Unit::Second => (0, 0, 1),
            Unit::Meter => (0, 1, 0),
            Unit::MeterPerSecond => (0, 1, -1),
            Unit::MeterPerSecondSquared => (0, 1, -2),
            Unit::Kilogram => (1, 0, 0),
            Unit::Newton => (1, 1, -2),
            Unit::NewtonSecond => (1, 1, -1),
            Unit::Joule | Unit::NewtonMeter => (1, 2, -2),
            Unit::RadianPerSecond => (0, 0, -1),
            Unit::NewtonPerMeter => (1, 0, -2),
            Unit::NewtonSecondPerMeter => (1, 0, -1),
            Unit::NewtonMeterSecond => (1, 2, -1),
            Unit::PerKilogram => (-1, 0, 0),
        };
        BaseUnit { kg, m, s, rad }
    }

    /// Quantity as named in Modelica.Units.SI; none for a plain number.
    pub fn quantity(self) -> Option<&'static str> {
        match self {
            Unit::One | Unit::PerKilogram => None,
            Unit::Second => Some("Time"),
            Unit::Meter => Some("Length"),
            Unit::MeterPerSecond => Some("Velocity"),
            Unit::MeterPerSecondSquared => Some("Acceleration"),
            Unit::Kilogram => Some("Mass"),
            Unit::Newton => Some("Force"),
            Unit::NewtonSecond => Some("Impulse"),
            Unit::Joule => Some("Energy"),
            Unit::RadianPerSecond => Some("AngularVelocity"),
            Unit::NewtonMeter => Some("Torque"),
            Unit::Radian => Some("Angle"),
            Unit::NewtonPerMeter => Some("TranslationalSpringConstant"),
            Unit::NewtonSecondPerMeter => Some("TranslationalDampingConstant"),
            Unit::NewtonMeterSecond => Some("AngularImpulse"),
        }
    }
}
