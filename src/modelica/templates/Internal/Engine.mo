within {{package}}.Internal;
class Engine "Instance of the contact engine"
  extends ExternalObject;

  function constructor "Load the library of this platform, make an instance, set its parameters"
    extends Modelica.Icons.Function;
    input String name "Name in messages";
    input String libraries "Folder with the libraries";
    input String data "Folder of the packed model";
    input String guid "Identifies the packed model";
    input Integer parameterReferences[:] "Parameters";
    input Real parameters[size(parameterReferences, 1)] "Their values";
    input Integer inputReferences[:] "Inputs";
    input Integer stateReferences[:] "Outputs at the start of a period";
    input Integer resultReferences[:] "Outputs that belong to a whole period";
    input Integer countReferences[:] "Integer outputs that belong to a whole period";
    output Engine engine "The instance";
  external "C" engine = ContactFmu_open(name, libraries, data, guid,
      parameterReferences, size(parameterReferences, 1), parameters, size(parameters, 1),
      inputReferences, size(inputReferences, 1), stateReferences, size(stateReferences, 1),
      resultReferences, size(resultReferences, 1), countReferences, size(countReferences, 1))
    annotation(Include = "#include \"ContactFmu.h\"", IncludeDirectory = "modelica://{{package}}/Resources/Include");
  end constructor;

  function destructor "End the instance"
    extends Modelica.Icons.Function;
    input Engine engine "The instance";
  external "C" ContactFmu_close(engine)
    annotation(Include = "#include \"ContactFmu.h\"", IncludeDirectory = "modelica://{{package}}/Resources/Include");
  end destructor;
end Engine;
