#include "tensor/testing/hostile_dispatch.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tensor/builder/builder.h"
#include "tensor/concrete_header.h"

namespace ember::tensor {
namespace {

// Largest number of elements of a buffer of a case.
constexpr int64_t kMaxElements = 4096;
// Largest number of points of a stage of a case.
constexpr int64_t kMaxPoints = 20000;

class Generator {
 public:
  explicit Generator(uint64_t seed)
      : choices_(seed), builder_("hostile", choices_.Chance(2)) {
    result_.random.seed = seed;
  }

  HostileCase Run() {
    AddParameters();
    const int inputs = 1 + Below(3);
    for (int i = 0; i < inputs; ++i)
      AddBuffer("x" + std::to_string(i), BufferKind::kInput);
    const int stages = 1 + Below(3);
    for (int i = 0; i < stages; ++i) {
      const bool is_last = i + 1 == stages;
      AddStage("y" + std::to_string(i), is_last || choices_.Chance(2)
                                            ? BufferKind::kOutput
                                            : BufferKind::kTemporary);
    }
    result_.random.dispatch = builder_.Finish();
    Lengthen(result_.random.dispatch);
    for (const std::string& name : result_.random.dispatch.parameters) {
      for (const auto& [known, value] : parameters_) {
        if (known == name) result_.random.parameters.push_back(value);
      }
    }
    result_.is_evaluable = ConcreteHeader::Evaluate(result_.random.dispatch,
                                                    result_.random.parameters)
                               .ok();
    return std::move(result_);
  }

 private:
  struct Memory {
    int number;
    DType type;
    std::vector<int64_t> extents;
  };

  int Below(int limit) { return choices_.Below(limit); }

  // Returns a random number near a large power of two, where arithmetic may
  // wrap, or a multiple of one.
  int64_t HugeNumber() {
    const auto power = static_cast<int64_t>(uint64_t{1} << (20 + Below(44)));
    const int64_t near = Below(5) - 2;
    uint64_t bits = static_cast<uint64_t>(power) + static_cast<uint64_t>(near);
    if (choices_.Chance(3)) bits = 0 - bits;
    if (choices_.Chance(4)) bits *= static_cast<uint64_t>(1 + Below(1000));
    if (choices_.Chance(12)) bits = uint64_t{1} << 63;
    return static_cast<int64_t>(bits);
  }
  int64_t AnyNumber() {
    return choices_.Chance(3) ? HugeNumber() : Below(9) - 4;
  }

  // Adds parameters. Sometimes a parameter has a value that no executor
  // accepts.
  void AddParameters() {
    for (const char* name : {"N", "M"}) {
      const int64_t value = choices_.Chance(12) ? HugeNumber() : Below(7);
      parameters_.emplace_back(name, value);
      scalars_.push_back(builder_.Parameter(name));
    }
  }

  // Returns a header expression with the given value. It contains a parameter
  // if possible, so that executors do not see a constant.
  Scalar Extent(int64_t value) {
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (choices_.Chance(2)) continue;
      const int64_t known = parameters_[i].second;
      if (known == value) return scalars_[i];
      int64_t difference;
      if (!__builtin_sub_overflow(value, known, &difference))
        return scalars_[i] + difference;
    }
    return builder_.Index(value);
  }

  std::vector<int64_t> Shape(int64_t most, int rank) {
    std::vector<int64_t> shape;
    int64_t count = 1;
    for (int d = 0; d < rank; ++d) {
      shape.push_back(1 + Below(choices_.Chance(8) ? 300 : 9));
      if (count * shape.back() > most) shape.back() = 1;
      count *= shape.back();
    }
    // One in six buffers of rank 2 or more has an extent of 0 and so no
    // elements. Its other extents, and so its strides, may be huge.
    if (rank >= 2 && choices_.Chance(6)) {
      const size_t zero = static_cast<size_t>(Below(rank));
      for (size_t d = 0; d < shape.size(); ++d)
        if (choices_.Chance(2)) shape[d] = int64_t{1} << Below(30);
      shape[zero] = 0;
    }
    return shape;
  }

  Memory AddBuffer(const std::string& name, BufferKind kind) {
    static constexpr DType kTypes[] = {DType::kF32, DType::kI8,  DType::kU8,
                                       DType::kI64, DType::kI32, DType::kF64,
                                       DType::kF16, DType::kU16};
    Memory memory;
    memory.type = kTypes[Below(8)];
    memory.extents = Shape(kMaxElements, 1 + Below(4));
    std::vector<Scalar> extents;
    for (int64_t extent : memory.extents) extents.push_back(Extent(extent));
    memory.number = builder_.AddBuffer(name, memory.type, kind, extents);
    if (kind == BufferKind::kInput) loadable_.push_back(memory);
    return memory;
  }

  void AddStage(const std::string& name, BufferKind kind) {
    const Memory target = AddBuffer(name, kind);
    stage_ = &builder_.AddStage();
    axes_.clear();
    int64_t points = 1;
    std::vector<Scalar> indices;
    for (size_t d = 0; d < target.extents.size(); ++d) {
      const int64_t extent = target.extents[d];
      axes_.push_back(
          stage_->SpatialAxis("i" + std::to_string(d), Extent(extent)));
      points *= std::min<int64_t>(std::max<int64_t>(extent, 1), kMaxPoints);
      indices.push_back(axes_.back());
    }
    // One in forty stages has an index that is out of range. Executors may
    // refuse to run it.
    if (choices_.Chance(40)) {
      Scalar& index = choices_.Chance(2) ? indices.front() : indices.back();
      index = index + stage_->Index(AnyNumber());
    }
    Combiner combiner = Combiner::kNone;
    if (choices_.Chance(2)) {
      static constexpr Combiner kCombiners[] = {
          Combiner::kSum, Combiner::kMinimum, Combiner::kMaximum};
      combiner = kCombiners[Below(3)];
      const int count = 1 + Below(2);
      for (int k = 0; k < count; ++k) {
        int64_t extent = Below(12);
        if (choices_.Chance(6)) extent = Below(200);
        if (points * std::max<int64_t>(extent, 1) > kMaxPoints) extent = 1;
        points *= std::max<int64_t>(extent, 1);
        axes_.push_back(
            stage_->ReductionAxis("k" + std::to_string(k), Extent(extent)));
      }
    }
    points_ = points;
    Scalar value = Value(target.type, 3);
    // Half of the sums are sums of products, because executors recognise
    // contractions by this pattern.
    if (combiner == Combiner::kSum && choices_.Chance(2))
      value = value * Value(target.type, 2);
    stage_->Yield(value, target.number, indices, combiner);
    loadable_.push_back(target);
  }

  Scalar AxisOrConstant() {
    if (choices_.Chance(5)) return stage_->Index(AnyNumber());
    if (choices_.Chance(8)) return scalars_[static_cast<size_t>(Below(2))];
    return choices_.Pick(axes_);
  }

  // Makes a random i64 index expression of axes, constants and parameters.
  Scalar Index(int depth) {
    if (depth == 0) return AxisOrConstant();
    const Scalar a = Index(depth - 1);
    switch (Below(12)) {
      case 0:
        return a * stage_->Index(AnyNumber());
      case 1:
        return FloorDivide(a, stage_->Index(AnyNumber()));
      case 2:
        return Modulo(a, stage_->Index(AnyNumber()));
      case 3:
        return Minimum(a, Index(depth - 1));
      case 4:
        return Maximum(a, Index(depth - 1));
      case 5:
        return -a;
      case 6:
        return a - Index(depth - 1);
      case 7:
        return a * Index(depth - 1);
      case 8:
        return Binary(Opcode::kRemainder, a, stage_->Index(AnyNumber()));
      default:
        return a + (choices_.Chance(2) ? Index(depth - 1)
                                       : stage_->Index(AnyNumber()));
    }
  }

  Scalar LoadOf(const Memory& memory) {
    std::vector<Scalar> indices;
    const bool may_load = std::ranges::count(memory.extents, 0) == 0;
    const bool pads = !may_load || choices_.Chance(2);
    for (int64_t extent : memory.extents) {
      Scalar index = Index(1 + Below(3));
      if (choices_.Chance(10))
        index = Cast(Cast(index, DType::kF64), DType::kI64);
      if (!pads) {
        index = Maximum(Minimum(index, stage_->Index(extent - 1)),
                        stage_->Index(0));
      }
      indices.push_back(index);
    }
    if (!pads) return stage_->Load(memory.number, indices);
    return stage_->Pad(memory.number, indices,
                       stage_->IntegerValue(Below(3), memory.type));
  }

  // Limits a value to -8..8, so that sums of products are exact in every order.
  Scalar Small(Scalar a) {
    if (a.type() == DType::kBool) return a;
    Scalar small = Minimum(a, stage_->IntegerValue(8, a.type()));
    if (IsFloat(a.type()) || IsSigned(a.type()))
      small = Maximum(small, stage_->IntegerValue(-8, a.type()));
    return small;
  }

  // Makes a random value whose computation is exact in its type and in every
  // order of accumulation.
  Scalar Value(DType type, int depth) {
    if (depth == 0 || choices_.Chance(3)) {
      const Scalar value =
          choices_.Chance(6) ? Index(2) : LoadOf(choices_.Pick(loadable_));
      return IsFloat(type) ? Cast(Small(value), type) : Cast(value, type);
    }
    const Scalar a = Value(type, depth - 1), b = Value(type, depth - 1);
    switch (Below(4)) {
      case 0:
        return Minimum(a, b);
      case 1:
        return Maximum(a, b);
      case 2:
        return Select(Index(1) < Index(1), a, b);
      default:
        return IsFloat(type) ? Maximum(-a, b) : a + b;
    }
  }

  // Inserts many instructions before the value of the last stage: a long chain
  // or a wide tree.
  void Lengthen(Dispatch& dispatch) {
    if (!choices_.Chance(30)) return;
    Stage& stage = dispatch.stages.back();
    const Register value = stage.values[0];
    const DType type = dispatch.instructions[value].type;
    if (value < stage.begin || type == DType::kBool) return;
    // The evaluator executes each instruction at every point, so only one in
    // ten of these cases gets a very long chain.
    const int most = choices_.Chance(10) ? 40000 : 300;
    const int length = static_cast<int>(
        std::min<int64_t>(most, 2000000 / std::max<int64_t>(points_, 1)));
    const bool is_tree = choices_.Chance(2);
    std::vector<Register> values = {value};
    for (int i = 0; i < length; ++i) {
      Instruction next{Opcode::kNegate, type, values.back()};
      if (is_tree) {
        next = {Opcode::kMaximum, type, values.back(), choices_.Pick(values)};
      }
      values.push_back(static_cast<Register>(dispatch.instructions.size()));
      dispatch.instructions.push_back(next);
    }
    stage.values[0] = values.back();
    stage.end = values.back() + 1;
  }

  RandomChoices choices_;
  DispatchBuilder builder_;
  HostileCase result_;
  std::vector<std::pair<std::string, int64_t>> parameters_;
  // the parameters as scalars of the dispatch that is being built
  std::vector<Scalar> scalars_;
  std::vector<Memory> loadable_;
  StageBuilder* stage_ = nullptr;
  int64_t points_ = 0;  // number of points of the current stage
  std::vector<Scalar> axes_;
};

}  // namespace

HostileCase MakeHostileCase(uint64_t seed) { return Generator(seed).Run(); }

}  // namespace ember::tensor
