within {{package}}.Internal;
impure function step "Step the contact engine over one period"
  extends Modelica.Icons.Function;
  input {{package}}.Internal.Engine engine "The instance";
  input Modelica.Units.SI.Time now "Start of the period";
  input Modelica.Units.SI.Time period "Its length";
  input Real inputs[:] "Inputs";
  input Integer stateCount "Number of states";
  input Integer resultCount "Number of results";
  input Integer countCount "Number of counts";
  output Real states[stateCount] "Outputs at the start of the period";
  output Real results[resultCount] "Outputs that belong to the whole period";
  output Integer counts[countCount] "Integer outputs that belong to the whole period";
external "C" ContactFmu_step(engine, now, period, inputs, size(inputs, 1), states, size(states, 1),
    results, size(results, 1), counts, size(counts, 1))
  annotation(Include = "#include \"ContactFmu.h\"", IncludeDirectory = "modelica://{{package}}/Resources/Include");
  annotation(Documentation(info = "<html>
<p>A call with the time of the last one repeats its step: tools may evaluate an event more than once.</p>
</html>"));
end step;
