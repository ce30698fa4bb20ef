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

// Decides how inputs that the command line does not give are made, and keeps
// what was made.
struct MissingInputs {
  // Declares --random-inputs. This object must outlive the parsing.
  void AddFlag(Flags& flags);
  // Prints a line to stderr that names the inputs that are random, if there are
  // any.
  void Report(std::string_view tool, int64_t seed) const;

  // True: all missing inputs may be random. False: they may only if no input is
  // given at all, which suits a first try of a model; otherwise a missing input
  // is an error.
  bool may_be_random = false;
  // Returns the error of a run, with a hint if it may have been caused by open
  // dims of random inputs. Such dims are 1 unless --shape gives them, which
  // some models refuse; the hint names the flag.
  Status ExplainError(const Status& error) const;

  // Descriptions of the random inputs, such as "image: 1x1x28x28xf32"; set by
  // BindInputs.
  std::vector<std::string> made;
  // The random inputs with open dims of unknown size, as values of --shape:
  // "image=?x1x28x28"; set by BindInputs.
  std::vector<std::string> guessed;
};

// A function that makes the value of input `number` from a file, such as a
// picture. It returns nothing if the file is not of a kind that it knows.
// `path` is as the user typed it.
using InputReader = std::function<std::optional<StatusOr<vm::Tensor>>(
    const std::string& path, size_t number)>;

// Returns one tensor for each input of the module. An input without a given
// value is zeros if it is state, and random otherwise. `missing` decides if
// random values are allowed; null: they are. Types are checked later, by the
// session. `limits`: the tensors together may not exceed --max-memory, where a
// string counts as 64 bytes.
StatusOr<std::vector<vm::Tensor>> BindInputs(
    const vm::Module& module, const std::vector<std::string>& specs,
    const std::vector<NamedShape>& shapes, RandomTensors& random,
    const LimitFlags& limits = {}, MissingInputs* missing = nullptr,
    const InputReader& reader = nullptr);

// Appends the inputs that are missing at the end of `inputs`. They must be
// state of the model (frontends::kStateType) and become zeros.
Status AddInitialState(const vm::Module& module,
                       std::vector<vm::Tensor>& inputs);

struct NumberedTensor {
  size_t number;  // Number of the module's input or result to which the tensor
                  // belongs.
  vm::Tensor tensor;
};
// Reads the tensors of specifications (tools/lib/tensors/spec.h), each with the
// number of its input or result. A .pb file with a sequence or an optional
// gives several tensors (tools/lib/tensors/onnx_data.h).
StatusOr<std::vector<NumberedTensor>> ReadTensors(
    const vm::Module& module, std::string_view what,
    const std::vector<std::string>& specs, RandomTensors& random,
    const InputReader& reader = nullptr);

// Returns for each name the number of the module's input or result that has it.
// A nullopt among the names is the first input or result that no name before it
// has taken. Fails if a number is taken twice. `what` is "input" or "result".
StatusOr<std::vector<size_t>> BindNames(
    const vm::Module& module, std::string_view what,
    const std::vector<std::optional<std::string>>& names);

// Returns a text that lists inputs or results with their dims and types, such
// as "x: 1x3xf32, mask: NxNxi64".
std::string DescribeSignatures(const vm::Program& program,
                               std::span<const vm::TensorSignature> signatures);

// Returns a text that lists the inputs with their actual tensors, such as "x:
// 1x3xf32, mask: 1x8xi64".
std::string DescribeInputs(const vm::Module& module,
                           std::span<const vm::Tensor> inputs);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MODELS_BIND_H_
