within {{within}};
model {{class}} "{{description}}"
  import Modelica.Units.SI;
  import Modelica.Mechanics.MultiBody.Frames;
{{connectors}}
  parameter SI.Time samplePeriod(min = 100*Modelica.Constants.eps) = {{period}} "Time between two exchanges with the contact engine" annotation(Dialog(group = "Sampling"));
  parameter SI.Time startTime = 0 "Time of the first exchange" annotation(Dialog(group = "Sampling"));
{{parameters}}
  parameter String libraries = Modelica.Utilities.Files.loadResource("modelica://{{package}}/Resources/Library") "Folder with the libraries of the contact engine" annotation(Dialog(tab = "Advanced"));
  parameter String data = Modelica.Utilities.Files.loadResource("modelica://{{package}}/Resources/Data/{{class}}") "Folder of the model of the contact engine" annotation(Dialog(tab = "Advanced"));
{{outputs}}
protected
  constant Integer parameterReferences[:] = {{parameter_references}} "Parameters in the contact engine";
  constant Integer inputReferences[:] = {{input_references}} "Inputs in the contact engine";
  constant Integer stateReferences[:] = {{state_references}} "Outputs at the start of a period";
  constant Integer resultReferences[:] = {{result_references}} "Outputs that belong to a whole period";
  constant Integer countReferences[:] = {{count_references}} "Integer outputs that belong to a whole period";
{{units}}{{protected}}  discrete Real states[{{state_count}}](each unit = "1", each start = 0, each fixed = true) "At the last exchange";
  discrete Real results[{{result_count}}](each unit = "1", each start = 0, each fixed = true) "Over the present period";
  Integer counts[{{count_count}}](each start = 0, each fixed = true) "Over the present period";
  {{package}}.Internal.Engine engine = {{package}}.Internal.Engine("{{class}}", libraries, data, "{{guid}}", parameterReferences,
    {{parameter_values}},
    inputReferences, stateReferences, resultReferences, countReferences) "Instance of the contact engine";
equation
  when sample(startTime, samplePeriod) then
    (states, results, counts) = {{package}}.Internal.step(engine, time, samplePeriod,
      {{input_values}},
      {{state_count}}, {{result_count}}, {{count_count}});
  end when;
{{equations}}  annotation(
    defaultComponentName = "contact",
    Icon(coordinateSystem(preserveAspectRatio = true, extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
{{ball_icon}},
      Text(extent = {{-150, 150}, {150, 110}}, textString = "%name", textColor = {0, 0, 255})}),
    Documentation(info = "<html>
<p>{{html_description}}</p>
<p>Every <code>samplePeriod</code>, position and velocity of each frame (of rigid bodies also orientation and angular velocity) go into the contact engine. The force and torque that come out act on the frame until the next exchange, resolved in the world frame and held: an impact inside a period is a force of one or two periods with the impulse of the impact. Give <code>NODE_mass</code> the mass that a force at the frame has to move.</p>
<p>The engine is told that its forces act in the period for which it computes them (latency 0). It takes the accelerations besides contact from the motion that it sees.</p>
<h4>Frames</h4>
<table border=\"1\" cellspacing=\"0\" cellpadding=\"2\">
<tr><th>Frame</th><th>Carries</th><th>Position in the model file</th></tr>
{{frame_table}}</table>
<p>Positions, velocities, gaps, lengths and angles are those at the last exchange. Forces, impulses, energies and counts belong to the present period.</p>
</html>"));
end {{class}};
