// Defines operators that read or write at indices from a tensor: gather,
// gather_elements, gather_nd, scatter_elements, scatter_nd. Indices are not
// negative (frontends normalise them). An index beyond the dim is an error of
// the run.
#include "compiler/graph/operators/support.h"

namespace ember::graph {
namespace {

Scalar AsIndex(Scalar value) { return Cast(value, DType::kI64); }

InferredTypes InferGather(const Operation& operation) {
  const Value& data = *operation.operand(0);
  const Value& indices = *operation.operand(1);
  EMBER_RETURN_IF_ERROR(CheckIndexOperand(operation, 1));
  EMBER_RETURN_IF_ERROR(CheckAxis(operation, "axis", data.rank()));
  const int64_t axis = IntegerOf(operation, "axis");
  Shape shape(data.shape().begin(), data.shape().begin() + axis);
  shape.insert(shape.end(), indices.shape().begin(), indices.shape().end());
  shape.insert(shape.end(), data.shape().begin() + axis + 1,
               data.shape().end());
  return OneType(data.dtype(), std::move(shape));
}

Scalar DefineGather(ElementContext& context, Indices indices) {
  const Operation& operation = context.operation();
  const auto axis = static_cast<size_t>(IntegerOf(operation, "axis"));
  const auto rank = static_cast<size_t>(operation.operand(1)->rank());
  std::vector<Scalar> own(indices.begin(), indices.begin() + axis);
  own.push_back(AsIndex(context.Load(1, indices.subspan(axis, rank))));
  own.insert(own.end(), indices.begin() + axis + rank, indices.end());
  return context.Load(0, own);
}

// Checks the operands of gather_elements and scatter_elements: the indices must
// have the rank of the data, and no extent that is surely larger than the
// data's, except along the attribute `axis`.
Status CheckElementwiseIndices(const Operation& operation) {
  const Value& data = *operation.operand(0);
  EMBER_RETURN_IF_ERROR(CheckIndexOperand(operation, 1));
  EMBER_RETURN_IF_ERROR(CheckAxis(operation, "axis", data.rank()));
  EMBER_RETURN_IF_ERROR(CheckRank(operation, 1, data.rank()));
  const auto axis = static_cast<size_t>(IntegerOf(operation, "axis"));
  const Shape& shape = operation.operand(1)->shape();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i != axis && SurelyBelow(data.shape()[i] - shape[i], 0)) {
      return Mismatch("operand 1: expected dim ", std::to_string(i),
                      " of at most ", data.shape()[i].ToString(),
                      " as in operand 0, found ", shape[i].ToString());
    }
  }
  return OkStatus();
}

InferredTypes InferGatherElements(const Operation& operation) {
  EMBER_RETURN_IF_ERROR(CheckElementwiseIndices(operation));
  return OneType(operation.operand(0)->dtype(), operation.operand(1)->shape());
}

Scalar DefineGatherElements(ElementContext& context, Indices indices) {
  std::vector<Scalar> own(indices.begin(), indices.end());
  own[static_cast<size_t>(IntegerOf(context.operation(), "axis"))] =
      AsIndex(context.Load(1, indices));
  return context.Load(0, own);
}

// Returns the extent of the last dim of the index tensor of gather_nd or
// scatter_nd: the number of the data's dims that one tuple of indices selects.
// Returns an error if the extent is not constant or is above the number of
// those dims.
StatusOr<int64_t> IndexDepth(const Operation& operation, int64_t batch_dims) {
  const Value& data = *operation.operand(0);
  const Value& indices = *operation.operand(1);
  EMBER_RETURN_IF_ERROR(CheckIndexOperand(operation, 1));
  if (indices.rank() < batch_dims + 1) {
    return Mismatch("operand 1: expected rank of at least ",
                    std::to_string(batch_dims + 1), ", found ",
                    ToString(indices.type()));
  }
  const auto depth = indices.shape().back().AsConstant();
  if (!depth || *depth > data.rank() - batch_dims) {
    return Mismatch("operand 1: expected a constant last dim of at most ",
                    std::to_string(data.rank() - batch_dims), ", found ",
                    ToString(indices.type()));
  }
  return *depth;
}

InferredTypes InferGatherNd(const Operation& operation) {
  const Value& data = *operation.operand(0);
  const Value& indices = *operation.operand(1);
  const int64_t batch_dims = IntegerOr(operation, "batch_dims", 0);
  if (batch_dims < 0 || batch_dims > data.rank()) {
    return Mismatch("batch_dims: expected at most ",
                    std::to_string(data.rank()), ", found ",
                    std::to_string(batch_dims));
  }
  EMBER_ASSIGN_OR_RETURN(const int64_t depth,
                         IndexDepth(operation, batch_dims));
  for (size_t i = 0; i < static_cast<size_t>(batch_dims); ++i) {
    EMBER_RETURN_IF_ERROR(
        CheckSameDim(data.shape()[i], "in operand 0", indices.shape()[i],
                     "dim " + std::to_string(i) + " of operand 1"));
  }
  Shape shape(indices.shape().begin(), indices.shape().end() - 1);
  shape.insert(shape.end(), data.shape().begin() + batch_dims + depth,
               data.shape().end());
  return OneType(data.dtype(), std::move(shape));
}

// Reads the tuple of indices at `position` of the index operand, and appends
// its `depth` values to `indices`.
void AppendIndexTuple(ElementContext& context, Indices position, int64_t depth,
                      std::vector<Scalar>& indices) {
  std::vector<Scalar> place(position.begin(), position.end());
  place.emplace_back();
  for (int64_t i = 0; i < depth; ++i) {
    place.back() = context.Index(i);
    indices.push_back(AsIndex(context.Load(1, place)));
  }
}

Scalar DefineGatherNd(ElementContext& context, Indices indices) {
  const Operation& operation = context.operation();
  const Shape& index_shape = operation.operand(1)->shape();
  const int64_t batch_dims = IntegerOr(operation, "batch_dims", 0);
  const size_t leading = index_shape.size() - 1;
  std::vector<Scalar> own(indices.begin(), indices.begin() + batch_dims);
  AppendIndexTuple(context, indices.first(leading),
                   index_shape.back().constant(), own);
  own.insert(own.end(), indices.begin() + leading, indices.end());
  return context.Load(0, own);
}

struct NamedUpdate {
  std::string_view name;
  tensor::Update update;
};
constexpr NamedUpdate kUpdates[] = {
    {"assign", tensor::Update::kAssign},
    {"add", tensor::Update::kAdd},
    {"multiply", tensor::Update::kMultiply},
    {"minimum", tensor::Update::kMinimum},
    {"maximum", tensor::Update::kMaximum},
};

const NamedUpdate* FindUpdate(std::string_view name) {
  for (const NamedUpdate& update : kUpdates) {
    if (update.name == name) return &update;
  }
  return nullptr;
}

Status CheckUpdate(const Operation& operation) {
  const NamedUpdate* update = FindUpdate(StringOf(operation, "update"));
  if (update == nullptr) {
    return Mismatch(
        "update: expected assign, add, multiply, minimum or maximum, found '",
        StringOf(operation, "update"), "'");
  }
  const bool arithmetic = update->update == tensor::Update::kAdd ||
                          update->update == tensor::Update::kMultiply;
  if (arithmetic && operation.operand(0)->dtype() == DType::kBool) {
    return Mismatch("operand 0: expected numbers for update ", update->name,
                    ", found bool");
  }
  return CheckSameDType(operation, 0, 2);
}

Status CheckUpdatesShape(const Operation& operation, const Shape& expected) {
  const Value& updates = *operation.operand(2);
  if (updates.shape() == expected) return OkStatus();
  return Mismatch("operand 2: expected shape ", ShapeToString(expected),
                  ", found ", ToString(updates.type()));
}

InferredTypes InferScatterElements(const Operation& operation) {
  EMBER_RETURN_IF_ERROR(CheckUpdate(operation));
  EMBER_RETURN_IF_ERROR(CheckElementwiseIndices(operation));
  EMBER_RETURN_IF_ERROR(
      CheckUpdatesShape(operation, operation.operand(1)->shape()));
  return OneType(operation.operand(0)->dtype(), operation.operand(0)->shape());
}

InferredTypes InferScatterNd(const Operation& operation) {
  EMBER_RETURN_IF_ERROR(CheckUpdate(operation));
  const Shape& data = operation.operand(0)->shape();
  const Shape& indices = operation.operand(1)->shape();
  EMBER_ASSIGN_OR_RETURN(const int64_t depth, IndexDepth(operation, 0));
  Shape expected(indices.begin(), indices.end() - 1);
  expected.insert(expected.end(), data.begin() + depth, data.end());
  EMBER_RETURN_IF_ERROR(CheckUpdatesShape(operation, expected));
  return OneType(operation.operand(0)->dtype(), data);
}

std::vector<Scalar> SpatialAxes(StageContext& stage, const Shape& shape) {
  std::vector<Scalar> axes;
  for (const Dim& dim : shape) axes.push_back(stage.SpatialAxis(dim));
  return axes;
}

// Adds the first stage of a scatter, which copies the data; a later stage
// stores the updates over it.
void CopyData(StagesContext& context) {
  StageContext& stage = context.AddStage();
  const auto axes = SpatialAxes(stage, context.operation().operand(0)->shape());
  stage.Yield(stage.Load(0, axes), 0, axes);
}

void DefineScatterElements(StagesContext& context) {
  CopyData(context);
  const Operation& operation = context.operation();
  StageContext& stage = context.AddStage();
  const auto axes = SpatialAxes(stage, operation.operand(2)->shape());
  std::vector<Scalar> place = axes;
  place[static_cast<size_t>(IntegerOf(operation, "axis"))] =
      AsIndex(stage.Load(1, axes));
  stage.Yield(stage.Load(2, axes), 0, place, tensor::Combiner::kNone,
              FindUpdate(StringOf(operation, "update"))->update);
}

void DefineScatterNd(StagesContext& context) {
  CopyData(context);
  const Operation& operation = context.operation();
  const Shape& indices = operation.operand(1)->shape();
  StageContext& stage = context.AddStage();
  const auto axes = SpatialAxes(stage, operation.operand(2)->shape());
  const size_t leading = indices.size() - 1;
  std::vector<Scalar> place;
  AppendIndexTuple(stage, Indices(axes).first(leading),
                   indices.back().constant(), place);
  place.insert(place.end(), axes.begin() + static_cast<std::ptrdiff_t>(leading),
               axes.end());
  stage.Yield(stage.Load(2, axes), 0, place, tensor::Combiner::kNone,
              FindUpdate(StringOf(operation, "update"))->update);
}

constexpr AttributeSpec kAxisAttributes[] = {
    {"axis", AttributeKind::kInteger, true,
     "The dim of the data that indices are for."},
};
constexpr AttributeSpec kGatherNdAttributes[] = {
    {"batch_dims", AttributeKind::kInteger, false,
     "Leading dims that go together; default 0."},
};
constexpr AttributeSpec kScatterElementsAttributes[] = {
    {"axis", AttributeKind::kInteger, true,
     "The dim of the data that indices are for."},
    {"update", AttributeKind::kString, true,
     "assign, add, multiply, minimum or maximum."},
};
constexpr AttributeSpec kScatterNdAttributes[] = {
    {"update", AttributeKind::kString, true,
     "assign, add, multiply, minimum or maximum."},
};

const OperatorRecord kRecords[] = {
    {.name = "gather",
     .doc = "(data, indices): the slices of data at the indices along an axis, "
            "as numpy.take.",
     .minimum_operands = 2,
     .maximum_operands = 2,
     .attributes = kAxisAttributes,
     .result_memory = ResultMemory::kGiven,
     .reading = Reading::kByData,
     .infer = InferGather,
     .definition = {.element = DefineGather}},
    {.name = "gather_elements",
     .doc = "(data, indices): data[i, …, indices[i, …, j, …], …].",
     .minimum_operands = 2,
     .maximum_operands = 2,
     .attributes = kAxisAttributes,
     .result_memory = ResultMemory::kGiven,
     .reading = Reading::kByData,
     .infer = InferGatherElements,
     .definition = {.element = DefineGatherElements}},
    {.name = "gather_nd",
     .doc = "(data, indices): the slices of data at the tuples in indices' "
            "last dim.",
     .minimum_operands = 2,
     .maximum_operands = 2,
     .attributes = kGatherNdAttributes,
     .result_memory = ResultMemory::kGiven,
     .reading = Reading::kByData,
     .infer = InferGatherNd,
     .definition = {.element = DefineGatherNd}},
    {.name = "scatter_elements",
     .doc = "(data, indices, updates): data with updates[i] put at indices[i] "
            "along an axis.",
     .minimum_operands = 3,
     .maximum_operands = 3,
     .attributes = kScatterElementsAttributes,
     .result_memory = ResultMemory::kGiven,
     .reading = Reading::kByData,
     .infer = InferScatterElements,
     .definition = {.stages = DefineScatterElements}},
    {.name = "scatter_nd",
     .doc = "(data, indices, updates): data with slices put at the tuples in "
            "indices' last dim.",
     .minimum_operands = 3,
     .maximum_operands = 3,
     .attributes = kScatterNdAttributes,
     .result_memory = ResultMemory::kGiven,
     .reading = Reading::kByData,
     .infer = InferScatterNd,
     .definition = {.stages = DefineScatterNd}},
};

}  // namespace

std::span<const OperatorRecord> IndexedOperators() { return kRecords; }

}  // namespace ember::graph
