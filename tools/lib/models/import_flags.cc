#include "tools/lib/models/import_flags.h"

#include <utility>

#include "base/dtype.h"
#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/cli/show_progress.h"
#include "tools/lib/tensors/random.h"
#include "tools/lib/tensors/spec.h"

namespace ember::tools {

void AddImportFlags(Flags& flags, ImportFlags* values) {
  flags.Add("shape", &values->shapes, "NAME=1x3x224x224",
            "Pins dims of an input that the model leaves open; '?' leaves "
            "one open. Random inputs have\n"
            "this shape, with 1 for each open dim. An input for which the "
            "model has a value (an ONNX\n"
            "initializer) becomes an input of the module if it is named "
            "here. x=5xi64 also gives the\n"
            "type, if the model does not (TorchScript). May be repeated.");
  flags.Add("separate-dims", &values->separate_dims,
            "Open dims of inputs need not be equal even if the model gives "
            "them one name.");
  flags.Add("entry", &values->entry, "NAME",
            "Compiles this function if the model has several: a signature "
            "of a TensorFlow or TensorFlow\n"
            "Lite model, a method, program or function of other formats, "
            "or the nodes of a TensorFlow\n"
            "graph to cut at: A,B->C.");
  flags.Add("state-type", &values->state_type, "TYPE",
            "Keeps keys and values of a language model as f16 or bf16, in "
            "half the memory, or as i8 with a\n"
            "factor for each row, in little more than a quarter. Default: "
            "f32.");
  flags.Add("constant", &values->constants, "NAME=VALUE",
            "Makes an input a constant of the module: axes=1xi64=2, @a.npy "
            "and the other forms of vm-run\n"
            "--input. Its dims are pinned as by --shape. May be repeated.");
  AddProgressFlag(flags, &values->progress);
}

StatusOr<LoadOptions> LoadOptionsOf(const ImportFlags& flags) {
  LoadOptions options;
  EMBER_ASSIGN_OR_RETURN(options.shapes, ParseShapeFlags(flags.shapes));
  options.entry = flags.entry;
  options.separate_dims = flags.separate_dims;
  if (!flags.state_type.empty()) {
    options.state_type = DTypeFromName(flags.state_type);
    if (options.state_type != DType::kF32 &&
        options.state_type != DType::kF16 &&
        options.state_type != DType::kBF16 &&
        options.state_type != DType::kI8) {
      return CommandLineError(
          "--state-type: expected f32, f16, bf16 or i8, found '" +
          flags.state_type + "'");
    }
  }
  EMBER_RETURN_IF_ERROR(AddConstants("--constant", flags.constants, options));
  options.progress = ShowProgress(flags.progress);
  options.compile.progress = options.progress.get();
  return options;
}

Status AddConstants(std::string_view flag,
                    const std::vector<std::string>& values,
                    LoadOptions& options) {
  RandomTensors random(0);
  for (const std::string& spec : values) {
    StatusOr<NamedTensor> value = ReadTensorSpec(spec, random);
    if (!value.ok()) return value.status().WithContext(flag);
    if (!value->name) {
      return CommandLineError(std::string(flag) + ": '" + spec +
                              "': expected NAME=VALUE");
    }
    options.values.push_back(*std::move(value));
  }
  return OkStatus();
}

}  // namespace ember::tools
