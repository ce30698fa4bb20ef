// Assigns the tensors of a command line to a module's inputs and results, by
// name or in order.
//
//   EMBER_ASSIGN_OR_RETURN(std::vector<vm::Tensor> inputs,
//                          BindInputs(*module, {"x=@x.npy"}, {}, random));
//
// A dim that the model leaves open ("N") takes its value from --shape, else
// from the other inputs, else it is 1. Errors: unknown or repeated names, too
// many values; one line that lists the names that exist.
#ifndef EMBER_TOOLS_LIB_MODELS_BIND_H_
#define EMBER_TOOLS_LIB_MODELS_BIND_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/cli/limits.h"
#include "tools/lib/tensors/spec.h"
#include "vm/runtime/module.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {

// The rule for inputs that the command line does not give.
struct MissingInputs {
  // Declares --random-inputs. This object must outlive the parsing.
  void AddFlag(Flags& flags);
  // Prints a line to stderr that names the inputs that are random, if there are
  // any.
  void Report(std::string_view tool, int64_t seed) const;

  // False: it is an error if some inputs are given and others are not. If no
  // input is given, all inputs are random, which suits a first try of a model.
  bool may_be_random = false;
  // Returns the error of a run. If nothing gave open dims of random inputs,
  // which are then 1, the error says so, and which flag gives them: a model may
  // refuse such small inputs.
  Status ExplainError(const Status& error) const;

  // Descriptions of the random inputs, such as "image: 1x1x28x28xf32"; set by
  // BindInputs.
  std::vector<std::string> made;
  // The random inputs with open dims that nothing gave, as values of --shape:
  // "image=?x1x28x28"; set by BindInputs.
  std::vector<std::string> guessed;
};

// Makes the value of the input with this number from a file of a kind that only
// the tool knows, such as a picture. Returns nothing if the file is of another
// kind. `path` is as the user typed it.
using InputReader = std::function<std::optional<StatusOr<vm::Tensor>>(
    const std::string& path, size_t number)>;

// Returns one tensor per input. An input that is not given is zeros if it is
// state, and random otherwise, if `missing` allows that; null allows all. The
// session checks types when it runs. `limits` applies to the tensors that are
// made: together they may be as large as --max-memory says, where a string
// counts as 64 bytes.
StatusOr<std::vector<vm::Tensor>> BindInputs(
    const vm::Module& module, const std::vector<std::string>& specs,
    const std::vector<NamedShape>& shapes, RandomTensors& random,
    const LimitFlags& limits = {}, MissingInputs* missing = nullptr,
    const InputReader& reader = nullptr);

// Appends the inputs that are missing at the end of `inputs`. They must be
// state of the model (frontends::kStateType), whose initial value is zeros.
Status AddInitialState(const vm::Module& module,
                       std::vector<vm::Tensor>& inputs);

struct NumberedTensor {
  size_t number;  // Number of the input or result to which the tensor belongs.
  vm::Tensor tensor;
};
// Reads the tensors that specifications give, each with the number of the input
// or result that it belongs to. A .pb file with a sequence or optional gives
// all tensors of that value (tools/lib/tensors/onnx_data.h).
StatusOr<std::vector<NumberedTensor>> ReadTensors(
    const vm::Module& module, std::string_view what,
    const std::vector<std::string>& specs, RandomTensors& random,
    const InputReader& reader = nullptr);

// Returns for each name the number of the input or result with this name.
// nullopt means the next input or result in order. `what` is "input" or
// "result", for errors.
StatusOr<std::vector<size_t>> BindNames(
    const vm::Module& module, std::string_view what,
    const std::vector<std::optional<std::string>>& names);

// Returns a text such as "x: 1x3xf32, mask: NxNxi64".
std::string DescribeSignatures(const vm::Program& program,
                               std::span<const vm::TensorSignature> signatures);

// Returns a text such as "x: 1x3xf32, mask: 1x8xi64" for tensors of all inputs.
std::string DescribeInputs(const vm::Module& module,
                           std::span<const vm::Tensor> inputs);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MODELS_BIND_H_
