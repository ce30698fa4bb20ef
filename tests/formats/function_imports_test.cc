// Runs sinh, cosh, tan, sign, asinh, acosh and atanh through the importer of
// every format that has them, at 1e-7, 1e-5, 20 and 1e19 of both signs, and
// prints the errors. The last lines are those of kernels (jit/math).
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/torch_export/testing/program_builder.h"
#include "jit/math/testing/accuracy.h"
#include "tensor/instructions.h"
#include "tests/caffe2/one_operator.h"
#include "tests/coreml/one_model.h"
#include "tests/formats/numbers.h"
#include "tests/keras/one_layer.h"
#include "tests/mxnet/one_operator.h"
#include "tests/onnx/one_node.h"
#include "tests/stablehlo/run_program.h"
#include "tests/tensorflow/one_op.h"
#include "tests/tflite/one_operator.h"
#include "tests/torch_export/one_node.h"
#include "tests/torchscript/one_operator.h"

namespace ember::tests {
namespace {

using tensor::Opcode;

constexpr double kPoints[] = {1e-7, 1e-5, 20, 1e19};

struct Function {
  std::string name;
  double (*reference)(double);
  Opcode opcode;
};

const std::vector<Function>& Functions() {
  static const auto* const kFunctions = new std::vector<Function>{
      {"sinh", std::sinh, Opcode::kSinh},
      {"cosh", std::cosh, Opcode::kCosh},
      {"tan", std::tan, Opcode::kTan},
      {"sign", [](double x) { return static_cast<double>((x > 0) - (x < 0)); },
       Opcode::kSign},
      {"asinh", std::asinh, Opcode::kAsinh},
      {"acosh", std::acosh, Opcode::kAcosh},
      {"atanh", std::atanh, Opcode::kAtanh},
  };
  return *kFunctions;
}

using Results = StatusOr<std::vector<Numbers>>;

struct Format {
  std::string name;
  // The names of the functions in the format, in the order of Functions(). An
  // empty one says that the format lacks the function.
  std::vector<std::string> functions;
  std::function<Results(const std::string& function, const Numbers& x)> run;
};

Results RunTorchExport(const std::string& function, const Numbers& x) {
  torch_export::ProgramBuilder program;
  program.Input("x0", x.type, {std::to_string(x.dims[0])});
  program.TupleNode("aten." + function + ".default",
                    {torch_export::Tensor("x0")}, {"y"});
  program.Output("y");
  return RunArchive(program.Archive(), {x});
}

std::vector<Format> Formats() {
  const std::vector<std::string> capitals = {"Sinh",  "Cosh",  "Tan",  "Sign",
                                             "Asinh", "Acosh", "Atanh"};
  const std::vector<std::string> plain = {"sinh",  "cosh",  "tan",  "sign",
                                          "asinh", "acosh", "atanh"};
  const auto core_ml = [](const std::string& layer, const Numbers& x) {
    return RunLayer(std::stoull(layer), coreml::Message(), {x});
  };
  const auto mil = [](const std::string& operation, const Numbers& x) {
    return RunOperation(operation, x, {}, {});
  };
  return {
      {"Caffe2",
       {"Sinh", "Cosh", "Tan", "Sign", "", "", ""},
       [](const std::string& f, const Numbers& x) {
         return OneCaffe2Operator(f).Input(x).Run();
       }},
      {"Core ML layers",
       {"750", "755", "720", "680", "770", "775", "780"},
       core_ml},
      {"Core ML programs",
       {"sinh", "cosh", "tan", "sign", "", "", "atanh"},
       mil},
      {"Keras", plain,
       [](const std::string& f, const Numbers& x) {
         OneLayer layer("TFOpLambda", R"({"function": "math.)" + f + "\"}");
         layer.Input(x);
         return layer.Run();
       }},
      {"MXNet",
       {"sinh", "cosh", "tan", "sign", "arcsinh", "arccosh", "arctanh"},
       [](const std::string& f, const Numbers& x) {
         return OneMxnetOperator(f).Input(x).Run();
       }},
      {"ONNX", capitals,
       [](const std::string& f, const Numbers& x) {
         return OneNode(f, 13).Input(x).Run();
       }},
      {"StableHLO",
       {"chlo.sinh", "chlo.cosh", "chlo.tan", "stablehlo.sign", "chlo.asinh",
        "chlo.acosh", "chlo.atanh"},
       [](const std::string& f, const Numbers& x) {
         const std::string type = TypeText(x);
         return RunProgram(
             ProgramOf({x}, {x},
                       "%r = \"" + f + "\"(%a) : (" + type + ") -> " + type),
             {x});
       }},
      {"TensorFlow", capitals,
       [](const std::string& f, const Numbers& x) {
         return OneOp(f).Input(x).Run();
       }},
      {"TensorFlow Lite",
       {"", "", "", "SIGN", "", "", ""},
       [](const std::string&, const Numbers& x) {
         OneOperator op(schema::BuiltinOperator::SIGN);
         op.Input(x).Output(x.type, x.dims);
         return op.Run();
       }},
      {"torch.export", plain, RunTorchExport},
      {"TorchScript", plain,
       [](const std::string& f, const Numbers& x) {
         return RunTorch("return torch." + f + "(x0)", {x});
       }},
  };
}

std::string Shown(double error) {
  char text[16];
  std::snprintf(text, sizeof text, "%9.3g", error);
  return text;
}

void PrintLine(const std::string& format, const std::string& function,
               const std::vector<double>& errors) {
  std::string line;
  for (const double error : errors) line += Shown(error);
  std::printf("%-18s %-7s%s\n", format.c_str(), function.c_str(), line.c_str());
}

void PrintHead() {
  std::printf("errors in ULP of f32, at x and -x\n");
  PrintLine("format", "", {1e-7, 1e-5, 20, 1e19});
}

// Returns for each number in kPoints the larger error of the function's results
// at that number and at its negative.
std::vector<double> ErrorsOf(const std::vector<double>& results,
                             const Function& function) {
  std::vector<double> errors;
  for (size_t i = 0; i < std::size(kPoints); ++i) {
    double worst = 0;
    for (const bool is_negative : {false, true}) {
      const double x =
          static_cast<float>(is_negative ? -kPoints[i] : kPoints[i]);
      const double found = results[2 * i + (is_negative ? 1 : 0)];
      worst = std::max(worst, jit::UlpError(static_cast<float>(found),
                                            function.reference(x)));
    }
    errors.push_back(worst);
  }
  return errors;
}

Numbers Operand() {
  std::vector<double> values;
  for (const double x : kPoints) values.insert(values.end(), {x, -x});
  return F32({static_cast<int64_t>(values.size())}, values);
}

TEST(FunctionImports, AreAccurateInEveryFormat) {
  PrintHead();
  const Numbers x = Operand();
  for (const Format& format : Formats()) {
    for (size_t i = 0; i < Functions().size(); ++i) {
      if (format.functions[i].empty()) continue;
      const Function& function = Functions()[i];
      SCOPED_TRACE(format.name + " " + function.name);
      const Results results = format.run(format.functions[i], x);
      ASSERT_TRUE(results.ok()) << results.status().message();
      ASSERT_EQ((*results)[0].values.size(), x.values.size());
      const std::vector<double> errors =
          ErrorsOf((*results)[0].values, function);
      PrintLine(format.name, function.name, errors);
      for (const double error : errors) EXPECT_LE(error, 2);
    }
  }
}

// Tests the polynomials of kernels in the same way. Their tan is accurate only
// for arguments up to 2^20 (jit/math/README.md).
TEST(FunctionImports, AreAccurateInKernels) {
  PrintHead();
  const Numbers x = Operand();
  for (const Function& function : Functions()) {
    if (function.opcode == Opcode::kSign) continue;
    SCOPED_TRACE(function.name);
    jit::Expansion expansion(function.opcode, DType::kF32);
    std::vector<double> results;
    for (const double value : x.values) {
      const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
      results.push_back(std::bit_cast<float>(
          static_cast<uint32_t>(expansion.Evaluate(bits))));
    }
    const std::vector<double> errors = ErrorsOf(results, function);
    PrintLine("kernels", function.name, errors);
    for (size_t i = 0; i < errors.size(); ++i) {
      if (function.opcode == Opcode::kTan && kPoints[i] > 0x1p20) continue;
      EXPECT_LE(errors[i], 3) << kPoints[i];
    }
  }
}

}  // namespace
}  // namespace ember::tests
