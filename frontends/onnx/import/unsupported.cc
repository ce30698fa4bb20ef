#include "frontends/onnx/import/unsupported.h"

namespace ember::onnx {
namespace {

// Advice for an operator. "*" as the domain or the name matches any.
struct Advice {
  std::string_view domain;
  std::string_view name;
  std::string_view text;
};

constexpr std::string_view kGeneration =
    "it holds a whole text generation: export the decoder alone, with its past "
    "keys and values as inputs and outputs, and choose the tokens in your "
    "program";
constexpr std::string_view kTraining =
    "Ember runs models but does not train them: export the model for "
    "inference";
constexpr std::string_view kOptimized =
    "ONNX Runtime's optimizer made it for one kind of machine: use the model "
    "as it was before";
constexpr std::string_view kPreprocessing =
    "it is of onnxruntime-extensions: run that part before the model, and feed "
    "its results";
constexpr std::string_view kTensorRt =
    "it is a plugin of TensorRT: export with NonMaxSuppression instead, or "
    "without this step";
constexpr std::string_view kPytorch =
    "it is PyTorch's own operator: export to ONNX operators only "
    "(operator_export_type=ONNX), or with a newer opset";

// clang-format off
constexpr Advice kAdvice[] = {
    {"", "GRUUnit", "it was taken back from ONNX: export with opset 7 or newer"},
    {"*", "ATen", kPytorch},
    {"org.pytorch.aten", "*", kPytorch},
    {"*", "PythonOp", "it calls Python code: export a model without it"},
    {"*", "EfficientNMS_TRT", kTensorRt},
    {"*", "BatchedNMS_TRT", kTensorRt},
    {"*", "BatchedNMSDynamic_TRT", kTensorRt},
    {"ai.onnx.preview.training", "*", kTraining},
    {"ai.onnx.training", "*", kTraining},
    {"com.microsoft", "WhisperBeamSearch", kGeneration},
    {"com.microsoft", "EPContext",
     "it holds code for one accelerator: use the model that it was made from"},
    {"com.microsoft.nchwc", "*", kOptimized},
    {"com.ms.internal.nhwc", "*", kOptimized},
    {"com.microsoft.extensions", "*", kPreprocessing},
    {"ai.onnx.contrib", "*", kPreprocessing},
};
// clang-format on

bool Matches(std::string_view pattern, std::string_view text) {
  return pattern == "*" || pattern == text;
}

}  // namespace

std::string_view UnsupportedAdvice(std::string_view domain,
                                   std::string_view name) {
  if (domain == "ai.onnx") domain = "";
  for (const Advice& advice : kAdvice) {
    if (Matches(advice.domain, domain) && Matches(advice.name, name))
      return advice.text;
  }
  return "";
}

}  // namespace ember::onnx
