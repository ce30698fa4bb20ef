#include "jit/loops/random_nest.h"

#include <algorithm>
#include <functional>
#include <random>
#include <utility>

#include "jit/loops/dot_product.h"
#include "jit/loops/random_expressions.h"
#include "jit/loops/random_loops.h"
#include "jit/loops/random_matrices.h"

namespace ember::loops {
namespace {

using tensor::Opcode;
using tensor::Update;

using Indices = RandomLoops::Indices;

// More than this many additions of SmallValue round in bf16.
constexpr int64_t kSmallSum = 16;
// The same for products of two in f32.
constexpr int64_t kSmallProductSum = 1000;

Statement Store(std::vector<Target> targets) {
  Statement statement;
  statement.kind = Statement::Kind::kStore;
  statement.targets = std::move(targets);
  return statement;
}

// What a phase stores to, and its tasks: each stores to its own rows.
struct PhasePlan {
  Scope scope = Scope::kOutput;
  std::vector<RandomExtent> rows;
  std::vector<RandomBuffer> shared;
  std::vector<RandomBuffer> locals;  // kTask, kRegister
  std::optional<RandomMatrices> matrices;
};

class Generator {
 public:
  Generator(uint64_t seed, const RandomNestOptions& options)
      : options_(options),
        make_(seed, options, result_.nest),
        loops_(options, make_, result_.nest) {
    result_.seed = seed;
    nest_.name = "random_" + std::to_string(seed);
  }

  RandomNest Run() {
    AddInputs();
    std::vector<PhasePlan> plans;
    if (Chance(3)) plans.push_back(Plan(Scope::kPacked));
    const int phases = 1 + Below(options_.maximum_phases);
    for (int i = 1; i < phases; ++i) {
      plans.push_back(Plan(Chance(2) ? Scope::kOutput : Scope::kCall));
    }
    plans.push_back(Plan(Scope::kOutput));
    AddPlanned(plans, /*outputs=*/true);
    AddPlanned(plans, /*outputs=*/false);
    for (PhasePlan& plan : plans) AddPhase(plan);
    return std::move(result_);
  }

 private:
  int Below(int limit) { return make_.Below(limit); }
  bool Chance(int one_in) { return make_.Chance(one_in); }
  NodeId Integer(int64_t value) { return make_.Integer(value); }
  static bool IsRegister(const RandomBuffer& buffer) {
    return buffer.scope == Scope::kRegister;
  }

  // --- buffers ---

  void AddInputs() {
    for (int i = 0; i < 2; ++i) {
      const NodeId node = nest_.pool.Intern(Opcode::kParameter, DType::kI64, {},
                                            static_cast<uint64_t>(i));
      parameters_.push_back({node, Chance(20) ? 0 : 1 + Below(9), false, i});
      nest_.parameters.emplace_back(1, static_cast<char>('N' + i));
      result_.parameters.push_back(parameters_.back().value);
      // What is known of a parameter comes from buffers with that extent.
      AddBuffer({0, DType::kI32, Scope::kInput, {parameters_.back()}, 0});
    }
    const int inputs = 1 + Below(3);
    for (int i = 0; i < inputs; ++i) {
      AddBuffer({0, make_.AnyType(), Scope::kInput, Extents(Below(4), 100), 0});
    }
    // Factors of dot loops.
    if (!Chance(3)) return;
    constexpr DType kNarrow[] = {DType::kI8, DType::kU8, DType::kI16};
    for (int i = 0; i < 2; ++i) {
      std::vector<RandomExtent> extents = Extents(Below(3), 20);
      int64_t row = 4 + Below(13);
      // Whole words in half of the cases.
      if (row % 2 == 0) row = (row + 3) / 4 * 4;
      extents.push_back(make_.ConstantExtent(row));
      AddBuffer({0, kNarrow[Below(3)], Scope::kInput, extents, 0});
    }
  }

  RandomExtent AnyExtent(int64_t largest) {
    constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 6, 8, 11, 16, 20};
    while (true) {
      RandomExtent extent = make_.ConstantExtent(kSizes[Below(10)]);
      const RandomExtent& n = make_.Pick(parameters_);
      if (Chance(3)) {
        extent = n;
      } else if (Chance(8)) {
        const NodeId twice =
            make_.MakeIndex(Opcode::kMultiply, n.node, Integer(2));
        extent = {make_.MakeIndex(Opcode::kAdd, twice, Integer(1)),
                  n.value * 2 + 1};
      }
      if (extent.value <= largest) return extent;
    }
  }

  std::vector<RandomExtent> Extents(int rank, int64_t room) {
    std::vector<RandomExtent> extents;
    for (int i = 0; i < rank; ++i) {
      extents.push_back(AnyExtent(std::max<int64_t>(room, 1)));
      room /= std::max<int64_t>(extents.back().value, 1);
    }
    return extents;
  }

  // A phase, its buffers without numbers.
  PhasePlan Plan(Scope scope) {
    PhasePlan plan;
    plan.scope = scope;
    plan.rows = Extents(Below(3), 20);
    const int targets = 1 + Below(2);
    std::vector<RandomExtent> extents = plan.rows;
    for (const RandomExtent& extent : Extents(Below(3), 40)) {
      extents.push_back(extent);
    }
    for (int i = 0; i < targets; ++i) {
      plan.shared.push_back({0, make_.AnyType(), scope, extents, 0});
      plan.shared.back().own_rows = plan.rows.size();
      plan.shared.back().changes = true;
    }
    const int locals = Below(4);
    for (int i = 0; i < locals; ++i) {
      RandomBuffer local{0, make_.AnyType(), Scope::kTask, {}, 0};
      if (Chance(2)) {
        local.scope = Scope::kRegister;
        local.per_invocation = Chance(3);
        if (local.per_invocation)
          local.extents.push_back(make_.ConstantExtent(2 + Below(9)));
        if (Chance(2))
          local.extents.push_back(make_.ConstantExtent(1 + Below(4)));
        local.extents.push_back(
            make_.ConstantExtent(Chance(2) ? 8 : 1 + Below(8)));
      } else {
        local.extents = Extents(1 + Below(2), 40);
      }
      plan.locals.push_back(local);
    }
    const std::vector<MatrixType> types =
        options_.matrices.value_or(std::vector<MatrixType>());
    if ((!options_.matrices || !types.empty()) && Chance(5))
      plan.matrices = PlanMatrices(make_, types);
    return plan;
  }

  // Outputs come before all others.
  void AddPlanned(std::vector<PhasePlan>& plans, bool outputs) {
    for (PhasePlan& plan : plans) {
      if ((plan.scope == Scope::kOutput) == outputs) {
        for (RandomBuffer& buffer : plan.shared) AddBuffer(buffer);
      }
      if (outputs) continue;
      for (RandomBuffer& buffer : plan.locals) AddBuffer(buffer);
      if (!plan.matrices) continue;
      AddBuffer(plan.matrices->a);
      AddBuffer(plan.matrices->b);
      AddBuffer(plan.matrices->accumulators);
      AddBuffer(plan.matrices->result);
    }
  }

  void AddBuffer(RandomBuffer&& buffer) { AddBuffer(buffer); }
  void AddBuffer(RandomBuffer& info) {
    constexpr char kPrefixes[] = "xypcsr";
    info.number = static_cast<uint32_t>(nest_.buffers.size());
    Buffer buffer;
    buffer.name =
        kPrefixes[static_cast<int>(info.scope)] + std::to_string(info.number);
    buffer.type = info.type;
    buffer.scope = info.scope;
    int64_t count = 1;
    for (const RandomExtent& extent : info.extents) {
      buffer.extents.push_back(extent.node);
      count *= extent.value;
    }
    nest_.buffers.push_back(std::move(buffer));
    if (info.scope == Scope::kInput) make_.readable.push_back(info);
    if (info.scope == Scope::kInput || info.scope == Scope::kOutput) {
      result_.element_counts.push_back(count);
    }
  }

  // --- phases ---

  void AddPhase(PhasePlan& plan) {
    Phase phase;
    const auto body = [&] { return PhaseBody(plan); };
    RandomExtent tasks = make_.ConstantExtent(1);
    const bool fuses =
        plan.rows.size() == 2 && plan.rows[1].is_constant && Chance(2);
    const bool splits = plan.rows.size() == 1 && Chance(3);
    if (!plan.rows.empty()) tasks = plan.rows[0];
    if (fuses) {
      tasks = make_.Times(tasks, plan.rows[1]);
    }
    if (splits) {
      tasks = make_.Steps(tasks, make_.ConstantExtent(3));
    }
    const auto make_body = [&](NodeId task) {
      if (fuses) {
        const NodeId row_length = plan.rows[1].node;
        make_.rows = {make_.MakeIndex(Opcode::kFloorDivide, task, row_length),
                      make_.MakeIndex(Opcode::kModulo, task, row_length)};
        return body();
      }
      if (splits) {
        return loops_.Loop(
            LoopKind::kSerial, make_.ConstantExtent(3), [&](NodeId inner) {
              const NodeId begin =
                  make_.MakeIndex(Opcode::kMultiply, task, Integer(3));
              make_.rows = {make_.MakeIndex(Opcode::kAdd, begin, inner)};
              const NodeId condition =
                  make_.InBounds(make_.rows[0], plan.rows[0].node);
              return BlockOf(If(condition, body()));
            });
      }
      make_.rows.clear();
      if (plan.rows.empty()) return body();
      make_.rows = {task};
      if (plan.rows.size() == 1) return body();
      return loops_.Loop(LoopKind::kSerial, plan.rows[1], [&](NodeId row) {
        make_.rows = {task, row};
        return body();
      });
    };
    phase.task = loops_.InLoop(LoopKind::kSerial, tasks, make_body, phase.body);
    make_.rows.clear();
    (plan.scope == Scope::kPacked ? nest_.prologue : nest_.phases)
        .push_back(std::move(phase));
    // The next phases see everything, but what was this task's.
    for (RandomBuffer& buffer : plan.shared) {
      buffer.own_rows = 0;
      buffer.changes = false;
      make_.readable.push_back(buffer);
    }
  }

  Block PhaseBody(const PhasePlan& plan) {
    Block block;
    const std::vector<RandomBuffer> outer = make_.readable;
    std::vector<RandomBuffer> buffers = plan.locals;
    if (plan.matrices) {
      Append(block, FillSmall(plan.matrices->a));
      Append(block, FillSmall(plan.matrices->b));
      Append(block, MultiplyMatrices(*plan.matrices, make_, loops_, nest_));
      make_.readable.push_back(plan.matrices->result);
    }
    // Both at once where there are two: they have the same extents.
    if (plan.shared.size() == 2 && Chance(2)) {
      Append(block, Map(plan.shared, Update::kAssign));
      make_.readable.insert(make_.readable.end(), plan.shared.begin(),
                            plan.shared.end());
    } else {
      buffers.insert(
          buffers.begin() + Below(static_cast<int>(buffers.size()) + 1),
          plan.shared.begin(), plan.shared.end());
    }
    for (const RandomBuffer& buffer : buffers) {
      Append(block, Map({buffer}, Update::kAssign));
      make_.readable.push_back(buffer);
    }
    buffers = plan.locals;
    buffers.insert(buffers.end(), plan.shared.begin(), plan.shared.end());
    const int statements = 1 + Below(4);
    for (int i = 0; i < statements; ++i) {
      const RandomBuffer& buffer = make_.Pick(buffers);
      const int style = Below(5);
      if (buffer.type == DType::kI32 && !Chance(3)) {
        Append(block, SumOfDots(buffer));
      } else if (style == 0 && !IsRegister(buffer)) {
        Append(block, Scatter(buffer));
      } else if (style <= 2) {
        Append(block, Reduce(buffer));
      } else if (style == 3 && plan.shared.size() == 2) {
        Append(block, Map(plan.shared, Update::kAssign));
      } else {
        Append(block, Map({buffer}, AnyUpdate(buffer.type)));
      }
    }
    make_.readable = outer;
    return block;
  }

  static void Append(Block& block, Block&& more) {
    std::move(more.begin(), more.end(), std::back_inserter(block));
  }

  Update AnyUpdate(DType type) {
    if (type == DType::kBool) {
      return static_cast<Update>(Chance(2) ? 0 : 3 + Below(2));
    }
    return static_cast<Update>(Below(5));
  }

  // --- statements ---

  // One of them in invocations, sometimes.
  std::vector<RandomDim> DimsOf(const RandomBuffer& buffer) {
    std::vector<RandomDim> dims;
    for (size_t i = buffer.own_rows; i < buffer.extents.size(); ++i) {
      dims.push_back({buffer.extents[i], IsRegister(buffer),
                      i + 1 == buffer.extents.size()});
    }
    if (buffer.per_invocation) {
      dims[0].in_invocations = true;
    } else if (!dims.empty() && !IsRegister(buffer) && Chance(3)) {
      const int chosen = Below(static_cast<int>(dims.size()));
      dims[static_cast<size_t>(chosen)].in_invocations = true;
    }
    return dims;
  }

  // Loops over the dims that store to the buffers. In invocation loops they do
  // not read what others store, nor registers that hold nothing there.
  Block Over(const std::vector<RandomDim>& dims,
             const std::vector<RandomBuffer>& stored,
             const RandomLoops::MakeBody& make_body) {
    const std::vector<RandomBuffer> outer = make_.readable;
    if (std::ranges::any_of(dims, &RandomDim::in_invocations)) {
      std::erase_if(make_.readable, [&](const RandomBuffer& buffer) {
        if (IsRegister(buffer)) return !buffer.per_invocation;
        return std::ranges::any_of(stored, [&](const RandomBuffer& other) {
          return other.number == buffer.number;
        });
      });
    }
    Block block = loops_.Over(dims, make_body);
    make_.readable = outer;
    return block;
  }

  Target To(const RandomBuffer& buffer, const Indices& inner, NodeId value,
            Update update) {
    Target target{buffer.number, {}, value, update};
    if (buffer.own_rows > 0) target.indices = make_.rows;
    target.indices.insert(
        target.indices.end(), inner.begin(),
        inner.begin() + static_cast<std::ptrdiff_t>(buffer.extents.size() -
                                                    buffer.own_rows));
    return target;
  }

  // Adds short sums of products to an i32 buffer, where there are factors.
  Block SumOfDots(const RandomBuffer& buffer) {
    return Over(DimsOf(buffer), {buffer}, [&](const Indices& indices) {
      const int64_t count = Chance(3) ? 2 : 4;
      std::vector<RandomBuffer> factors;
      for (const RandomBuffer& other : make_.readable) {
        const bool fits =
            other.number != buffer.number && !other.extents.empty() &&
            other.own_rows == 0 && other.extents.back().is_constant &&
            other.extents.back().value >= count && !IsRegister(other) &&
            IsDotProductType(count, other.type, DType::kI8, DType::kI32);
        if (fits) factors.push_back(other);
      }
      if (factors.empty()) return Block();
      const RandomExtent extent = make_.ConstantExtent(count);
      const uint64_t number = nest_.variables.size();
      nest_.variables.push_back("q" + std::to_string(number));
      Statement loop;
      loop.kind = Statement::Kind::kFor;
      loop.loop = LoopKind::kDot;
      loop.variable = nest_.pool.Intern(Opcode::kAxis, DType::kI64,
                                        {&extent.node, 1}, number, 1);
      std::vector<NodeId> casts;
      for (int i = 0; i < 2; ++i) {
        const NodeId load =
            make_.LoadAlong(make_.Pick(factors), loop.variable, count);
        casts.push_back(make_.Make(Opcode::kCast, DType::kI32, {load}));
      }
      const NodeId product =
          make_.Make(Opcode::kMultiply, DType::kI32, {casts[0], casts[1]});
      loop.body.push_back(Store({To(buffer, indices, product, Update::kAdd)}));
      return MaybeIf(make_.Guarded(std::move(loop)));
    });
  }

  Block MaybeIf(Block block) {
    if (!Chance(5)) return block;
    return make_.Guarded(If(make_.Condition(2), std::move(block)));
  }

  // Every element once; buffers of the same extents. No element is left out of
  // a plain store.
  Block Map(const std::vector<RandomBuffer>& buffers, Update update) {
    const bool initializes = update == Update::kAssign;
    return Over(DimsOf(buffers[0]), buffers, [&](const Indices& indices) {
      std::vector<Target> targets;
      for (const RandomBuffer& buffer : buffers) {
        NodeId value = make_.Value(buffer.type, options_.maximum_depth);
        // A product may be fused with the sum.
        if (update == Update::kAdd && options_.exact && IsFloat(buffer.type)) {
          value = make_.Make(Opcode::kAbsolute, buffer.type, {value});
        }
        targets.push_back(To(buffer, indices, value, update));
      }
      if (!initializes) {
        return MaybeIf(make_.Guarded(Store(std::move(targets))));
      }
      Block block;
      if (make_.NeedsGuards()) {
        for (const RandomBuffer& buffer : buffers) {
          const NodeId value =
              make_.Make(Opcode::kCast, buffer.type, {Integer(1)});
          block.push_back(Store({To(buffer, indices, value, Update::kAssign)}));
        }
      }
      Append(block, make_.Guarded(Store(std::move(targets))));
      return block;
    });
  }

  Block FillSmall(const RandomBuffer& buffer) {
    return Over(DimsOf(buffer), {buffer}, [&](const Indices& indices) {
      const NodeId value = make_.SmallValue(buffer.type);
      Block block;
      if (make_.NeedsGuards()) {
        const NodeId one = make_.Make(Opcode::kCast, buffer.type, {Integer(1)});
        block.push_back(Store({To(buffer, indices, one, Update::kAssign)}));
      }
      Append(block, make_.Guarded(
                        Store({To(buffer, indices, value, Update::kAssign)})));
      return block;
    });
  }

  // Some elements, in any order: updates, or a plain store by one after the
  // other.
  Block Scatter(const RandomBuffer& buffer) {
    const Update update = AnyUpdate(buffer.type);
    if (update != Update::kAssign && IsFloat(buffer.type)) return {};
    std::vector<RandomDim> dims;
    const int count = 1 + Below(2);
    for (int i = 0; i < count; ++i)
      dims.push_back({AnyExtent(6), false, false});
    const auto make_body = [&](const Indices&) {
      Indices indices;
      for (size_t i = buffer.own_rows; i < buffer.extents.size(); ++i) {
        indices.push_back(make_.Index(buffer.extents[i]));
      }
      const NodeId value = make_.Value(buffer.type, 2);
      return MaybeIf(
          make_.Guarded(Store({To(buffer, indices, value, update)})));
    };
    return update == Update::kAssign ? loops_.InOrder(dims, make_body)
                                     : loops_.Over(dims, make_body);
  }

  // All invocations of a loop update each element together.
  Block Combine(const RandomBuffer& buffer) {
    const DType type = buffer.type;
    const bool is_float = IsFloat(type);
    Update update = AnyUpdate(type);
    if (update == Update::kAssign ||
        (is_float && update == Update::kMultiply)) {
      update = Update::kMaximum;
    }
    std::vector<RandomDim> dims = DimsOf(buffer);
    for (RandomDim& dim : dims) dim.in_invocations = false;
    Block block;
    if (is_float) {
      // Of which sums are exact.
      block = loops_.Over(dims, [&](const Indices& indices) {
        const NodeId start = make_.Make(Opcode::kCast, type, {Integer(1)});
        return BlockOf(Store({To(buffer, indices, start, Update::kAssign)}));
      });
    }
    constexpr int64_t kSizes[] = {1, 2, 3, 7, 8, 12, 16};
    const RandomExtent extent = make_.ConstantExtent(kSizes[Below(7)]);
    Append(block, loops_.InOrder(dims, [&](const Indices& indices) {
      const std::vector<RandomBuffer> outer = make_.readable;
      std::erase_if(make_.readable, [&](const RandomBuffer& other) {
        return other.number == buffer.number ||
               (IsRegister(other) && !other.per_invocation);
      });
      Block loop =
          loops_.Loop(LoopKind::kInvocation, extent, [&](NodeId invocation) {
            NodeId value =
                is_float ? make_.SmallValue(type) : make_.Value(type, 2);
            // Nothing else may stand in the loop.
            if (make_.NeedsGuards()) {
              make_.Guarded({});
              value = make_.Make(Opcode::kCast, type, {invocation});
            }
            return BlockOf(Store({To(buffer, indices, value, update)}));
          });
      make_.readable = outer;
      return MaybeIf(std::move(loop));
    }));
    return block;
  }

  Block Reduce(const RandomBuffer& buffer) {
    if (!IsRegister(buffer) && Chance(3)) return Combine(buffer);
    std::vector<RandomDim> dims = DimsOf(buffer);
    int64_t steps = 1;
    const int count = 1 + Below(2);
    for (int i = 0; i < count; ++i) {
      dims.push_back({AnyExtent(i == 0 ? 8 : 3), false, false});
      steps *= dims.back().extent.value;
    }
    if (!IsFloat(buffer.type)) {
      Update update = AnyUpdate(buffer.type);
      if (update == Update::kAssign) update = Update::kMaximum;
      return Over(dims, {buffer}, [&](const Indices& indices) {
        const NodeId value = make_.Value(buffer.type, 2);
        return MaybeIf(
            make_.Guarded(Store({To(buffer, indices, value, update)})));
      });
    }
    return ReduceExactly(buffer, dims, steps);
  }

  // Of floats: small integers, starting from one.
  Block ReduceExactly(const RandomBuffer& buffer,
                      const std::vector<RandomDim>& dims, int64_t steps) {
    const DType type = buffer.type;
    Update update = static_cast<Update>(1 + Below(4));
    const bool is_wide = type == DType::kF32 || type == DType::kF64;
    const bool multiplies = is_wide && steps <= kSmallProductSum && Chance(2);
    if (update == Update::kMultiply) update = Update::kAdd;
    if (update == Update::kAdd && !multiplies && steps > kSmallSum) {
      update = Update::kMinimum;
    }
    Block block = Over(DimsOf(buffer), {buffer}, [&](const Indices& indices) {
      const NodeId start = make_.Make(Opcode::kCast, type, {Integer(1)});
      return BlockOf(Store({To(buffer, indices, start, Update::kAssign)}));
    });
    Append(block, Over(dims, {buffer}, [&](const Indices& indices) {
             NodeId value = make_.SmallValue(type);
             if (multiplies) {
               value = make_.Make(Opcode::kMultiply, type,
                                  {value, make_.SmallValue(type)});
             }
             return MaybeIf(
                 make_.Guarded(Store({To(buffer, indices, value, update)})));
           }));
    return block;
  }

  const RandomNestOptions options_;
  RandomNest result_;
  LoopNest& nest_ = result_.nest;
  RandomExpressions make_;
  RandomLoops loops_;
  std::vector<RandomExtent> parameters_;
};

}  // namespace

RandomNest MakeRandomNest(uint64_t seed, const RandomNestOptions& options) {
  return Generator(seed, options).Run();
}

std::vector<std::vector<uint8_t>> RandomNest::MakeBuffers() const {
  std::mt19937_64 random(seed + 1);
  std::vector<std::vector<uint8_t>> buffers;
  for (size_t i = 0; i < element_counts.size(); ++i) {
    buffers.push_back(tensor::RandomElements(random, nest.buffers[i].type,
                                             element_counts[i]));
  }
  return buffers;
}

std::string FirstDifference(const RandomNest& random,
                            const std::vector<std::vector<uint8_t>>& expected,
                            const std::vector<std::vector<uint8_t>>& actual) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const Buffer& buffer = random.nest.buffers[i];
    const std::string difference =
        tensor::FirstDifferentElement(buffer.type, expected[i], actual[i]);
    if (difference.empty()) continue;
    return "seed " + std::to_string(random.seed) + ": %" + buffer.name + " " +
           difference;
  }
  return "";
}

}  // namespace ember::loops
