#include "jit/spirv/testing/run_nest.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/check.h"
#include "base/concat.h"
#include "base/file.h"
#include "gtest/gtest.h"
#include "hal/vulkan/device.h"
#include "hal/vulkan/testing/test_device.h"
#include "jit/loops/analysis/matrix_operation.h"
#include "jit/loops/evaluator/evaluator.h"
#include "jit/loops/text/text.h"
#include "jit/spirv/emitter.h"
#include "jit/spirv/target.h"
#include "jit/spirv/tools.h"
#include "tensor/testing/random_values.h"

namespace ember::jit::spirv {
std::shared_ptr<hal::Device> TestDevice() {
  static const std::shared_ptr<hal::Device>& device =
      *new std::shared_ptr<hal::Device>([] {
        auto made = hal::CreateVulkanDevice(0, {});
        EMBER_CHECK(made.ok() || hal::vulkan::MaySkip(made.status()))
            << made.status().ToString();
        return made.ok() ? *std::move(made) : nullptr;
      }());
  return device;
}

std::string TestTarget() {
  std::string target(TestDevice()->target());
  target.resize(std::min(target.size(), target.find("+iterations")));
  const char* const without = std::getenv("EMBER_TEST_WITHOUT");
  return without == nullptr ? target : Without(std::move(target), without);
}

std::string Without(std::string target, std::string_view feature) {
  const std::string row = Concat({"+", feature});
  const size_t at = target.find(row);
  if (at == std::string::npos) return target;
  const size_t end = at + row.size();
  if (end == target.size() || target[end] == '+') target.erase(at, row.size());
  return target;
}

Status Validate(std::span<const uint32_t> words) {
  const Status status = ValidateModule(words);
  const char* const newer = std::getenv("EMBER_SPIRV_VAL");
  if (status.code() != StatusCode::kUnimplemented || newer == nullptr)
    return status;
  // Tests that are run by hand share a temporary folder, so the name contains
  // the process id.
  const std::string file =
      Concat({testing::TempDir(), "/module.", ::getpid(), ".spv"});
  const std::string log = file + ".log";
  const auto bytes = std::as_bytes(words);
  EMBER_RETURN_IF_ERROR(WriteFileAtomically(
      file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  const std::string command =
      Concat({newer, " --target-env vulkan1.2 ", file, " >", log, " 2>&1"});
  const int exit_status = std::system(command.c_str());
  const auto said = ReadFile(log);
  ::unlink(file.c_str());
  ::unlink(log.c_str());
  if (exit_status == 0) return OkStatus();
  if (!said.ok()) return said.status();
  return InternalError(Concat({command, ": ", *said}));
}

std::string WhyNoMatrices() {
  if (TestDevice() == nullptr) return kNoDevice;
  const Target target = Target::Of(TestTarget());
  if (target.matrices.empty()) {
    return Concat({"no products of matrices: ", TestTarget(),
                   " (./dev lavapipe has a device with them)"});
  }
  const loops::MatrixType& type = target.matrices[0];
  const std::string size = Concat({type.rows, ", ", type.columns, "]"});
  const std::string loops =
      Concat({"matrix m < ", type.rows, " { matrix n < ", type.columns, " { "});
  const std::string sum(DTypeName(type.sum));
  const auto code =
      EmitModule(ParseOrDie(Concat({"loops @probe(%y: output ", sum, "[", size,
                                    ") { register %s: ", sum, "[1, ", size,
                                    " phase t < 1 { subgroup g < 1 { ", loops,
                                    "%s[g, m, n] = 0:", sum, " } } ", loops,
                                    "%y[m, n] = %s[g, m, n] } } } } }"})),
                 target);
  EMBER_CHECK(code.ok()) << code.status().ToString();
  const Status valid = Validate(code->words);
  if (valid.code() == StatusCode::kUnimplemented)
    return std::string(valid.message());
  EMBER_CHECK(valid.ok()) << valid.ToString();
  return "";
}

bool KeepsSubnormals() {
  static const bool keeps = [] {
    const loops::LoopNest nest = ParseOrDie(
        "loops @sums(%x: input f32[1], %y: input f64[1], %a: output f32[1], "
        "%b: output f64[1]) {\n"
        "  phase i < 1 { %a[i] = %x[i] + %x[i] %b[i] = %y[i] + %y[i] }\n}");
    Bytes buffers = {{1, 0, 0, 0}, {1, 0, 0, 0, 0, 0, 0, 0}, {}, {}};
    buffers[2] = std::vector<uint8_t>(4);
    buffers[3] = std::vector<uint8_t>(8);
    const Status status = RunOnDevice(nest, {}, buffers);
    EMBER_CHECK(status.ok()) << status.ToString();
    return buffers[2][0] == 2 && buffers[3][0] == 2;
  }();
  return keeps;
}

gpu::PhaseCode FirstPhase(const std::string& text, const char* target) {
  const auto code = EmitModule(ParseOrDie(text), Target::Of(target));
  EXPECT_TRUE(code.ok()) << code.status().ToString();
  if (!code.ok()) return {};
  const Status valid = ValidateModule(code->words);
  EXPECT_TRUE(valid.ok()) << valid.ToString() << DisassembleModule(code->words);
  return code->phases[0];
}

StatusOr<ModuleCode> Emit(const loops::LoopNest& nest,
                          const std::string& target) {
  const std::string wanted = target.empty() ? TestTarget() : target;
  EMBER_ASSIGN_OR_RETURN(ModuleCode code, EmitModule(nest, Target::Of(wanted)));
  if (Status status = Validate(code.words); !status.ok())
    return status.WithContext(DisassembleModule(code.words));
  return code;
}

Status RunOnDevice(const loops::LoopNest& nest,
                   const std::vector<int64_t>& parameters, Bytes& buffers,
                   const std::string& target) {
  EMBER_ASSIGN_OR_RETURN(const ModuleCode code, Emit(nest, target));
  return gpu::RunNest(TestDevice(), nest, code.ForDevice(), parameters,
                      buffers);
}

Status RunKernel(const vm::RecordedKernel& kernel,
                 std::span<const int64_t> parameters,
                 std::span<void* const> buffers,
                 std::span<const int64_t> bytes) {
  return gpu::RunKernel(*TestDevice(), kernel, parameters, buffers, bytes);
}

void ExpectAsEvaluated(const std::string& text,
                       const std::vector<int64_t>& parameters, double tolerance,
                       const std::string& target) {
  SCOPED_TRACE(text);
  const loops::LoopNest nest = ParseOrDie(text);
  Bytes expected = SmallContents(nest, parameters);
  Bytes actual = expected;
  const Status wanted =
      loops::Evaluate(nest, parameters, tensor::Pointers(expected));
  const Status status = RunOnDevice(nest, parameters, actual, target);
  ASSERT_EQ(wanted.ok(), status.ok())
      << wanted.ToString() << " / " << status.ToString();
  if (!wanted.ok()) {
    // If several checks fail, the device may report another one than the
    // evaluator, so only the error codes are compared.
    EXPECT_EQ(status.code(), wanted.code()) << status.ToString();
    return;
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(tensor::FirstDifferentElement(nest.buffers[i].type, expected[i],
                                            actual[i], tolerance, tolerance),
              "")
        << "%" << nest.buffers[i].name;
  }
}

}  // namespace ember::jit::spirv
