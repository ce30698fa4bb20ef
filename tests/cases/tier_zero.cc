#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "base/concat.h"
#include "base/parallel.h"
#include "tensor/testing/random_values.h"
#include "tests/cases/executor_runs.h"
#include "vm/interpreter/plan.h"

namespace ember::cases {
namespace {

// A runner that starts new threads for each call. It is slow, but
// ThreadSanitizer sees races between chunks.
class ThreadRunner final : public ParallelRunner {
 public:
  explicit ThreadRunner(int workers) : workers_(workers) {}
  int worker_count() const override { return workers_; }
  void Run(int64_t chunks, ChunkFunction function) override {
    std::atomic<int64_t> next{0};
    std::vector<std::thread> threads;
    for (int worker = 0; worker < workers_; ++worker) {
      threads.emplace_back([&, worker] {
        for (int64_t chunk; (chunk = next++) < chunks;) function(chunk, worker);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

 private:
  const int workers_;
};

vm::Plan::Options OptionsOf(const Subject& subject) {
  vm::Plan::Options options;
  for (const tensor::Buffer& buffer : subject.dispatch->buffers) {
    if (buffer.kind != tensor::BufferKind::kInput) continue;
    options.constant_inputs.push_back(
        std::ranges::count(subject.constants, buffer.name) > 0);
  }
  return options;
}

}  // namespace

Outcome RunTierZero(const Subject& subject, const Run& run,
                    std::vector<Bytes>& buffers) {
  const auto plan =
      vm::Plan::Make(*subject.dispatch, run.parameters, OptionsOf(subject));
  if (!plan.ok()) return Outcome::Ran(plan.status());
  std::vector<Bytes> others = buffers;
  SerialRunner one;
  const Status status = (*plan)->Run(tensor::Pointers(buffers), one);
  ThreadRunner three(3);
  const Status again = (*plan)->Run(tensor::Pointers(others), three);
  if (status.code() != again.code()) {
    return Outcome::Ran(
        InternalError(Concat({"with one worker ", status.ToString(),
                              ", with three ", again.ToString()})));
  }
  if (status.ok() && others != buffers)
    return Outcome::Ran(InternalError("three workers give other results"));
  return Outcome::Ran(status);
}

}  // namespace ember::cases
