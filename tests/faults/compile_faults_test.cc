// Makes each allocation of vm-compile's work fail once: reading an ONNX model,
// importing, compiling and writing it. The compiler may throw std::bad_alloc,
// for which tools print one line (tools/lib/cli/flags.h); it must not end in
// another way. A file that existed before must then be unchanged, or be the new
// one.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "frontends/onnx/testing/model_builder.h"
#include "gtest/gtest.h"
#include "tests/faults/fault_points.h"
#include "tools/lib/models/load_model.h"
#include "vm/format/writer.h"

namespace ember::tests {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kWidth = 256;

// Returns the text of a model that covers several parts of the compiler: a
// product with a constant, which is folded, an open dim, and an If.
std::string ModelText() {
  onnx::ModelBuilder model(17);
  model.Input("x", {"N", kWidth});
  std::vector<float> weights(static_cast<size_t>(kWidth * kWidth), 0.25f);
  model.Floats("w", {kWidth, kWidth}, weights);
  model.Floats("scale", {}, {0.5f});
  model.Node("Mul", {"w", "scale"}, {"scaled"});
  model.Node("MatMul", {"x", "scaled"}, {"product"});
  model.Node("Relu", {"product"}, {"positive"});
  model.Node("Softmax", {"positive"}, {"shares"}, {{"axis", 1}});
  model.Node("NonZero", {"shares"}, {"found"});
  model.Output("shares");
  model.Output("found");
  return model.proto().SerializeAsString();
}

struct Files {
  std::string folder, model, module;

  static const Files& Get() {
    static const Files& files = *new Files(Make());
    return files;
  }

 private:
  static Files Make() {
    Files files;
    files.folder =
        (fs::temp_directory_path() / "compile_faultsXXXXXX").string();
    EMBER_CHECK(::mkdtemp(files.folder.data()) != nullptr);
    files.model = files.folder + "/model.onnx";
    files.module = files.folder + "/model.vmfb";
    const Status written = WriteFileAtomically(files.model, ModelText());
    EMBER_CHECK(written.ok()) << written.ToString();
    return files;
  }
};

Status CompileTo(const std::string& path) {
  EMBER_ASSIGN_OR_RETURN(const vm::ModuleDefinition module,
                         tools::CompileModel(Files::Get().model, {}));
  return vm::WriteModule(module, path);
}

class CompileScenario final : public Scenario {
 public:
  explicit CompileScenario(std::string expected)
      : expected_(std::move(expected)) {}

  Status Run() override {
    try {
      return CompileTo(Files::Get().module);
    } catch (const std::bad_alloc&) {
      EndByBadAlloc();
    }
  }
  Status RunAgain() override {
    EMBER_RETURN_IF_ERROR(CompileTo(Files::Get().module));
    EMBER_ASSIGN_OR_RETURN(const std::string found,
                           ReadFile(Files::Get().module));
    return found == expected_ ? OkStatus()
                              : InternalError("another module than before");
  }

 private:
  const std::string expected_;
};

TEST(CompileFaults, EndInOneWay) {
  const Files& files = Files::Get();
  ASSERT_TRUE(CompileTo(files.module).ok());
  const std::string expected = *ReadFile(files.module);
  const char* const every = std::getenv("EMBER_EVERY");
  const FaultCounts counts = FailAllocations(
      {.every = every == nullptr ? 23 : std::atoll(every)},
      [&] { return std::make_unique<CompileScenario>(expected); });
  std::printf("compile: %s\n", counts.Text().c_str());
  for (const Finding& finding : counts.others.findings) {
    ADD_FAILURE() << "allocation " << finding.number << ": "
                  << OutcomeName(finding.outcome) << ": " << finding.how;
  }
  EXPECT_GT(counts.points, 100);
  EXPECT_EQ(*ReadFile(files.module), expected);
  fs::remove_all(files.folder);
}

}  // namespace
}  // namespace ember::tests
