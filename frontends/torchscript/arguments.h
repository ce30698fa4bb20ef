// The arguments of a method as inputs of a graph.
//
//   EMBER_ASSIGN_OR_RETURN(const Arguments arguments,
//                          Arguments::Of(file, forward, options, {}));
//   EMBER_ASSIGN_OR_RETURN(std::vector<graph::Value*> inputs,
//                          frontends::AddInputs(arguments.inputs(), …));
//   std::vector<Value> values = arguments.Values(inputs, machine);
//
// Errors are one line that names the argument. Not thread-safe.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_ARGUMENTS_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_ARGUMENTS_H_

#include <map>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "frontends/frontend.h"
#include "frontends/inputs.h"
#include "frontends/torchscript/interpreter.h"
#include "frontends/torchscript/module.h"
#include "frontends/torchscript/syntax.h"

namespace ember::torchscript {

class Arguments {
 public:
  // dtypes: of inputs of which more is known than that they are tensors.
  static StatusOr<Arguments> Of(const ModuleFile& file, const Function& method,
                                const frontends::ImportOptions& options,
                                const std::map<std::string, DType>& dtypes);

  const std::vector<frontends::ModelInput>& inputs() const { return inputs_; }
  // One per parameter of the method behind `self`. inputs: as AddInputs gives
  // them, or in a region.
  std::vector<Value> Values(const std::vector<Tensor>& inputs, Machine& machine,
                            Interpreter& interpreter) const;

 private:
  // How a parameter is made of inputs.
  struct Part {
    Value::Kind kind = Value::Kind::kTensor;
    size_t input = 0;                      // kTensor and numbers
    std::vector<Part> parts;               // kList, kTuple
    const Expression* standard = nullptr;  // of those that are not given
  };
  Status AddPart(const Expression* type, const std::string& name, int depth,
                 const frontends::ImportOptions& options, Part& part);
  Value ValueOf(const Part& part, const std::vector<Tensor>& inputs,
                Machine& machine, Interpreter& interpreter) const;

  std::vector<frontends::ModelInput> inputs_;
  std::vector<Part> parts_;
  std::map<std::string, DType> dtypes_;
};

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_ARGUMENTS_H_
