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
  // `dtypes`: types of inputs that are known to be something else than f32.
  static StatusOr<Arguments> Of(const ModuleFile& file, const Function& method,
                                const frontends::ImportOptions& options,
                                const std::map<std::string, DType>& dtypes);

  const std::vector<frontends::ModelInput>& inputs() const { return inputs_; }
  // Returns one value per parameter of the method after `self`. `inputs`: the
  // results of AddInputs, or values of a region for them.
  std::vector<Value> Values(const std::vector<Tensor>& inputs, Machine& machine,
                            Interpreter& interpreter) const;

 private:
  // The way in which a parameter is made from inputs.
  struct Part {
    Value::Kind kind = Value::Kind::kTensor;
    size_t input = 0;                      // for kTensor and numbers
    std::vector<Part> parts;               // for kList, kTuple
    const Expression* standard = nullptr;  // the default, if none is given
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
