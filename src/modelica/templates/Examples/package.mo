within {{package}};
package Examples "Examples"
  extends Modelica.Icons.ExamplesPackage;
  annotation(Documentation(info = "<html>
<p>A contact in a multibody model.</p>
</html>"));
end Examples;
