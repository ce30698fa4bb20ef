// A replacement of libember_jit.so whose kernels are wrong on purpose. A test
// puts it beside a copy of the tools. Kernels of dispatches whose name contains
// $EMBER_FAULT add 1 to the last f32 of their first output. With
// $EMBER_FAULT_ABOVE=X they do so only in calls whose first operand begins with
// an f32 above X.
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "jit/jit.h"
#include "tensor/analysis/index_algebra.h"
#include "tools/lib/testing/faulty_kernel.h"

namespace ember::tools {
namespace {

class FaultyWrapper final : public jit::KernelWrapper {
 public:
  explicit FaultyWrapper(std::shared_ptr<jit::KernelWrapper> next)
      : next_(std::move(next)) {}

  std::unique_ptr<vm::Kernel> Wrap(
      const vm::KernelRequest& request, vm::KernelSlot& slot,
      jit::KernelText text, std::unique_ptr<vm::Kernel> kernel) override {
    const char* const fault = std::getenv("EMBER_FAULT");
    if (fault != nullptr &&
        request.dispatch->name.find(fault) != std::string::npos)
      kernel = Spoil(*request.dispatch, std::move(kernel));
    if (next_ == nullptr) return kernel;
    return next_->Wrap(request, slot, std::move(text), std::move(kernel));
  }

 private:
  static std::unique_ptr<vm::Kernel> Spoil(const tensor::Dispatch& dispatch,
                                           std::unique_ptr<vm::Kernel> kernel) {
    const char* const above = std::getenv("EMBER_FAULT_ABOVE");
    const bool is_limited = above != nullptr;
    const float limit = is_limited ? std::strtof(above, nullptr) : 0;
    const size_t output = dispatch.input_count();
    return std::make_unique<FaultyKernel>(
        std::move(kernel),
        [&dispatch, output](const vm::KernelCall& call) {
          const auto header =
              tensor::ConcreteHeader::Evaluate(dispatch, call.parameters);
          const int64_t count = header->ElementCount(dispatch.buffers[output]);
          static_cast<float*>(call.buffers[output])[count - 1] += 1;
        },
        [=](const vm::KernelCall& call) {
          return !is_limited ||
                 static_cast<const float*>(call.buffers[0])[0] > limit;
        });
  }

  const std::shared_ptr<jit::KernelWrapper> next_;
};

}  // namespace
}  // namespace ember::tools

extern "C" __attribute__((visibility("default"))) bool EmberNewJit(
    const ember::jit::JitOptions* options,
    std::shared_ptr<ember::jit::Jit>* jit, std::string* error) {
  ember::jit::JitOptions faulty = *options;
  faulty.wrapper =
      std::make_shared<ember::tools::FaultyWrapper>(options->wrapper);
  auto created = ember::jit::NewJit(std::move(faulty));
  if (!created.ok()) {
    *error = created.status().ToString();
    return false;
  }
  *jit = *std::move(created);
  return true;
}
