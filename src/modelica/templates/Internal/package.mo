within {{package}};
package Internal "The contact engine as an external object"
  extends Modelica.Icons.InternalPackage;
  annotation(Documentation(info = "<html>
<p>What the models of this package are made of. The C functions are in <code>Resources/Include/ContactFmu.h</code>.</p>
</html>"));
end Internal;
