#include "vm/interpreter/testing/compare.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>

#include "base/float_format.h"
#include "gtest/gtest.h"
#include "tensor/evaluator/evaluator.h"
#include "tensor/scalar.h"
#include "tensor/text/text.h"
#include "vm/interpreter/plan.h"

namespace ember::vm {
namespace {

using tensor::Dispatch;

// Runs the chunks of each call on new threads, which is slow but lets
// ThreadSanitizer find data races.
class ThreadRunner final : public ParallelRunner {
 public:
  explicit ThreadRunner(int workers) : workers_(workers) {}
  int worker_count() const override { return workers_; }
  void Run(int64_t chunk_count, ChunkFunction function) override {
    std::atomic<int64_t> next{0};
    std::vector<std::thread> threads;
    for (int w = 0; w < workers_; ++w) {
      threads.emplace_back([&, w] {
        for (int64_t chunk; (chunk = next++) < chunk_count;) function(chunk, w);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

 private:
  const int workers_;
};

void FillRandom(DType type, std::mt19937_64& random, std::vector<char>& bytes) {
  const int64_t count =
      static_cast<int64_t>(bytes.size()) / DTypeByteSize(type);
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits;
    if (type == DType::kBool) {
      bits = random() & 1;
    } else if (IsFloat(type)) {
      bits = tensor::DoubleToBits(
          std::uniform_real_distribution<double>(-2, 2)(random), type);
    } else if (random() % 4 == 0) {
      bits = random() & (~uint64_t{0} >> (64 - 8 * DTypeByteSize(type)));
    } else {
      bits =
          tensor::IntegerToBits(static_cast<int64_t>(random() % 21) - 10, type);
    }
    tensor::StoreElement(bytes.data(), i, type, bits);
  }
}

std::vector<void*> Pointers(std::vector<std::vector<char>>& buffers) {
  std::vector<void*> pointers;
  for (std::vector<char>& bytes : buffers) pointers.push_back(bytes.data());
  return pointers;
}

void Compare(const Dispatch& dispatch, uint32_t buffer,
             const std::vector<char>& expected, const std::vector<char>& found,
             double tolerance, const std::string& what) {
  const DType type = dispatch.buffers[buffer].type;
  const int64_t count =
      static_cast<int64_t>(expected.size()) / DTypeByteSize(type);
  // Results of a narrow float type may differ by two rounding errors of the
  // type, so the tolerance is at least a little more than that.
  if (IsNarrowFloat(type)) {
    const double step =
        2 * std::ldexp(1.0, -FloatFormatOf(type).mantissa_bits - 1);
    tolerance = std::max(tolerance, 2.1 * step);
  }
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t a = tensor::LoadElement(expected.data(), i, type);
    const uint64_t b = tensor::LoadElement(found.data(), i, type);
    if (a == b) continue;
    if (IsFloat(type)) {
      const double x = tensor::BitsToDouble(a, type),
                   y = tensor::BitsToDouble(b, type);
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      if (std::fabs(x - y) <= tolerance * std::max(1.0, std::fabs(x))) continue;
      ADD_FAILURE() << what << ": %" << dispatch.buffers[buffer].name << "["
                    << i << "]: expected " << x << ", found " << y;
    } else {
      ADD_FAILURE() << what << ": %" << dispatch.buffers[buffer].name << "["
                    << i << "]: expected bits " << a << ", found " << b;
    }
    return;
  }
}

}  // namespace

std::string ExpectMatchesDefinition(const Dispatch& dispatch,
                                    const CompareOptions& options) {
  const std::string replay = "@" + dispatch.name + " seed " +
                             std::to_string(options.seed) + " workers " +
                             std::to_string(options.workers);
  Plan::Options plan_options;
  plan_options.scratch_target = options.scratch_target;
  plan_options.constant_inputs.assign(dispatch.input_count(),
                                      options.constant_inputs);
  StatusOr<std::unique_ptr<Plan>> plan =
      Plan::Make(dispatch, options.parameters, plan_options);
  if (!plan.ok()) {
    ADD_FAILURE() << replay << ": " << plan.status().ToString();
    return "";
  }
  std::mt19937_64 random(options.seed);
  std::vector<std::vector<char>> memory;
  for (size_t i = 0; i < dispatch.buffers.size(); ++i) {
    if (dispatch.buffers[i].kind == tensor::BufferKind::kTemporary) continue;
    std::vector<char> bytes(
        static_cast<size_t>((*plan)->facts().required_bytes[i]));
    if (dispatch.buffers[i].kind == tensor::BufferKind::kInput) {
      FillRandom(dispatch.buffers[i].type, random, bytes);
      if (options.fill) options.fill(static_cast<int>(i), bytes);
    }
    memory.push_back(std::move(bytes));
  }
  std::vector<std::vector<char>> expected = memory;
  const Status defined =
      tensor::Evaluate(dispatch, options.parameters, Pointers(expected),
                       {.accumulate_in_f64 = true});
  if (!defined.ok()) {
    ADD_FAILURE() << replay << ": the definition: " << defined.ToString();
    return "";
  }
  ThreadRunner threads(options.workers);
  SerialRunner serial;
  ParallelRunner& runner =
      options.workers > 1 ? static_cast<ParallelRunner&>(threads) : serial;
  for (int run = 0; run < 2; ++run) {
    std::vector<std::vector<char>> found = memory;
    const Status status = (*plan)->Run(Pointers(found), runner);
    if (!status.ok()) {
      ADD_FAILURE() << replay << ": " << status.ToString();
      return "";
    }
    for (size_t i = 0; i < memory.size(); ++i) {
      if (dispatch.buffers[i].kind != tensor::BufferKind::kOutput) continue;
      Compare(dispatch, static_cast<uint32_t>(i), expected[i], found[i],
              options.tolerance,
              replay + (run == 0 ? "" : ", second run") + "\n" +
                  (*plan)->Describe());
    }
  }
  return (*plan)->Describe();
}

namespace {

// Chooses for outputs the memory of inputs which they may overwrite. Returns
// for each buffer the input whose memory it uses, or -1; returns an empty list
// if no output may overwrite an input.
std::vector<int> InputsToOverwrite(const Dispatch& dispatch) {
  const int inputs = static_cast<int>(dispatch.input_count());
  const int outputs = static_cast<int>(dispatch.output_count());
  std::vector<int> memory_of(static_cast<size_t>(inputs + outputs), -1);
  bool found = false;
  for (int i = 0; i < inputs; ++i) {
    for (int o = inputs; o < inputs + outputs; ++o) {
      if (memory_of[static_cast<size_t>(o)] >= 0 || !MayAlias(dispatch, i, o))
        continue;
      memory_of[static_cast<size_t>(o)] = i;
      found = true;
      break;
    }
  }
  return found ? memory_of : std::vector<int>();
}

}  // namespace

void ExpectRandomCase(uint64_t seed, int workers,
                      const tensor::RandomOptions& options,
                      const Interpreter& interpreter) {
  const tensor::RandomCase random_case = tensor::MakeRandomCase(seed, options);
  const std::string where = "seed " + std::to_string(seed) + ", workers " +
                            std::to_string(workers) +
                            ", replay: EMBER_SEED=" + std::to_string(seed) +
                            " bazel run //vm/interpreter:random_test";
  std::vector<std::vector<uint8_t>> expected = random_case.MakeBuffers();
  std::vector<std::vector<uint8_t>> found = random_case.MakeBuffers();
  const Status defined =
      tensor::Evaluate(random_case.dispatch, random_case.parameters,
                       tensor::Pointers(expected), {});
  Plan::Options plan_options;
  plan_options.scratch_target =
      // The target for scratch memory is so small that even a small dispatch is
      // split into several chunks.
      4096;
  plan_options.constant_inputs.assign(random_case.dispatch.input_count(),
                                      seed % 2 == 0);
  const auto header = tensor::ConcreteHeader::Evaluate(random_case.dispatch,
                                                       random_case.parameters);
  auto plan = header.ok() ? interpreter.MakePlan(random_case.dispatch, *header,
                                                 plan_options)
                          : StatusOr<std::unique_ptr<Plan>>(header.status());
  if (!plan.ok()) {
    EXPECT_FALSE(defined.ok())
        << where << ": " << plan.status().ToString() << "\n"
        << tensor::Print(random_case.dispatch);
    return;
  }
  ThreadRunner runner(workers);
  const std::vector<int> memory_of = InputsToOverwrite(random_case.dispatch);
  for (int run = 0; run < (memory_of.empty() ? 2 : 3); ++run) {
    found = random_case.MakeBuffers();
    std::vector<void*> pointers = tensor::Pointers(found);
    const bool in_place = run == 2;
    for (size_t i = 0; in_place && i < memory_of.size(); ++i) {
      if (memory_of[i] >= 0)
        pointers[i] = pointers[static_cast<size_t>(memory_of[i])];
    }
    const Status status = (*plan)->Run(pointers, runner);
    for (size_t i = 0; in_place && i < memory_of.size(); ++i) {
      if (memory_of[i] >= 0)
        found[i] = found[static_cast<size_t>(memory_of[i])];
    }
    if (!defined.ok()) {
      EXPECT_FALSE(status.ok())
          << where << ": the definition says " << defined.ToString();
      return;
    }
    const std::string difference =
        status.ok() ? tensor::FirstDifference(random_case, expected, found)
                    : status.ToString();
    EXPECT_EQ(difference, "")
        << where << ", run " << run << (in_place ? " in place" : "") << "\n"
        << tensor::Print(random_case.dispatch) << (*plan)->Describe();
    if (!difference.empty()) return;
  }
}

std::string ExpectMatchesDefinition(std::string_view text,
                                    const CompareOptions& options) {
  const StatusOr<Dispatch> dispatch = tensor::Parse(text);
  if (!dispatch.ok()) {
    ADD_FAILURE() << dispatch.status().ToString() << "\n" << text;
    return "";
  }
  return ExpectMatchesDefinition(*dispatch, options);
}

}  // namespace ember::vm
