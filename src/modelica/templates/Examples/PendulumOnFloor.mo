within {{package}}.Examples;
model PendulumOnFloor "A pendulum whose tip hits the floor"
  extends Modelica.Icons.Example;
  inner Modelica.Mechanics.MultiBody.World world(g = 9.81, n = {0, 0, -1}) annotation(Placement(transformation(extent = {{-80, -10}, {-60, 10}})));
  Modelica.Mechanics.MultiBody.Joints.Revolute pivot(n = {0, 1, 0}, phi(start = 0, fixed = true), w(start = 0, fixed = true)) annotation(Placement(transformation(extent = {{-40, -10}, {-20, 10}})));
  Modelica.Mechanics.MultiBody.Parts.FixedTranslation rod(r = {1, 0, 0}) annotation(Placement(transformation(extent = {{0, -10}, {20, 10}})));
  Modelica.Mechanics.MultiBody.Parts.Body bob(m = 1, r_CM = {0, 0, 0}, I_11 = 0, I_22 = 0, I_33 = 0) annotation(Placement(transformation(extent = {{50, 10}, {70, 30}})));
  {{package}}.Examples.PendulumTip tip annotation(Placement(transformation(extent = {{50, -30}, {70, -10}})));
equation
  connect(world.frame_b, pivot.frame_a) annotation(Line(points = {{-60, 0}, {-40, 0}}, color = {95, 95, 95}, thickness = 0.5));
  connect(pivot.frame_b, rod.frame_a) annotation(Line(points = {{-20, 0}, {0, 0}}, color = {95, 95, 95}, thickness = 0.5));
  connect(rod.frame_b, bob.frame_a) annotation(Line(points = {{20, 0}, {36, 0}, {36, 20}, {50, 20}}, color = {95, 95, 95}, thickness = 0.5));
  connect(rod.frame_b, tip.frame_a) annotation(Line(points = {{20, 0}, {36, 0}, {36, -20}, {50, -20}}, color = {95, 95, 95}, thickness = 0.5));
  annotation(
    experiment(StopTime = 5, Interval = 0.001, Tolerance = 1e-8),
    Documentation(info = "<html>
<p>A pendulum of 1 m and 1 kg is let go level with its pivot. The floor is 0.5 m below the pivot, so the tip hits it at <code>pivot.phi</code> = 30&deg;, with a rate of sqrt(g/L) = 3.132 rad/s; restitution 0.5 sends it back with half of that. It bounces ever lower and comes to rest on the floor.</p>
<p>A force at the tip along the vertical has to move m/cos<sup>2</sup>(phi) = 4/3 kg there, because the rod holds the tip on its circle: that is the mass in <code>tip</code>. Without friction the floor only pushes up.</p>
<p>Plot <code>pivot.phi</code>, <code>tip.tip_floor_gap</code> and <code>tip.tip_f[3]</code>.</p>
</html>"));
end PendulumOnFloor;
