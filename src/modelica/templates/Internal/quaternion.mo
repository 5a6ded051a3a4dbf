within {{package}}.Internal;
pure function quaternion "Unit quaternion w x y z from body to world"
  extends Modelica.Icons.Function;
  input Real T[3, 3] "Takes vectors from world to body, as in Modelica.Mechanics.MultiBody.Frames.Orientation";
  output Real q[4](each unit = "1") "The quaternion; its sign means nothing";
external "C" ContactFmu_quaternion(T, q)
  annotation(Include = "#include \"ContactFmu.h\"", IncludeDirectory = "modelica://{{package}}/Resources/Include");
end quaternion;
