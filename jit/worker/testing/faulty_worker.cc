// A compile worker for tests that crashes, loops forever or waits for a second
// on nests whose names begin with "crashes", "loops" or "waits".
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "jit/worker/program.h"

namespace ember::jit {
namespace {

class FaultyCompiler final : public ObjectCompiler {
 public:
  explicit FaultyCompiler(std::unique_ptr<ObjectCompiler> compiler)
      : compiler_(std::move(compiler)) {}
  const std::string& identity() const override { return compiler_->identity(); }
  StatusOr<std::string> CompileToObject(const loops::LoopNest& nest,
                                        const CompileOptions& options,
                                        CompiledNest* figures) override {
    return compiler_->CompileToObject(nest, options, figures);
  }
  StatusOr<vm::KernelCode> CompileToCode(const loops::LoopNest& nest,
                                         const CompileOptions& options,
                                         CompiledNest* figures) override {
    if (nest.name.starts_with("crashes")) std::abort();
    if (nest.name.starts_with("loops")) {
      volatile bool goes_on = true;
      while (goes_on) {
      }
    }
    if (nest.name.starts_with("waits"))
      std::this_thread::sleep_for(std::chrono::seconds(1));
    return compiler_->CompileToCode(nest, options, figures);
  }

 private:
  const std::unique_ptr<ObjectCompiler> compiler_;
};

}  // namespace
}  // namespace ember::jit

int main(int argc, char** argv) {
  return ember::jit::RunWorker(argc, argv, [](auto compiler) {
    return std::make_unique<ember::jit::FaultyCompiler>(std::move(compiler));
  });
}
