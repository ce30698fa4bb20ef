#include "vm/interpreter/testing.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>

#include "gtest/gtest.h"
#include "tensor/scalar.h"
#include "tensor/text.h"
#include "vm/interpreter/plan.h"

namespace ember::vm {
namespace {

using tensor::Combiner;
using tensor::Dispatch;
using tensor::Instruction;
using tensor::Opcode;
using tensor::Register;
using tensor::Stage;
using tensor::Update;

// Threads made anew for each call: slow, but races show.
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

// One point after the other, straight from the text of tensor/dispatch.h.
class Definition {
 public:
  Definition(const Dispatch& dispatch, const std::vector<int64_t>& parameters)
      : d_(dispatch), registers_(dispatch.instructions.size()) {
    for (uint32_t i = 0; i < d_.header_end; ++i) {
      const Instruction& instruction = d_.instructions[i];
      registers_[i] = instruction.opcode == Opcode::kParameter
                          ? static_cast<uint64_t>(parameters[instruction.immediate])
                          : Arithmetic(instruction);
    }
    for (const tensor::Buffer& buffer : d_.buffers) {
      std::vector<int64_t> extents;
      int64_t size = DTypeByteSize(buffer.type);
      for (Register r : buffer.extents) {
        extents.push_back(static_cast<int64_t>(registers_[r]));
        size *= extents.back();
      }
      extents_.push_back(extents);
      memory.emplace_back(static_cast<size_t>(size));
    }
  }

  bool Run() {
    for (const Stage& stage : d_.stages) {
      std::vector<int64_t> axes(stage.spatial.size() + stage.reduction.size());
      if (!RunSpatial(stage, axes, 0)) return false;
    }
    return true;
  }

  std::vector<std::vector<char>> memory;

 private:
  uint64_t Arithmetic(const Instruction& i) const {
    if (i.opcode == Opcode::kConstant) return i.immediate;
    const int count = tensor::RegisterOperandCount(i.opcode);
    const DType operand = d_.instructions[i.opcode == Opcode::kSelect ? i.b : i.a].type;
    return tensor::EvaluateScalar(i.opcode, operand, i.type,
                                  {registers_[i.a], count > 1 ? registers_[i.b] : 0,
                                   count > 2 ? registers_[i.c] : 0});
  }

  // -1 if outside.
  int64_t Flat(uint32_t buffer, const Register* indices) const {
    int64_t flat = 0;
    for (size_t d = 0; d < extents_[buffer].size(); ++d) {
      const int64_t index = static_cast<int64_t>(registers_[indices[d]]);
      if (index < 0 || index >= extents_[buffer][d]) return -1;
      flat = flat * extents_[buffer][d] + index;
    }
    return flat;
  }

  bool Evaluate(const Stage& stage, const std::vector<int64_t>& axes) {
    std::vector<uint64_t> elements;
    for (uint32_t i = stage.begin; i < stage.end; ++i) {
      const Instruction& instruction = d_.instructions[i];
      switch (instruction.opcode) {
        case Opcode::kAxis:
          registers_[i] = static_cast<uint64_t>(axes[instruction.immediate]);
          break;
        case Opcode::kAccumulator: registers_[i] = accumulators_[instruction.immediate]; break;
        case Opcode::kElement: registers_[i] = registers_[stage.values[instruction.immediate]]; break;
        case Opcode::kLoad:
        case Opcode::kPad: {
          const int64_t flat = Flat(instruction.a, &d_.operands[instruction.b]);
          if (flat < 0 && instruction.opcode == Opcode::kLoad) return false;
          registers_[i] = flat < 0 ? registers_[instruction.c]
                                   : tensor::LoadElement(memory[instruction.a].data(), flat,
                                                         instruction.type);
          break;
        }
        default: registers_[i] = Arithmetic(instruction);
      }
    }
    return true;
  }

  static Opcode OpcodeOf(int kind) {  // sum, product, minimum, maximum
    static constexpr Opcode kOpcodes[] = {Opcode::kAdd, Opcode::kMultiply, Opcode::kMinimum,
                                          Opcode::kMaximum};
    return kOpcodes[kind];
  }

  bool Reduce(const Stage& stage, std::vector<int64_t>& axes, size_t axis, bool& first) {
    if (axis < axes.size()) {
      const int64_t extent =
          static_cast<int64_t>(registers_[stage.reduction[axis - stage.spatial.size()].extent]);
      for (axes[axis] = 0; axes[axis] < extent; ++axes[axis]) {
        if (!Reduce(stage, axes, axis + 1, first)) return false;
      }
      axes[axis] = 0;
      return true;
    }
    if (first && stage.combiner == Combiner::kFold) {
      for (size_t i = 0; i < accumulators_.size(); ++i) {
        accumulators_[i] = InitialOf(stage, i);
      }
    }
    first = false;
    if (!Evaluate(stage, axes)) return false;
    const DType type = d_.instructions[stage.values[0]].type;
    if (stage.combiner == Combiner::kFold) {
      for (size_t i = 0; i < accumulators_.size(); ++i) {
        accumulators_[i] = registers_[stage.fold.results[i]];
      }
    } else if (stage.combiner == Combiner::kSum && IsFloat(type)) {
      sum_ += tensor::BitsToDouble(registers_[stage.values[0]], type);
    } else if (stage.combiner == Combiner::kProduct && IsFloat(type)) {
      sum_ *= tensor::BitsToDouble(registers_[stage.values[0]], type);
    } else {
      accumulators_[0] = tensor::EvaluateScalar(
          OpcodeOf(static_cast<int>(stage.combiner) - 1), type, type,
          {accumulators_[0], registers_[stage.values[0]], 0});
    }
    return true;
  }

  uint64_t InitialOf(const Stage& stage, size_t i) const {
    const Register r = stage.fold.initial[i];
    return r < d_.header_end ? registers_[r] : Arithmetic(d_.instructions[r]);
  }

  bool RunSpatial(const Stage& stage, std::vector<int64_t>& axes, size_t axis) {
    if (axis < stage.spatial.size()) {
      const int64_t extent = static_cast<int64_t>(registers_[stage.spatial[axis].extent]);
      for (axes[axis] = 0; axes[axis] < extent; ++axes[axis]) {
        if (!RunSpatial(stage, axes, axis + 1)) return false;
      }
      return true;
    }
    const DType type = d_.instructions[stage.values[0]].type;
    accumulators_.assign(stage.values.size(), 0);
    bool first = true;
    if (stage.combiner == Combiner::kNone) {
      if (!Evaluate(stage, axes)) return false;
      for (size_t i = 0; i < stage.values.size(); ++i) {
        accumulators_[i] = registers_[stage.values[i]];
      }
    } else {
      sum_ = stage.combiner == Combiner::kProduct ? 1 : 0;
      switch (stage.combiner) {
        case Combiner::kSum: accumulators_[0] = tensor::ZeroBits(type); break;
        case Combiner::kProduct: accumulators_[0] = tensor::OneBits(type); break;
        case Combiner::kMinimum: accumulators_[0] = tensor::LargestBits(type); break;
        case Combiner::kMaximum: accumulators_[0] = tensor::SmallestBits(type); break;
        default:
          for (size_t i = 0; i < accumulators_.size(); ++i) {
            accumulators_[i] = InitialOf(stage, i);
          }
      }
      if (!Reduce(stage, axes, stage.spatial.size(), first)) return false;
      if (IsFloat(type) &&
          (stage.combiner == Combiner::kSum || stage.combiner == Combiner::kProduct)) {
        accumulators_[0] = tensor::DoubleToBits(sum_, type);
      }
      for (uint32_t i = stage.begin; i < stage.end; ++i) {  // axes and indices of the stores
        const Instruction& instruction = d_.instructions[i];
        if (instruction.opcode == Opcode::kAxis) {
          registers_[i] = static_cast<uint64_t>(axes[instruction.immediate]);
        }
      }
      bool empty = false;
      for (const tensor::Axis& a : stage.reduction) empty |= registers_[a.extent] == 0;
      if (!empty && !Evaluate(stage, axes)) return false;
      if (empty) EvaluateIndices(stage);
    }
    for (size_t i = 0; i < stage.stores.size(); ++i) {
      const tensor::Store& store = stage.stores[i];
      const int64_t flat = Flat(store.buffer, store.indices.data());
      if (flat < 0) return false;
      const DType element = d_.buffers[store.buffer].type;
      char* data = memory[store.buffer].data();
      uint64_t value = accumulators_[i];
      if (store.update != Update::kAssign) {
        value = tensor::EvaluateScalar(OpcodeOf(static_cast<int>(store.update) - 1), element,
                                       element, {tensor::LoadElement(data, flat, element), value, 0});
      }
      tensor::StoreElement(data, flat, element, value);
    }
    return true;
  }

  // With nothing to reduce, only index arithmetic may be evaluated.
  void EvaluateIndices(const Stage& stage) {
    for (uint32_t i = stage.begin; i < stage.end; ++i) {
      const Instruction& instruction = d_.instructions[i];
      const bool arithmetic =
          instruction.opcode == Opcode::kConstant ||
          tensor::RegisterOperandCount(instruction.opcode) > 0;
      if (arithmetic) registers_[i] = Arithmetic(instruction);
    }
  }

  const Dispatch& d_;
  std::vector<uint64_t> registers_;
  std::vector<uint64_t> accumulators_;
  double sum_ = 0;
  std::vector<std::vector<int64_t>> extents_;
};

void FillRandom(DType type, std::mt19937_64& random, std::vector<char>& bytes) {
  const int64_t count = static_cast<int64_t>(bytes.size()) / DTypeByteSize(type);
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits;
    if (type == DType::kBool) {
      bits = random() & 1;
    } else if (IsFloat(type)) {
      bits = tensor::DoubleToBits(std::uniform_real_distribution<double>(-2, 2)(random), type);
    } else if (random() % 4 == 0) {
      bits = random() & (~uint64_t{0} >> (64 - 8 * DTypeByteSize(type)));
    } else {
      bits = tensor::IntegerToBits(static_cast<int64_t>(random() % 21) - 10, type);
    }
    tensor::StoreElement(bytes.data(), i, type, bits);
  }
}

void Compare(const Dispatch& dispatch, uint32_t buffer, const std::vector<char>& expected,
             const std::vector<char>& found, double tolerance, const std::string& what) {
  const DType type = dispatch.buffers[buffer].type;
  const int64_t count = static_cast<int64_t>(expected.size()) / DTypeByteSize(type);
  if (type == DType::kF16) tolerance = std::max(tolerance, 2e-3);
  if (type == DType::kBF16) tolerance = std::max(tolerance, 2e-2);
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t a = tensor::LoadElement(expected.data(), i, type);
    const uint64_t b = tensor::LoadElement(found.data(), i, type);
    if (a == b) continue;
    if (IsFloat(type)) {
      const double x = tensor::BitsToDouble(a, type), y = tensor::BitsToDouble(b, type);
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      if (std::fabs(x - y) <= tolerance * std::max(1.0, std::fabs(x))) continue;
      ADD_FAILURE() << what << ": %" << dispatch.buffers[buffer].name << "[" << i
                    << "]: expected " << x << ", found " << y;
    } else {
      ADD_FAILURE() << what << ": %" << dispatch.buffers[buffer].name << "[" << i
                    << "]: expected bits " << a << ", found " << b;
    }
    return;
  }
}

}  // namespace

std::string ExpectMatchesDefinition(const Dispatch& dispatch, const CompareOptions& options) {
  Definition definition(dispatch, options.parameters);
  std::mt19937_64 random(options.seed);
  std::vector<std::vector<char>> memory;
  for (size_t i = 0; i < dispatch.buffers.size(); ++i) {
    std::vector<char>& bytes = definition.memory[i];
    if (dispatch.buffers[i].kind == tensor::BufferKind::kInput) {
      FillRandom(dispatch.buffers[i].type, random, bytes);
      if (options.fill) options.fill(static_cast<int>(i), bytes);
    }
    if (dispatch.buffers[i].kind != tensor::BufferKind::kTemporary) memory.push_back(bytes);
  }
  const std::string replay = "@" + dispatch.name + " seed " + std::to_string(options.seed) +
                             " workers " + std::to_string(options.workers);
  Plan::Options plan_options;
  plan_options.scratch_target = options.scratch_target;
  plan_options.constant_inputs.assign(dispatch.input_count(), options.constant_inputs);
  StatusOr<std::unique_ptr<Plan>> plan =
      Plan::Make(dispatch, options.parameters, plan_options);
  if (!definition.Run()) {
    ADD_FAILURE() << replay << ": the definition leaves a buffer";
    return "";
  }
  if (!plan.ok()) {
    ADD_FAILURE() << replay << ": " << plan.status().ToString();
    return "";
  }
  std::vector<void*> pointers;
  for (std::vector<char>& bytes : memory) pointers.push_back(bytes.data());
  ThreadRunner threads(options.workers);
  SerialRunner serial;
  ParallelRunner& runner =
      options.workers > 1 ? static_cast<ParallelRunner&>(threads) : serial;
  for (int run = 0; run < 2; ++run) {
    const Status status = (*plan)->Run(pointers, runner);
    if (!status.ok()) {
      ADD_FAILURE() << replay << ": " << status.ToString();
      return "";
    }
    for (size_t i = 0; i < memory.size(); ++i) {
      if (dispatch.buffers[i].kind != tensor::BufferKind::kOutput) continue;
      Compare(dispatch, static_cast<uint32_t>(i), definition.memory[i], memory[i],
              options.tolerance,
              replay + (run == 0 ? "" : ", second run") + "\n" + (*plan)->Describe());
    }
  }
  return (*plan)->Describe();
}

std::string ExpectMatchesDefinition(std::string_view text, const CompareOptions& options) {
  const StatusOr<Dispatch> dispatch = tensor::Parse(text);
  if (!dispatch.ok()) {
    ADD_FAILURE() << dispatch.status().ToString() << "\n" << text;
    return "";
  }
  return ExpectMatchesDefinition(*dispatch, options);
}

}  // namespace ember::vm
