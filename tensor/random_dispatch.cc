#include "tensor/random_dispatch.h"

#include <algorithm>
#include <random>

#include "base/check.h"
#include "tensor/builder.h"
#include "tensor/index_algebra.h"

namespace ember::tensor {
namespace {

// An extent as the builder knows it and the number that it will be.
struct Extent {
  Scalar scalar;
  int64_t value = 0;
};

struct BufferInfo {
  int number = 0;
  DType type = DType::kF32;
  std::vector<Extent> extents;
  bool small_values =
      false;  // holds integers of at most 4 bits: sums of them are exact
};

class Generator : private RandomChoices {
 public:
  Generator(uint64_t seed, const RandomOptions& options)
      : RandomChoices(seed),
        options_(options),
        builder_("random_" + std::to_string(seed), options.simplify) {
    result_.seed = seed;
  }

  RandomCase Run() {
    for (int i = 0; i < 3; ++i) {
      const std::string name(1, static_cast<char>('N' + i));
      parameters_.push_back({builder_.Parameter(name), Below(8) + 1});
    }
    const int inputs = 1 + Below(3);
    for (int i = 0; i < inputs; ++i)
      AddBuffer(BufferKind::kInput, AnyType(), Below(4));
    const int stages = 1 + Below(options_.maximum_stages);
    for (int i = 0; i < stages; ++i) {
      const bool last = i == stages - 1;
      AddStages(last || Chance(3) ? BufferKind::kOutput
                                  : BufferKind::kTemporary);
    }
    result_.dispatch = builder_.Finish();
    for (const std::string& name : result_.dispatch.parameters) {
      result_.parameters.push_back(
          parameters_[static_cast<size_t>(name[0] - 'N')].value);
    }
    return std::move(result_);
  }

 private:
  // --- choices ---

  DType AnyNumericType() {
    while (true) {
      if (const DType type = AnyType(); type != DType::kBool) return type;
    }
  }
  DType AnyIntegerType() {
    while (true) {
      if (const DType type = AnyType(); IsInteger(type)) return type;
    }
  }

  Extent AnyExtent(int64_t largest) {
    constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 8, 17, 64, 130};
    while (true) {
      Extent extent;
      const Extent& parameter = Pick(parameters_);
      switch (Below(6)) {
        case 0:
          extent = parameter;
          break;
        case 1:
          extent = {parameter.scalar * 2 + 1, parameter.value * 2 + 1};
          break;
        case 2:
          extent = {FloorDivide(parameter.scalar + 2, 2),
                    (parameter.value + 2) / 2};
          break;
        default: {
          const int64_t size = Chance(60) ? 0 : kSizes[Below(9)];
          extent = {builder_.Index(size), size};
        }
      }
      if (extent.value <= largest) return extent;
    }
  }

  // --- buffers ---

  BufferInfo AddBuffer(BufferKind kind, DType type,
                       std::vector<Extent> extents) {
    std::vector<Scalar> scalars;
    for (const Extent& extent : extents) scalars.push_back(extent.scalar);
    const std::string name = (kind == BufferKind::kInput    ? "x"
                              : kind == BufferKind::kOutput ? "y"
                                                            : "t") +
                             std::to_string(buffer_count_++);
    BufferInfo info{builder_.AddBuffer(name, type, kind, scalars), type,
                    std::move(extents), false};
    if (kind == BufferKind::kInput) {
      info.small_values = true;  // see MakeBuffers
      loadable_.push_back(info);
    }
    return info;
  }

  BufferInfo AddBuffer(BufferKind kind, DType type, int rank) {
    std::vector<Extent> extents;
    int64_t room = 4000;
    for (int i = 0; i < rank; ++i) {
      extents.push_back(AnyExtent(room));
      room /= std::max<int64_t>(extents.back().value, 1);
    }
    return AddBuffer(kind, type, std::move(extents));
  }

  // --- stages ---

  void AddStages(BufferKind kind) {
    switch (Below(6)) {
      case 0:
        return AddRegions(kind);
      case 1:
        return AddScatter(kind);
      case 2:
        return AddFold(kind);
      case 3:
      case 4:
        return AddReduction(kind);
      default:
        return AddElementwise(kind);
    }
  }

  void Begin() {
    stage_ = &builder_.AddStage();
    axes_.clear();
  }
  void AddAxes(const std::vector<Extent>& extents, bool reduce) {
    for (const Extent& extent : extents) {
      const std::string name =
          (reduce ? "k" : "i") + std::to_string(axes_.size());
      axes_.push_back({reduce ? stage_->ReductionAxis(name, extent.scalar)
                              : stage_->SpatialAxis(name, extent.scalar),
                       extent.value});
    }
  }
  std::vector<Scalar> AxisScalars(size_t count) const {
    std::vector<Scalar> scalars;
    for (size_t i = 0; i < count; ++i) scalars.push_back(axes_[i].scalar);
    return scalars;
  }

  void AddElementwise(BufferKind kind) {
    const BufferInfo target = AddBuffer(kind, AnyType(), Below(5));
    Begin();
    AddAxes(target.extents, false);
    const std::vector<Scalar> point = AxisScalars(target.extents.size());
    stage_->Yield(Value(target.type, options_.maximum_depth), target.number,
                  point);
    if (Chance(3)) {  // a second result over the same axes
      const BufferInfo second = AddBuffer(kind, AnyType(), target.extents);
      stage_->YieldMore(Value(second.type, 2), second.number, point);
      loadable_.push_back(second);
    }
    loadable_.push_back(target);
  }

  // Two stages that fill a buffer from both ends of its first dim, as concat
  // does.
  void AddRegions(BufferKind kind) {
    const Extent low = AnyExtent(20), high = AnyExtent(20),
                 inner = AnyExtent(30);
    const Extent both{low.scalar + high.scalar, low.value + high.value};
    const BufferInfo target = AddBuffer(kind, AnyType(), {both, inner});
    for (int part = 0; part < 2; ++part) {
      Begin();
      AddAxes({part == 0 ? low : high, inner}, false);
      const Scalar row =
          part == 0 ? axes_[0].scalar : axes_[0].scalar + low.scalar;
      stage_->Yield(Value(target.type, 2), target.number,
                    {{row, axes_[1].scalar}});
    }
    loadable_.push_back(target);
  }

  // A buffer of a constant, then updates at computed places.
  void AddScatter(BufferKind kind) {
    const DType type = options_.exact ? AnyIntegerType() : AnyNumericType();
    const BufferInfo target = AddBuffer(kind, type, 1 + Below(3));
    for (const Extent& extent : target.extents) {
      if (extent.value == 0)
        return AddUpdateStage(target, Update::kAssign, target.extents);
    }
    AddUpdateStage(target, Update::kAssign, target.extents);
    const Update update = static_cast<Update>(1 + Below(4));
    Begin();
    AddAxes({AnyExtent(20), AnyExtent(20)}, false);
    std::vector<Scalar> indices;
    for (const Extent& extent : target.extents)
      indices.push_back(IndexWithin(extent));
    stage_->Yield(Value(type, 2), target.number, indices, Combiner::kNone,
                  update);
    loadable_.push_back(target);
  }
  void AddUpdateStage(const BufferInfo& target, Update update,
                      const std::vector<Extent>& extents) {
    Begin();
    AddAxes(extents, false);
    stage_->Yield(Constant(target.type), target.number,
                  AxisScalars(extents.size()), Combiner::kNone, update);
  }

  std::vector<Extent> ReductionExtents() {
    std::vector<Extent> extents;
    const int count = 1 + Below(2);
    for (int i = 0; i < count; ++i)
      extents.push_back(AnyExtent(i == 0 ? 130 : 5));
    return extents;
  }

  void AddReduction(BufferKind kind) {
    const Combiner combiner = static_cast<Combiner>(1 + Below(4));
    const bool adds =
        combiner == Combiner::kSum || combiner == Combiner::kProduct;
    const bool careful = adds && options_.exact;
    DType type = adds ? AnyNumericType() : AnyType();
    if (careful && combiner == Combiner::kProduct) type = AnyIntegerType();
    BufferInfo target = AddBuffer(kind, type, Below(4));
    Begin();
    AddAxes(target.extents, false);
    AddAxes(ReductionExtents(), true);
    Scalar value;
    if (careful && IsFloat(type)) {
      value = SmallValue(type);
      if (Chance(2)) value = value * SmallValue(type);
    } else {
      value = Value(type, 3);
    }
    stage_->Yield(value, target.number, AxisScalars(target.extents.size()),
                  combiner);
    loadable_.push_back(target);
  }

  // The largest or smallest value with its place, or a sum with a count.
  void AddFold(BufferKind kind) {
    const DType type = options_.exact ? AnyIntegerType() : AnyNumericType();
    const BufferInfo best = AddBuffer(kind, type, Below(3));
    const BufferInfo place = AddBuffer(kind, DType::kI64, best.extents);
    Begin();
    AddAxes(best.extents, false);
    const std::vector<Scalar> point = AxisScalars(best.extents.size());
    AddAxes({AnyExtent(40)}, true);
    const Scalar position = axes_.back().scalar;
    std::vector<StageBuilder::FoldResult> results = {
        {Value(type, 2), Constant(type), best.number, point},
        {position, stage_->Index(-1), Chance(3) ? -1 : place.number, point}};
    if (results[1].buffer < 0) AddUnstored(place);
    const int style = Below(3);
    stage_->YieldFold(
        results, [&](std::span<const Scalar> a, std::span<const Scalar> e) {
          const Scalar better = style == 0   ? a[0] < e[0]
                                : style == 1 ? e[0] <= a[0]
                                             : a[1] < e[1];
          const Scalar first =
              style == 2 ? a[0] + e[0] : Select(better, e[0], a[0]);
          return std::vector<Scalar>{first, Select(better, e[1], a[1] + 1)};
        });
    FinishUnstored();
    loadable_.push_back(best);
    loadable_.push_back(place);
  }
  // The place of a fold that does not store it is filled by a stage of its own
  // afterwards.
  void AddUnstored(const BufferInfo& buffer) { unstored_.push_back(buffer); }
  void FinishUnstored() {
    for (const BufferInfo& buffer : unstored_) {
      Begin();
      AddAxes(buffer.extents, false);
      stage_->Yield(stage_->Index(7), buffer.number,
                    AxisScalars(buffer.extents.size()));
    }
    unstored_.clear();
  }

  // --- values ---

  Scalar Constant(DType type) {
    if (IsFloat(type)) {
      constexpr double kValues[] = {0.0, 1.0,  -1.0, 0.5,
                                    2.0, 3.25, -0.0, 100.0};
      return stage_->Value(kValues[Below(8)], type);
    }
    return stage_->IntegerValue(Below(12) - 4, type);
  }

  // An index expression somewhere around 0..extent, from axes and constants.
  Scalar RoughIndex() {
    Scalar index = stage_->Index(Below(5));
    const int terms = 1 + Below(2);
    for (int i = 0; i < terms && !axes_.empty(); ++i) {
      Scalar axis = Pick(axes_).scalar;
      if (Chance(3)) axis = axis * (1 + Below(4));
      if (Chance(5)) axis = FloorDivide(axis, 1 + Below(4));
      if (Chance(6)) axis = Modulo(axis, 1 + Below(5));
      if (Chance(8)) {  // the axis again, or nearly
        const int divisor = 1 + Below(4);
        axis = FloorDivide(axis, divisor) * (Chance(2) ? divisor : Below(4)) +
               Modulo(axis, divisor);
      }
      index = Chance(4) ? index - axis : index + axis;
    }
    return index;
  }

  // An index that is in 0..extent - 1 for sure; the extent is not 0.
  Scalar IndexWithin(const Extent& extent) {
    std::vector<Extent> fitting;
    for (const Extent& axis : axes_) {
      if (axis.value <= extent.value) fitting.push_back(axis);
    }
    switch (Below(8)) {
      case 0:
        return Modulo(RoughIndex(), extent.scalar);
      case 1:
        return Minimum(Maximum(RoughIndex(), stage_->Index(0)),
                       extent.scalar - 1);
      case 2:
        if (const std::optional<Scalar> gathered = GatheredIndex()) {
          return Minimum(Maximum(*gathered, stage_->Index(0)),
                         extent.scalar - 1);
        }
        break;
      case 3:
        if (!fitting.empty()) return extent.scalar - 1 - Pick(fitting).scalar;
        break;
      case 4:
        if (!fitting.empty()) {
          const Extent& axis = Pick(fitting);
          return axis.scalar +
                 (extent.value - std::max<int64_t>(axis.value, 1));
        }
        break;
      default:
        break;
    }
    if (!fitting.empty()) return Pick(fitting).scalar;
    return Modulo(RoughIndex(), extent.scalar);
  }

  // An element of an integer buffer, itself at a simple place.
  std::optional<Scalar> GatheredIndex() {
    const BufferInfo& source = Pick(loadable_);
    if (!IsInteger(source.type) || HasNoElements(source)) return std::nullopt;
    std::vector<Scalar> indices;
    for (const Extent& extent : source.extents) {
      indices.push_back(Modulo(RoughIndex(), extent.scalar));
    }
    return Cast(stage_->Load(source.number, indices), DType::kI64);
  }

  static bool HasNoElements(const BufferInfo& buffer) {
    return std::any_of(buffer.extents.begin(), buffer.extents.end(),
                       [](const Extent& extent) { return extent.value == 0; });
  }

  Scalar LoadOf(const BufferInfo& source) {
    std::vector<Scalar> indices;
    if (HasNoElements(source) || Chance(5)) {
      for (size_t i = 0; i < source.extents.size(); ++i)
        indices.push_back(RoughIndex());
      // Of rank 0 there is nothing outside.
      return stage_->Pad(source.number, indices, Constant(source.type));
    }
    for (const Extent& extent : source.extents)
      indices.push_back(IndexWithin(extent));
    return stage_->Load(source.number, indices);
  }

  // A float that is an integer of few bits, so that sums of products are exact.
  Scalar SmallValue(DType type) {
    const BufferInfo& source = Pick(loadable_);
    if (!source.small_values || source.type == DType::kBool)
      return stage_->Value(Below(5), type);
    return Cast(LoadOf(source), type);
  }

  Scalar Leaf(DType type) {
    if (Chance(8)) return Constant(type);
    if (Chance(8)) return Cast(RoughIndex(), type);
    for (int attempt = 0; attempt < 4; ++attempt) {
      const BufferInfo& source = Pick(loadable_);
      if (source.type == type) return LoadOf(source);
    }
    return Cast(LoadOf(Pick(loadable_)), type);
  }

  Scalar Condition(int depth) {
    const DType type = AnyType();
    const Opcode opcode =
        static_cast<Opcode>(static_cast<int>(Opcode::kEqual) + Below(4));
    return Binary(opcode, Value(type, depth - 1), Value(type, depth - 1));
  }

  Scalar Value(DType type, int depth) {
    if (depth <= 0 || Chance(6)) return Leaf(type);
    switch (Below(6)) {
      case 0:
        return UnaryValue(type, depth);
      case 1:
        return Select(Condition(depth - 1), Value(type, depth - 1),
                      Value(type, depth - 1));
      case 2:
        return Cast(Value(AnyType(), depth - 1), type);
      case 3:
        if (type == DType::kBool) return Condition(depth);
        break;
      default:
        break;
    }
    return BinaryValue(type, depth);
  }

  Scalar UnaryValue(DType type, int depth) {
    const int first = static_cast<int>(Opcode::kNegate),
              last = static_cast<int>(Opcode::kErf);
    while (true) {
      const Opcode opcode =
          static_cast<Opcode>(first + Below(last - first + 1));
      if (!AcceptsType(InfoOf(opcode).kinds, type)) continue;
      if (options_.exact && !IsExact(opcode, type)) continue;
      return Unary(opcode, Value(type, depth - 1));
    }
  }

  Scalar BinaryValue(DType type, int depth) {
    const int first = static_cast<int>(Opcode::kAdd),
              last = static_cast<int>(Opcode::kShiftRight);
    while (true) {
      const Opcode opcode =
          static_cast<Opcode>(first + Below(last - first + 1));
      if (!AcceptsType(InfoOf(opcode).kinds, type)) continue;
      if (options_.exact && !IsExact(opcode, type)) continue;
      return Binary(opcode, Value(type, depth - 1), Value(type, depth - 1));
    }
  }

  const RandomOptions options_;
  DispatchBuilder builder_;
  RandomCase result_;
  int buffer_count_ = 0;
  std::vector<Extent> parameters_;
  std::vector<BufferInfo> loadable_;
  std::vector<BufferInfo> unstored_;
  StageBuilder* stage_ = nullptr;
  std::vector<Extent> axes_;
};

}  // namespace

RandomCase MakeRandomCase(uint64_t seed, const RandomOptions& options) {
  return Generator(seed, options).Run();
}

std::vector<std::vector<uint8_t>> RandomCase::MakeBuffers() const {
  const StatusOr<ConcreteHeader> header =
      ConcreteHeader::Evaluate(dispatch, parameters);
  EMBER_CHECK(header.ok()) << "seed " << seed << ": "
                           << header.status().message();
  std::mt19937_64 random(seed + 1);
  std::vector<std::vector<uint8_t>> buffers;
  for (const Buffer& buffer : dispatch.buffers) {
    if (buffer.kind == BufferKind::kTemporary) continue;
    const int64_t count = header->ElementCount(buffer);
    if (buffer.kind == BufferKind::kInput) {
      buffers.push_back(RandomElements(random, buffer.type, count));
    } else {
      buffers.emplace_back(
          static_cast<size_t>(count * DTypeByteSize(buffer.type)), 0);
    }
  }
  return buffers;
}

std::string FirstDifference(const RandomCase& random_case,
                            const std::vector<std::vector<uint8_t>>& expected,
                            const std::vector<std::vector<uint8_t>>& actual,
                            double absolute, double relative) {
  const Dispatch& dispatch = random_case.dispatch;
  for (size_t i = 0; i < expected.size(); ++i) {
    const Buffer& buffer = dispatch.buffers[i];
    if (buffer.kind != BufferKind::kOutput) continue;
    const std::string difference = FirstDifferentElement(
        buffer.type, expected[i], actual[i], absolute, relative);
    if (difference.empty()) continue;
    return "seed " + std::to_string(random_case.seed) + ": output %" +
           buffer.name + " " + difference;
  }
  return "";
}

}  // namespace ember::tensor
