#include "jit/loops/testing/random_nest.h"

#include <algorithm>
#include <random>
#include <utility>

#include "jit/loops/testing/random_expressions.h"
#include "jit/loops/testing/random_loops.h"
#include "jit/loops/testing/random_matrices.h"
#include "jit/loops/testing/random_statements.h"

namespace ember::loops {
namespace {

using tensor::Opcode;
using tensor::Update;

// A phase that is chosen but not yet built: its tasks, and the buffers that
// they store to. Each task stores to its own rows.
struct RandomPhase {
  MemoryScope scope = MemoryScope::kOutput;
  std::vector<RandomExtent> rows;
  std::vector<RandomBuffer> shared;
  std::vector<RandomBuffer> locals;  // buffers of scope kTask and kRegister
  std::optional<RandomMatrices> matrices;
};

class Generator {
 public:
  Generator(uint64_t seed, const RandomNestOptions& options)
      : options_(options),
        make_(seed, options, result_.nest),
        loops_(options, make_, result_.nest),
        statements_(options, make_, loops_, result_.nest) {
    result_.seed = seed;
    nest_.name = "random_" + std::to_string(seed);
  }

  RandomNest Run() {
    AddInputs();
    std::vector<RandomPhase> chosen;
    if (Chance(3)) chosen.push_back(ChoosePhase(MemoryScope::kPacked));
    const int phases = 1 + Below(options_.maximum_phases);
    for (int i = 1; i < phases; ++i) {
      chosen.push_back(
          ChoosePhase(Chance(2) ? MemoryScope::kOutput : MemoryScope::kCall));
    }
    chosen.push_back(ChoosePhase(MemoryScope::kOutput));
    AddBuffersOf(chosen, /*outputs=*/true);
    AddBuffersOf(chosen, /*outputs=*/false);
    for (RandomPhase& random : chosen) AddPhase(random);
    return std::move(result_);
  }

 private:
  int Below(int limit) { return make_.Below(limit); }
  bool Chance(int one_in) { return make_.Chance(one_in); }
  NodeId Integer(int64_t value) { return make_.Integer(value); }

  // --- buffers ---

  void AddInputs() {
    for (int i = 0; i < 2; ++i) {
      const NodeId node = nest_.pool.Intern(Opcode::kParameter, DType::kI64, {},
                                            static_cast<uint64_t>(i));
      make_.parameters.push_back(
          {node, Chance(20) ? 0 : 1 + Below(9), false, i});
      nest_.parameters.emplace_back(1, static_cast<char>('N' + i));
      result_.parameters.push_back(make_.parameters.back().value);
      // Adds an input whose extent is the parameter, because the verifier then
      // knows that the parameter is in the range of extents.
      AddBuffer(
          {0, DType::kI32, MemoryScope::kInput, {make_.parameters.back()}, 0});
    }
    const int inputs = 1 + Below(3);
    for (int i = 0; i < inputs; ++i) {
      AddBuffer({0, make_.AnyType(), MemoryScope::kInput,
                 make_.Extents(Below(4), 100), 0});
    }
    // In a third of the nests, adds inputs of narrow integers, which can be
    // factors of dot loops.
    if (!Chance(3)) return;
    constexpr DType kNarrow[] = {DType::kI8, DType::kU8, DType::kI16};
    for (int i = 0; i < 2; ++i) {
      std::vector<RandomExtent> extents = make_.Extents(Below(3), 20);
      int64_t row = 4 + Below(13);
      // In half of the nests each row is a multiple of four elements, as dot
      // products of four need.
      if (row % 2 == 0) row = (row + 3) / 4 * 4;
      extents.push_back(make_.ConstantExtent(row));
      AddBuffer({0, kNarrow[Below(3)], MemoryScope::kInput, extents, 0});
    }
  }

  // Chooses the tasks and buffers of a phase. AddBuffersOf gives the buffers
  // their numbers later.
  RandomPhase ChoosePhase(MemoryScope scope) {
    RandomPhase random;
    random.scope = scope;
    random.rows = make_.Extents(Below(3), 20);
    const int outputs = 1 + Below(2);
    std::vector<RandomExtent> extents = random.rows;
    for (const RandomExtent& extent : make_.Extents(Below(3), 40)) {
      extents.push_back(extent);
    }
    for (int i = 0; i < outputs; ++i) {
      random.shared.push_back({0, make_.AnyType(), scope, extents, 0});
      random.shared.back().own_rows = random.rows.size();
      random.shared.back().changes = true;
    }
    const int locals = Below(4);
    for (int i = 0; i < locals; ++i) {
      RandomBuffer local{0, make_.AnyType(), MemoryScope::kTask, {}, 0};
      if (Chance(2)) {
        local.scope = MemoryScope::kRegister;
        local.per_invocation = Chance(3);
        if (local.per_invocation)
          local.extents.push_back(make_.ConstantExtent(2 + Below(9)));
        if (Chance(2))
          local.extents.push_back(make_.ConstantExtent(1 + Below(4)));
        local.extents.push_back(
            make_.ConstantExtent(Chance(2) ? 8 : 1 + Below(8)));
      } else {
        local.extents = make_.Extents(1 + Below(2), 40);
      }
      random.locals.push_back(local);
    }
    const std::vector<MatrixType> types =
        options_.matrices.value_or(std::vector<MatrixType>());
    if ((!options_.matrices || !types.empty()) && Chance(5))
      random.matrices = PlanMatrices(make_, types);
    return random;
  }

  // Adds the buffers of the phases to the nest: only outputs, or only the
  // others, because outputs must come first.
  void AddBuffersOf(std::vector<RandomPhase>& chosen, bool outputs) {
    for (RandomPhase& random : chosen) {
      if ((random.scope == MemoryScope::kOutput) == outputs) {
        for (RandomBuffer& buffer : random.shared) AddBuffer(buffer);
      }
      if (outputs) continue;
      for (RandomBuffer& buffer : random.locals) AddBuffer(buffer);
      if (!random.matrices) continue;
      AddBuffer(random.matrices->a);
      AddBuffer(random.matrices->b);
      AddBuffer(random.matrices->accumulators);
      AddBuffer(random.matrices->result);
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
    if (info.scope == MemoryScope::kInput) make_.readable.push_back(info);
    if (info.scope == MemoryScope::kInput ||
        info.scope == MemoryScope::kOutput) {
      result_.element_counts.push_back(count);
    }
  }

  // --- phases ---

  void AddPhase(RandomPhase& random) {
    Phase phase;
    const auto body = [&] { return PhaseBody(random); };
    RandomExtent tasks = make_.ConstantExtent(1);
    const bool fuses =
        random.rows.size() == 2 && random.rows[1].is_constant && Chance(2);
    const bool splits = random.rows.size() == 1 && Chance(3);
    if (!random.rows.empty()) tasks = random.rows[0];
    if (fuses) {
      tasks = make_.Times(tasks, random.rows[1]);
    }
    if (splits) {
      tasks = make_.Steps(tasks, make_.ConstantExtent(3));
    }
    const auto make_body = [&](NodeId task) {
      if (fuses) {
        const NodeId row_length = random.rows[1].node;
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
                  make_.InBounds(make_.rows[0], random.rows[0].node);
              return BlockOf(If(condition, body()));
            });
      }
      make_.rows.clear();
      if (random.rows.empty()) return body();
      make_.rows = {task};
      if (random.rows.size() == 1) return body();
      return loops_.Loop(LoopKind::kSerial, random.rows[1], [&](NodeId row) {
        make_.rows = {task, row};
        return body();
      });
    };
    phase.task = loops_.InLoop(LoopKind::kSerial, tasks, make_body, phase.body);
    make_.rows.clear();
    (random.scope == MemoryScope::kPacked ? nest_.prologue : nest_.phases)
        .push_back(std::move(phase));
    // Later phases run after all tasks of this one, so they may read all rows
    // of its buffers.
    for (RandomBuffer& buffer : random.shared) {
      buffer.own_rows = 0;
      buffer.changes = false;
      make_.readable.push_back(buffer);
    }
  }

  Block PhaseBody(const RandomPhase& random) {
    Block block;
    const std::vector<RandomBuffer> outer = make_.readable;
    std::vector<RandomBuffer> buffers = random.locals;
    if (random.matrices) {
      Append(block, statements_.FillSmall(random.matrices->a));
      Append(block, statements_.FillSmall(random.matrices->b));
      Append(block, MultiplyMatrices(*random.matrices, make_, loops_, nest_));
      make_.readable.push_back(random.matrices->result);
    }
    // The buffers of one phase that other tasks see have equal extents. So if
    // there are two, one statement may store to both at once.
    if (random.shared.size() == 2 && Chance(2)) {
      Append(block, statements_.Map(random.shared, Update::kAssign));
      make_.readable.insert(make_.readable.end(), random.shared.begin(),
                            random.shared.end());
    } else {
      buffers.insert(
          buffers.begin() + Below(static_cast<int>(buffers.size()) + 1),
          random.shared.begin(), random.shared.end());
    }
    for (const RandomBuffer& buffer : buffers) {
      Append(block, statements_.Map({buffer}, Update::kAssign));
      make_.readable.push_back(buffer);
    }
    buffers = random.locals;
    buffers.insert(buffers.end(), random.shared.begin(), random.shared.end());
    const int statements = 1 + Below(4);
    for (int i = 0; i < statements; ++i) {
      const RandomBuffer& buffer = make_.Pick(buffers);
      const int style = Below(5);
      if (buffer.type == DType::kI32 && !Chance(3)) {
        Append(block, statements_.SumOfDots(buffer));
      } else if (style == 0 && !IsRegister(buffer)) {
        Append(block, statements_.Scatter(buffer));
      } else if (style <= 2) {
        Append(block, statements_.Reduce(buffer));
      } else if (style == 3 && random.shared.size() == 2) {
        Append(block, statements_.Map(random.shared, Update::kAssign));
      } else {
        Append(block,
               statements_.Map({buffer}, statements_.AnyUpdate(buffer.type)));
      }
    }
    make_.readable = outer;
    return block;
  }

  const RandomNestOptions options_;
  RandomNest result_;
  LoopNest& nest_ = result_.nest;
  RandomExpressions make_;
  RandomLoops loops_;
  RandomStatements statements_;
};

}  // namespace

RandomNest MakeRandomNest(uint64_t seed, const RandomNestOptions& options) {
  return Generator(seed, options).Run();
}

std::vector<std::vector<uint8_t>> RandomNest::MakeBuffers() const {
  std::mt19937_64 random(seed + 1);
  std::vector<std::vector<uint8_t>> buffers;
  buffers.reserve(element_counts.size());
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
