package {{package}} "{{description}}"
  annotation(
    uses(Modelica(version = "4.0.0")),
    version = "{{version}}",
    Icon(coordinateSystem(preserveAspectRatio = true, extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {128, 128, 128}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid, radius = 25),
{{ball_icon}}}),
    Documentation(info = "<html>
<p>{{html_description}}</p>
<p>Hard contact and friction for multibody models: connect <code>{{class}}</code> to the frames of the bodies that touch. The contact engine is a library inside this package, which its C header <code>Resources/Include/ContactFmu.h</code> loads; the import of FMUs is not needed. The model file is <code>Resources/Data/{{class}}/model.toml</code>.</p>
<p>Libraries for: {{platforms}}. On Linux with a glibc before 2.34 the tool must link <code>libdl</code>.</p>
<p>See the example <a href=\"modelica://{{package}}.Examples.PendulumOnFloor\">PendulumOnFloor</a>. Written by {{tool}}.</p>
</html>"));
end {{package}};
