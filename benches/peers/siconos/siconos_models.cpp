// Siconos' side of the whole models: the nanoseconds of a time step, and where the model ends.
//
//   siconos_models MODEL STEP STEPS
//
// Moreau-Jean with theta = 1/2, gamma = 1/2, contact problems by Lemke, as in the examples of Siconos itself.
#include <SiconosKernel.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

struct Model {
  SP::LagrangianLinearTIDS system;
  SP::SimpleMatrix rows;
  SP::SiconosVector offsets;
  double restitution = 0.8;
};

// Dense: with sparse ones Siconos took six times as long for the chain.
SP::SimpleMatrix square(unsigned size) { return SP::SimpleMatrix(new SimpleMatrix(size, size)); }

// Masses of 1 kg in a row, a spring of stiffness 1e4 between neighbours, the first over a floor of radius 0.2.
Model row_of_masses(unsigned masses, double gravity, double speed) {
  auto mass = square(masses), stiffness = square(masses);
  SP::SiconosVector position(new SiconosVector(masses)), velocity(new SiconosVector(masses)),
      force(new SiconosVector(masses));
  const double k = 1e4;
  for (unsigned i = 0; i < masses; ++i) {
    mass->setValue(i, i, 1.0);
    position->setValue(i, 1.001);
    velocity->setValue(i, speed);
    force->setValue(i, -gravity);
    const unsigned neighbours = (i > 0) + (i + 1 < masses);
    if (neighbours) stiffness->setValue(i, i, k * neighbours);
    if (i > 0) stiffness->setValue(i, i - 1, -k);
    if (i + 1 < masses) stiffness->setValue(i, i + 1, -k);
  }
  Model model;
  model.system = SP::LagrangianLinearTIDS(new LagrangianLinearTIDS(position, velocity, mass));
  if (masses > 1) model.system->setKPtr(stiffness);
  model.system->setFExtPtr(force);
  model.rows = SP::SimpleMatrix(new SimpleMatrix(1, masses));
  model.rows->setValue(0, 0, 1.0);
  model.offsets = SP::SiconosVector(new SiconosVector(1));
  model.offsets->setValue(0, -0.2);
  return model;
}

// A ball that falls into a V of two planes.
Model double_impact(double angle) {
  Model model = row_of_masses(1, 0.0, 0.0);
  SP::SiconosVector position(new SiconosVector(2)), velocity(new SiconosVector(2)), force(new SiconosVector(2));
  auto mass = square(2);
  mass->eye();
  position->setValue(1, 1.001);
  force->setValue(1, -10.0);
  model.system = SP::LagrangianLinearTIDS(new LagrangianLinearTIDS(position, velocity, mass));
  model.system->setFExtPtr(force);
  model.rows = SP::SimpleMatrix(new SimpleMatrix(2, 2));
  model.offsets = SP::SiconosVector(new SiconosVector(2));
  for (unsigned side = 0; side < 2; ++side) {
    model.rows->setValue(side, 0, (side ? -1.0 : 1.0) * std::sin(angle));
    model.rows->setValue(side, 1, std::cos(angle));
    model.offsets->setValue(side, -0.2);
  }
  return model;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return 2;
  const std::string name = arguments[1];
  const double step = std::atof(arguments[2]);
  const int steps = std::atoi(arguments[3]);
  Model model = name == "bouncing_ball"   ? row_of_masses(1, 10.0, 0.0)
                : name == "oscillator"    ? row_of_masses(2, 10.0, 0.0)
                : name == "chain"         ? row_of_masses(100, 0.0, -1.0)
                : name == "double_impact" ? double_impact(0.05)
                                          : Model();
  if (!model.system) return 2;

  SP::NonSmoothDynamicalSystem all(new NonSmoothDynamicalSystem(0.0, steps * step));
  all->insertDynamicalSystem(model.system);
  for (unsigned row = 0; row < model.rows->size(0); ++row) {
    SP::SimpleMatrix rows(new SimpleMatrix(1, model.rows->size(1)));
    for (unsigned i = 0; i < model.rows->size(1); ++i) rows->setValue(0, i, model.rows->getValue(row, i));
    SP::SiconosVector offset(new SiconosVector(1));
    offset->setValue(0, model.offsets->getValue(row));
    SP::Interaction contact(new Interaction(SP::NonSmoothLaw(new NewtonImpactNSL(model.restitution)),
                                            SP::Relation(new LagrangianLinearTIR(rows, offset))));
    all->link(contact, model.system);
  }
  SP::TimeStepping simulation(
      new TimeStepping(all, SP::TimeDiscretisation(new TimeDiscretisation(0.0, step)),
                       SP::MoreauJeanOSI(new MoreauJeanOSI(0.5)), SP::OneStepNSProblem(new LCP())));
  // The first step allocates.
  simulation->computeOneStep();
  simulation->nextStep();
  // In parts of so many steps: the fastest run of each part is what other processes have not disturbed.
  const int part = 20;
  for (int done = 1; done + part <= steps; done += part) {
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < part; ++k) {
      simulation->computeOneStep();
      simulation->nextStep();
    }
    const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
    std::printf("%.6g\n", elapsed.count() / part);
  }
}
