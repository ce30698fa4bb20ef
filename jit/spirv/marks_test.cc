// Checks the marks that passes set on device nests, independently of the
// passes. The evaluator of nests checks the marks of vectors and of bounds
// tests while it runs random nests; samples of parameters, variables and loads
// find integers that do not fit 32 bits. Then the test makes one mark at a time
// wrong, and counts how many wrong marks are caught.
//
//   EMBER_SEEDS=1000 bazel run //jit/spirv:marks_test
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/concat.h"
#include "base/testing/seeds.h"
#include "gtest/gtest.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/loops/analysis/may_share_memory.h"
#include "jit/loops/evaluator/evaluator.h"
#include "jit/loops/raw.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/loops/walk.h"
#include "jit/pipeline/lower.h"
#include "jit/pipeline/target_passes.h"
#include "jit/schedule/gpu/schedule.h"
#include "jit/schedule/testing/random_pair.h"
#include "jit/spirv/target.h"
#include "jit/spirv/target_operations.h"
#include "jit/target/gpu_model.h"
#include "tensor/scalar.h"

namespace ember::jit::spirv {
namespace {

using loops::BoundsTest;
using loops::LoopNest;
using loops::NodeId;
using loops::Statement;
using tensor::Opcode;

constexpr char kTarget[] =
    "vulkan1.2+f64+int64+storage8+storage16+shared16384+invocations1024";
constexpr int kSamples = 40;

// Calls visit(statement) for each statement of the nest, at any depth.
void ForEach(std::vector<Statement>& block,
             const std::function<void(Statement&)>& visit) {
  for (Statement& statement : block) {
    visit(statement);
    ForEach(statement.body, visit);
  }
}
void ForEach(LoopNest& nest, const std::function<void(Statement&)>& visit) {
  for (auto* const phases : {&nest.prologue, &nest.phases}) {
    for (loops::Phase& phase : *phases) ForEach(phase.body, visit);
  }
}

// --- marks of integers that do not fit 32 bits ---

// Draws random values for the parameters, variables and loads of a nest, and
// computes the values of its nodes from them.
class Sampler {
 public:
  Sampler(const LoopNest& nest, uint64_t seed) : nest_(nest), random_(seed) {}

  // Draws new values. Returns false if extents or buffers are then larger than
  // any launch on a device allows.
  bool Draw() {
    values_.clear();
    for (size_t i = 0; i < nest_.parameters.size(); ++i)
      parameters_[i] =
          int64_t{1} << (random_() % 32) | static_cast<int64_t>(random_() % 16);
    for (const loops::Buffer& buffer : nest_.buffers) {
      int64_t elements = 1;
      for (const NodeId node : buffer.extents) {
        const std::optional<uint64_t> extent = ValueOf(node);
        const auto known = static_cast<int64_t>(extent.value_or(0));
        if (!extent || known < 0 || known > gpu::kMaxExtent) return false;
        elements *= std::max<int64_t>(known, 1);
        if (elements > gpu::kMaxElements) return false;
      }
    }
    return true;
  }

  // Returns the node's value for the drawn values; nullopt if no execution
  // computes it, because the value is undefined or outside of the node's range.
  std::optional<uint64_t> ValueOf(NodeId id) {
    const auto known = values_.find(id);
    if (known != values_.end()) return known->second;
    std::optional<uint64_t> value = Compute(id);
    const tensor::Node& node = nest_.pool[id];
    const auto integer = static_cast<int64_t>(value.value_or(0));
    const bool has_range = node.type == DType::kI64 && value;
    if (has_range && (integer < node.range.low || integer > node.range.high))
      value.reset();
    values_.emplace(id, value);
    return value;
  }

 private:
  std::optional<uint64_t> Compute(NodeId id) {
    const tensor::Node& node = nest_.pool[id];
    switch (node.opcode) {
      case Opcode::kConstant:
        return node.immediate;
      case Opcode::kParameter:
        return static_cast<uint64_t>(parameters_[node.immediate]);
      case Opcode::kAxis: {
        const auto extent =
            static_cast<int64_t>(ValueOf(node.operands[0]).value_or(0));
        if (extent < 1 || extent > gpu::kMaxExtent) return std::nullopt;
        const uint64_t draw = random_();
        if (draw % 3 == 0) return 0;
        if (draw % 3 == 1) return static_cast<uint64_t>(extent - 1);
        return draw / 3 % static_cast<uint64_t>(extent);
      }
      case Opcode::kLoad:
      case Opcode::kPad:
        return node.type == DType::kBool ? random_() & 1
                                         : ToType(random_(), node.type);
      default:
        break;
    }
    uint64_t operands[3] = {};
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const std::optional<uint64_t> operand = ValueOf(node.operands[i]);
      if (!operand) return std::nullopt;
      operands[i] = *operand;
    }
    const DType type = nest_.pool[node.operands[0]].type;
    const tensor::ScalarOperands bits = {operands[0], operands[1], operands[2]};
    if (!loops::IsRaw(node))
      return tensor::EvaluateScalar(node.opcode, type, node.type, bits);
    const StatusOr<uint64_t> raw =
        loops::EvaluateRaw(node.opcode, type, node.type, bits);
    return raw.ok() ? std::optional(*raw) : std::nullopt;
  }

  // Returns random bits converted to an element's value, as tensor::LoadElement
  // does.
  static uint64_t ToType(uint64_t bits, DType type) {
    uint64_t memory = bits;
    return tensor::LoadElement(&memory, 0, type);
  }

  const LoopNest& nest_;
  std::mt19937_64 random_;
  std::unordered_map<uint64_t, int64_t> parameters_;
  std::unordered_map<NodeId, std::optional<uint64_t>> values_;
};

// Returns the i64 nodes of the nest's statements for which some sample does not
// fit 32 bits, sorted.
std::vector<NodeId> FindWide(LoopNest& nest, uint64_t seed) {
  std::vector<NodeId> integers;
  ForEach(nest, [&](Statement& statement) {
    const std::vector<NodeId> roots = loops::RootsOf(nest.pool, statement);
    for (const NodeId id : loops::NodesUnder(nest.pool, roots)) {
      if (nest.pool[id].type == DType::kI64) integers.push_back(id);
    }
  });
  std::vector<NodeId> wide;
  Sampler sampler(nest, seed);
  for (int i = 0; i < kSamples; ++i) {
    if (!sampler.Draw()) continue;
    for (const NodeId id : integers) {
      const std::optional<uint64_t> value = sampler.ValueOf(id);
      const auto integer = static_cast<int64_t>(value.value_or(0));
      if (integer != static_cast<int32_t>(integer)) wide.push_back(id);
    }
  }
  std::ranges::sort(wide);
  const auto rest = std::ranges::unique(wide);
  wide.erase(rest.begin(), rest.end());
  return wide;
}

// --- wrong marks

// Returns the nest with the mark number `number` made wrong: a load or store
// becomes an element of a vector that is twice as long. Returns nullopt if
// there are not so many marks.
std::optional<LoopNest> WithLongVector(LoopNest nest, size_t number) {
  bool is_changed = false;
  const std::function<NodeId(NodeId)> change = [&](NodeId root) {
    std::unordered_map<NodeId, NodeId> changed;
    for (const NodeId id : loops::NodesUnder(nest.pool, {&root, 1})) {
      const tensor::Node node = nest.pool[id];
      std::vector<NodeId> operands = node.operands;
      if (node.opcode != Opcode::kAxis) {
        for (NodeId& operand : operands) operand = changed.at(operand);
      }
      uint64_t immediate = node.immediate;
      const uint32_t width = loops::VectorOf(node);
      if (width != 0 && width < 16 && !is_changed && number-- == 0) {
        immediate += width;
        is_changed = true;
      }
      changed[id] = id;
      if (operands == node.operands && immediate == node.immediate) continue;
      changed[id] = nest.pool.Intern(node.opcode, node.type, operands,
                                     immediate, node.scope, node.buffer);
    }
    return changed.at(root);
  };
  ForEach(nest, [&](Statement& statement) {
    for (loops::Store& store : statement.stores) {
      if (is_changed) return;
      if (store.vector != 0 && store.vector < 16 && number-- == 0) {
        store.vector *= 2;
        is_changed = true;
        return;
      }
      store.value = change(store.value);
    }
  });
  return is_changed ? std::optional(std::move(nest)) : std::nullopt;
}

// Returns the nest with bounds test number `number` made too weak: it tests
// only the upper bound, or nothing. Returns nullopt if there are not so many.
std::optional<LoopNest> WithoutTest(LoopNest nest, size_t number) {
  bool is_changed = false;
  const auto weaken = [&](BoundsTest test) {
    if (test == BoundsTest::kNone || is_changed || number-- != 0) return test;
    is_changed = true;
    return test == BoundsTest::kUpper ? BoundsTest::kNone : BoundsTest::kUpper;
  };
  const auto change = [&](NodeId root) {
    std::unordered_map<NodeId, NodeId> changed;
    for (const NodeId id : loops::NodesUnder(nest.pool, {&root, 1})) {
      const tensor::Node node = nest.pool[id];
      std::vector<NodeId> operands = node.operands;
      if (node.opcode != Opcode::kAxis) {
        for (NodeId& operand : operands) operand = changed.at(operand);
      }
      uint64_t immediate = node.immediate;
      if (node.opcode == Opcode::kPad) {
        std::vector<BoundsTest> tests;
        for (size_t dim = 0; dim + 1 < operands.size(); ++dim)
          tests.push_back(weaken(loops::TestOf(node, dim)));
        immediate = loops::MarksOf(loops::VectorOf(node), tests);
      }
      changed[id] = id;
      if (operands == node.operands && immediate == node.immediate) continue;
      changed[id] = nest.pool.Intern(node.opcode, node.type, operands,
                                     immediate, node.scope, node.buffer);
    }
    return changed.at(root);
  };
  ForEach(nest, [&](Statement& statement) {
    if (statement.kind == Statement::Kind::kCheck)
      statement.test = weaken(statement.test);
    for (loops::Store& store : statement.stores) {
      if (!is_changed) store.value = change(store.value);
    }
  });
  return is_changed ? std::optional(std::move(nest)) : std::nullopt;
}

// --- the test

struct Outcome {
  size_t changed = 0, caught = 0;
};

void Print(const char* what, const Outcome& outcome) {
  std::printf("%-32s %5zu made wrong, %5zu caught\n", what, outcome.changed,
              outcome.caught);
}

GpuModel SmallGpu() {
  GpuModel gpu =
      GpuModel::Of("vulkan1.3+subgroup4+shared4096+invocations64+gpu");
  gpu.is_cpu_like = false;
  gpu.workgroup_size = 16;
  gpu.busy_invocations = 64;
  gpu.registers = 24;
  return gpu;
}

// Returns the lowered nest with all marks that the passes set; nullopt if the
// device's passes decline it.
std::optional<LoopNest> Marked(const schedule::RandomPair& pair) {
  const auto nest = schedule::Lower(pair.schedule);
  if (!nest.ok() || !loops::Verify(*nest).ok()) return std::nullopt;
  const Target target = Target::Of(kTarget);
  TargetBuild build = {.nest = *nest,
                       .operations = OperationsOf(target),
                       .device = &target,
                       .has_launch_limits = true,
                       .marks_integers = true,
                       .emit = nullptr};
  if (!RunTargetPasses(build, nullptr).ok()) return std::nullopt;
  return std::move(build.nest);
}

void ExpectSharedMemory(const LoopNest& nest, const std::string& what) {
  for (uint32_t a = 0; a < nest.buffers.size(); ++a) {
    for (uint32_t b = 0; b < nest.buffers.size(); ++b) {
      ASSERT_EQ(loops::MayShareMemory(nest, a, b),
                loops::AreMarkedAsShared(nest, a, b))
          << nest.buffers[a].name << ", " << nest.buffers[b].name << "\n"
          << what;
    }
  }
}

TEST(Marks, HoldInRandomNests) {
  const SeedRange seeds = TestSeeds(120);
  size_t compared = 0;
  Outcome vectors, tests, integers;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    schedule::RandomPair pair = schedule::MakeRandomPair(seed);
    if (seed % 3 != 0) {
      pair.schedule = schedule::Schedule(pair.computation);
      const Status chosen = schedule::ScheduleForGpu(SmallGpu(), pair.schedule);
      ASSERT_TRUE(chosen.ok()) << chosen.ToString();
    }
    std::optional<LoopNest> nest = Marked(pair);
    if (!nest) continue;
    ++compared;
    const std::string what =
        Concat({"replay with EMBER_SEED=", seed, "\n", loops::ToText(*nest)});
    ExpectSharedMemory(*nest, what);
    const auto wrong = [&](const LoopNest& evaluated) {
      return pair.Compare([&](std::span<void* const> buffers) {
        return loops::Evaluate(evaluated, pair.parameters, buffers,
                               {.seed = seed,
                                .is_device = true,
                                .checks_marks = true,
                                .checks_integers = true});
      });
    };
    ASSERT_EQ(wrong(*nest), "") << what;
    const auto try_all = [&](auto change, Outcome& outcome) {
      for (size_t i = 0; i < 8; ++i) {
        const std::optional<LoopNest> changed = change(*nest, i);
        if (!changed) return;
        ++outcome.changed;
        outcome.caught += static_cast<size_t>(!wrong(*changed).empty());
      }
    };
    try_all(WithLongVector, vectors);
    try_all(WithoutTest, tests);
    // Each integer for which a sample does not fit 32 bits must be marked as
    // wide.
    const std::vector<NodeId> wide = FindWide(*nest, seed);
    for (const NodeId id : wide) {
      ASSERT_TRUE(loops::IsWide(*nest, id)) << loops::ToText(*nest, id) << "\n"
                                            << what;
    }
    integers.changed += nest->wide.size();
    integers.caught += wide.size();
  }
  std::printf("seeds %llu..%llu: %zu nests\n",
              static_cast<unsigned long long>(seeds.begin),
              static_cast<unsigned long long>(seeds.end - 1), compared);
  Print("vectors", vectors);
  Print("tests of bounds", tests);
  Print("wide integers", integers);
  if (seeds.is_replay) return;
  EXPECT_GT(vectors.caught, 0u);
  EXPECT_GT(tests.caught, 0u);
  EXPECT_GT(integers.caught, 0u);
}

}  // namespace
}  // namespace ember::jit::spirv
