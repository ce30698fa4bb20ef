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

#include <cstdint>
#include <map>
#include <set>
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
  // Selects the arguments that become inputs. kGiven: those for which the
  // options have a shape or value, and those without a default; kAll: all.
  enum class Scope : uint8_t { kGiven, kAll };
  // `dtypes`: types of inputs, by name, for those that are known not to be f32.
  static StatusOr<Arguments> Of(const ModuleFile& file, const Function& method,
                                const frontends::ImportOptions& options,
                                const std::map<std::string, DType>& dtypes,
                                Scope scope = Scope::kGiven);

  const std::vector<frontends::ModelInput>& inputs() const { return inputs_; }
  // Returns the inputs in the form in which a frontend lists them to the user.
  const std::vector<frontends::InputInfo>& infos() const { return infos_; }
  // Returns the values with which the method is called, one per parameter after
  // `self`. `inputs`: the results of AddInputs, or values of a region that
  // correspond to them.
  std::vector<Value> Values(const std::vector<Tensor>& inputs, Machine& machine,
                            Interpreter& interpreter) const;

 private:
  // Describes how the value of a parameter, or of an item in it, is made from
  // the inputs.
  struct Part {
    // The kind of the value; kNone if the user does not give the argument.
    Value::Kind kind = Value::Kind::kTensor;
    size_t input = 0;               // kTensor and numbers
    std::vector<Part> parts;        // kList, kTuple, kDict
    std::vector<std::string> keys;  // kDict
    std::string name;               // kDict
    // The expression of the default value, if the argument is not given.
    const Expression* standard = nullptr;
  };
  Status AddPart(const Expression* type, const std::string& name, int depth,
                 Part& part);
  Status AddItems(const Expression* type, const std::string& name, int depth,
                  Part& part);
  // True if the options have a shape or value for the argument or a part of it.
  bool IsGiven(const Expression* type, const std::string& name) const;
  Value ValueOf(const Part& part, const std::vector<Tensor>& inputs,
                Machine& machine, Interpreter& interpreter) const;

  std::vector<frontends::ModelInput> inputs_;
  std::vector<frontends::InputInfo> infos_;
  std::vector<Part> parts_;
  std::map<std::string, DType> dtypes_;
  // Names of the arguments that the options give: those with a shape or value.
  std::set<std::string> given_;
  Scope scope_ = Scope::kGiven;
};

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_ARGUMENTS_H_
