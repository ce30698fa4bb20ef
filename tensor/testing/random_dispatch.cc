#include "tensor/testing/random_dispatch.h"

#include <algorithm>
#include <random>

#include "base/check.h"
#include "tensor/analysis/index_algebra.h"
#include "tensor/builder/builder.h"
#include "tensor/testing/random_grid.h"
#include "tensor/testing/random_stage_values.h"

namespace ember::tensor {
namespace {

class Generator : private RandomStageValues {
 public:
  Generator(uint64_t seed, const RandomOptions& options)
      : RandomStageValues(seed, options) {
    result_.seed = seed;
  }

  RandomCase Run() {
    for (int i = 0; i < 3; ++i) {
      const std::string name(1, static_cast<char>('N' + i));
      parameters_.push_back({builder_.Parameter(name), Below(8) + 1});
    }
    room_ = Chance(8) ? options_.largest_elements
                      : std::min<int64_t>(options_.largest_elements, 4000);
    if (Chance(2)) MakeGrid();
    // In half of the cases with a grid most buffers have one type: an executor
    // can then let a result overwrite an operand.
    if (grid_ && Chance(2)) usual_type_ = AnyType();
    const int inputs = 1 + Below(grid_ ? 4 : 3);
    for (int i = 0; i < inputs; ++i) {
      if (grid_ && !Chance(6))
        AddOnGrid(BufferKind::kInput, UsualType(), grid_->OperandShape());
      else
        AddBuffer(BufferKind::kInput, AnyType(), Below(4));
    }
    special_inputs_ = Chance(4);
    result_.has_special_values = special_inputs_;
    result_.has_subnormals = special_inputs_ && options_.subnormals;
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

  DType UsualType() {
    return usual_type_ && !Chance(5) ? *usual_type_ : AnyType();
  }

  Extent AnyExtent(int64_t largest) {
    constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 8, 17, 64, 130, 260};
    while (true) {
      Extent extent;
      const Extent& parameter = Pick(parameters_);
      switch (Below(8)) {
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
        case 3: {
          const Extent& other = Pick(parameters_);
          extent = {parameter.scalar * other.scalar,
                    parameter.value * other.value};
          break;
        }
        default: {
          const int64_t size = Chance(60) ? 0 : kSizes[Below(10)];
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
                    std::move(extents), false, std::nullopt};
    if (kind == BufferKind::kInput) {
      info.small_values = true;  // see RandomCase::MakeBuffers
      loadable_.push_back(info);
    }
    return info;
  }

  BufferInfo AddBuffer(BufferKind kind, DType type, int rank) {
    std::vector<Extent> extents;
    int64_t room = room_;
    for (int i = 0; i < rank; ++i) {
      extents.push_back(AnyExtent(room));
      room /= std::max<int64_t>(extents.back().value, 1);
    }
    return AddBuffer(kind, type, std::move(extents));
  }

  // --- the grid of extents that buffers and stages share ---

  void MakeGrid() {
    const int rank = 1 + Below(5);
    std::vector<Extent> extents;
    int64_t room = room_;
    for (int i = 0; i < rank; ++i) {
      do {
        extents.push_back(AnyExtent(room));
        if (extents.back().value > 0) break;
        extents.pop_back();
      } while (true);
      room /= extents.back().value;
    }
    grid_.emplace(static_cast<RandomChoices&>(*this), std::move(extents),
                  /*is_plain=*/Chance(3));
  }

  BufferInfo AddOnGrid(BufferKind kind, DType type, const GridShape& shape) {
    BufferInfo info = AddBuffer(kind, type, grid_->ExtentsOf(shape, builder_));
    info.shape = shape;
    if (kind == BufferKind::kInput) loadable_.back() = info;
    return info;
  }

  // Adds axes to the stage and computes the values of the grid's axes from
  // them. A stage's axis is an axis of the grid, or several of them merged,
  // which are then recovered by division and remainder.
  void AddGridAxes(const std::vector<int>& axes, bool reduce) {
    for (size_t first = 0; first < axes.size();) {
      size_t end = first + 1;
      while (end < axes.size() && !grid_->is_plain() && Chance(6)) ++end;
      Extent flat = grid_->extent(axes[first]);
      for (size_t i = first + 1; i < end; ++i) {
        const Extent& next = grid_->extent(axes[i]);
        flat = {flat.scalar * next.scalar, flat.value * next.value};
      }
      AddAxes({flat}, reduce);
      Scalar rest = axes_.back().scalar;
      for (size_t i = end; i-- > first;) {
        const Scalar& extent = grid_->extent(axes[i]).scalar;
        point_.values[static_cast<size_t>(axes[i])] =
            i == first ? rest : Modulo(rest, extent);
        if (i > first) rest = FloorDivide(rest, extent);
      }
      first = end;
    }
  }

  void BeginOnGrid() {
    Begin();
    const size_t rank = static_cast<size_t>(grid_->rank());
    point_.values.assign(rank, stage_->Index(0));
    point_.windows.assign(rank, std::nullopt);
    is_on_grid_ = true;
  }

  std::vector<int> GridAxes() const {
    std::vector<int> axes;
    for (int axis = 0; axis < grid_->rank(); ++axis) axes.push_back(axis);
    return axes;
  }

  void AddGridElementwise(BufferKind kind) {
    const BufferInfo target =
        AddOnGrid(kind, UsualType(), grid_->ResultShape(GridAxes()));
    BeginOnGrid();
    AddGridAxes(GridAxes(), false);
    stage_->Yield(Value(target.type, 1 + Below(options_.maximum_depth)),
                  target.number, grid_->Write(*target.shape, point_, *stage_));
    is_on_grid_ = false;
    loadable_.push_back(target);
  }

  // Adds a stage that reduces over some of the grid's axes, and sometimes over
  // windows along others.
  void AddGridReduction(BufferKind kind) {
    // In one stage of four the reduction does not run along an axis of the
    // grid: all grid axes are spatial, and the same values are read in each
    // step of the reduction.
    const bool repeats = Chance(4);
    std::vector<int> spatial, reduced;
    for (int axis = 0; axis < grid_->rank(); ++axis)
      (!repeats && Chance(3) ? reduced : spatial).push_back(axis);
    const Combiner combiner = Chance(2) ? Combiner::kSum : AnyCombiner();
    const DType type = TypeToReduce(combiner, UsualType());
    const BufferInfo target =
        AddOnGrid(kind, type, grid_->ResultShape(spatial));
    BeginOnGrid();
    AddGridAxes(spatial, false);
    AddGridAxes(reduced, true);
    if (repeats) {
      AddAxes({AnyExtent(5)}, true);
    } else {
      const bool has_window = reduced.empty() || Chance(3);
      for (int i = has_window ? 1 + Below(2) : 0; i > 0; --i)
        AddWindow(spatial);
    }
    stage_->Yield(ValueToReduce(combiner, type), target.number,
                  grid_->Write(*target.shape, point_, *stage_), combiner);
    is_on_grid_ = false;
    loadable_.push_back(target);
  }

  void AddWindow(const std::vector<int>& spatial) {
    const int64_t size = 1 + Below(4);
    AddAxes({{builder_.Index(size), size}}, true);
    if (!spatial.empty())
      point_.windows[static_cast<size_t>(Pick(spatial))] = axes_.back();
  }

  // --- stages ---

  void AddStages(BufferKind kind) {
    if (grid_ && !Chance(4)) {
      return Chance(3) ? AddGridReduction(kind) : AddGridElementwise(kind);
    }
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
    if (Chance(3)) {  // The stage sometimes stores a second result over the
                      // same axes.
      const BufferInfo second = AddBuffer(kind, AnyType(), target.extents);
      stage_->YieldMore(Value(second.type, 2), second.number, point);
      loadable_.push_back(second);
    }
    loadable_.push_back(target);
  }

  // Adds two stages that store the first and the second part of a buffer along
  // its first dim, as the stages of a concatenation do.
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

  // Adds a stage that fills a buffer with a constant, and a stage that then
  // updates elements at computed indices (a scatter).
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
    const Combiner combiner = AnyCombiner();
    const DType type = TypeToReduce(combiner, AnyType());
    BufferInfo target = AddBuffer(kind, type, Below(4));
    Begin();
    AddAxes(target.extents, false);
    AddAxes(ReductionExtents(), true);
    stage_->Yield(ValueToReduce(combiner, type), target.number,
                  AxisScalars(target.extents.size()), combiner);
    loadable_.push_back(target);
  }
  Combiner AnyCombiner() { return static_cast<Combiner>(1 + Below(4)); }
  static bool Adds(Combiner combiner) {
    return combiner == Combiner::kSum || combiner == Combiner::kProduct;
  }
  // Returns a type that the combiner can reduce: `wanted`, if that is possible.
  DType TypeToReduce(Combiner combiner, DType wanted) {
    if (!Adds(combiner)) return wanted;
    if (options_.exact && combiner == Combiner::kProduct)
      return IsInteger(wanted) ? wanted : AnyIntegerType();
    return wanted != DType::kBool ? wanted : AnyNumericType();
  }
  Scalar ValueToReduce(Combiner combiner, DType type) {
    const bool careful = Adds(combiner) && options_.exact && IsFloat(type);
    if (!careful) return Chance(3) ? Leaf(type) : Value(type, 3);
    Scalar value = SmallValue(type);
    // Products of 8-bit floats are left out: most are rounded, and executors
    // may round them differently.
    if (Chance(2) && DTypeByteSize(type) > 1) value = value * SmallValue(type);
    return value;
  }

  // Adds a fold that computes the largest or smallest value with its index, or
  // a sum with a count.
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
  // Records a buffer that was added for a fold's index but that the fold does
  // not store to. A later stage stores to it, so that no output is left unset.
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

  RandomCase result_;
  int buffer_count_ = 0;
  std::vector<BufferInfo> unstored_;
  // Largest number of elements that the next buffer may have.
  int64_t room_ = 0;
  std::optional<DType> usual_type_;
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
      if (has_special_values && IsFloat(buffer.type))
        AddSpecialValues(random, buffer.type, has_subnormals, buffers.back());
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
