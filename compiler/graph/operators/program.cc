// Defines operators that the program runs itself, between dispatches: control
// flow (if, loop), sizes that depend on data (extents), and the few
// computations that are no tensor expressions (calls of library functions).
//
// Shapes of results that depend on data use their own symbols, listed in
// `defines` in the order in which the operation gives them values. Regions are
// closed: the values that they use are passed to them, in order, as operands
// ("captures").
//
//   loop:  carried values go in and come out of every iteration; scanned ones
//   are passed to the body one slice along their first dim at a time; results of
//   the body after the carried values are stacked along a new first dim.
//   The body is body(iteration: i64[], carried…, scanned slices…, captures…)
//   -> ([continue: bool[],] carried…, stacked…). With conditional = 1 the first
//   operands are limit: i64[] and condition: bool[], and `trip` is a symbol
//   that the loop defines. Dims of carried values that change from iteration to
//   iteration are symbols of the body, listed in `varying`.
//   `shapes` (of if, loop): dims of all results, one result after the other.
#include "compiler/graph/operators/support.h"
#include "compiler/graph/operators/symbols.h"

namespace ember::graph {
namespace {

bool Contains(const Shape& dims, const Dim& dim) {
  for (const Dim& candidate : dims) {
    if (candidate == dim) return true;
  }
  return false;
}

Status CheckSymbols(const Shape& dims, std::string_view attribute) {
  for (const Dim& dim : dims) {
    const std::set<std::string> symbols = dim.Symbols();
    if (symbols.size() != 1 || dim != Dim::Symbol(*symbols.begin())) {
      return Mismatch(attribute, ": expected symbols, found ", dim.ToString());
    }
  }
  return OkStatus();
}

Status CheckDefineCount(const Operation& operation, size_t expected) {
  const Shape& defines = ShapeOf(operation, "defines");
  EMBER_RETURN_IF_ERROR(CheckSymbols(defines, "defines"));
  return CheckLength(defines.size(), "defines", expected);
}

Status CheckScalar(const Value& value, DType dtype, std::string_view what) {
  if (value.type() == TensorType{dtype, {}}) return OkStatus();
  return Mismatch(what, ": expected ", ToString({dtype, {}}), ", found ",
                  ToString(value.type()));
}

Status CheckSameType(const Value& expected, const Value& found,
                     std::string_view what) {
  if (expected.type() == found.type()) return OkStatus();
  return Mismatch(what, ": expected ", ToString(expected.type()), ", found ",
                  ToString(found.type()));
}

Status CheckCounts(size_t expected, size_t found, std::string_view what) {
  if (expected == found) return OkStatus();
  return Mismatch("expected ", std::to_string(expected), " ", what, ", found ",
                  std::to_string(found));
}

// Reads the attribute `shapes` of an `if` or loop, which holds the dims of all
// results, one result after the other.
class ResultShapes {
 public:
  explicit ResultShapes(const Operation& operation)
      : shapes_(ShapeOf(operation, "shapes")),
        defines_(ShapeOf(operation, "defines")) {
    for (const auto& region : operation.regions())
      inner_.merge(SymbolsDefinedIn(*region));
    if (const Attribute* varying = operation.attributes().Find("varying"))
      CollectSymbols(std::get<Shape>(*varying), inner_);
  }

  // Returns the shape of the next result. `sources` are the shapes that this
  // result has inside the regions (for an `if`, one for each branch). If a dim
  // is the same in all of them and known outside, the result has this dim;
  // otherwise it must be a symbol that the operation defines.
  StatusOr<Shape> Next(const std::vector<Shape>& sources) {
    Shape shape;
    for (size_t i = 0; i < sources[0].size(); ++i) {
      if (next_ == shapes_.size())
        return Mismatch("shapes: expected more dims, found ",
                        std::to_string(shapes_.size()));
      const Dim& dim = shapes_[next_++];
      if (!Contains(defines_, dim)) {
        for (const Shape& source : sources) {
          if (source[i] == dim && IsKnownOutside(dim)) continue;
          return Mismatch("shapes: expected ", dim.ToString(),
                          " in the region, found ", source[i].ToString());
        }
      }
      shape.push_back(dim);
    }
    return shape;
  }
  Status End() const {
    return CheckCounts(shapes_.size(), next_, "dims in all results");
  }

 private:
  bool IsKnownOutside(const Dim& dim) const {
    for (const std::string& symbol : dim.Symbols()) {
      if (inner_.contains(symbol)) return false;
    }
    return true;
  }

  const Shape& shapes_;
  const Shape& defines_;
  std::set<std::string> inner_;
  size_t next_ = 0;
};

InferredTypes InferExtents(const Operation& operation) {
  EMBER_RETURN_IF_ERROR(CheckRank(operation, 0, 1));
  EMBER_RETURN_IF_ERROR(CheckIndexOperand(operation, 0));
  const Dim& count = operation.operand(0)->shape()[0];
  if (!count.is_constant())
    return Mismatch("expected a constant number of elements, found ",
                    count.ToString());
  EMBER_RETURN_IF_ERROR(
      CheckDefineCount(operation, static_cast<size_t>(count.constant())));
  return OneType(DType::kI64, operation.operand(0)->shape());
}

InferredTypes InferIf(const Operation& operation) {
  EMBER_RETURN_IF_ERROR(
      CheckScalar(*operation.operand(0), DType::kBool, "condition"));
  EMBER_RETURN_IF_ERROR(CheckSymbols(ShapeOf(operation, "defines"), "defines"));
  const auto captures = operation.operands().subspan(1);
  const Graph& then = *operation.regions()[0];
  const Graph& otherwise = *operation.regions()[1];
  for (const Graph* region : {&then, &otherwise}) {
    EMBER_RETURN_IF_ERROR(CheckCounts(captures.size(), region->inputs().size(),
                                      "inputs of each region"));
    for (size_t i = 0; i < captures.size(); ++i) {
      EMBER_RETURN_IF_ERROR(CheckSameType(*captures[i], *region->inputs()[i],
                                          "input of a region"));
    }
  }
  EMBER_RETURN_IF_ERROR(CheckCounts(
      then.outputs().size(), otherwise.outputs().size(), "outputs of else"));
  ResultShapes shapes(operation);
  std::vector<TensorType> types;
  for (size_t i = 0; i < then.outputs().size(); ++i) {
    const Value& a = *then.outputs()[i];
    const Value& b = *otherwise.outputs()[i];
    if (a.dtype() != b.dtype() || a.rank() != b.rank()) {
      return Mismatch("output ", std::to_string(i),
                      ": expected one type and rank from both branches, found ",
                      ToString(a.type()), " and ", ToString(b.type()));
    }
    EMBER_ASSIGN_OR_RETURN(Shape shape, shapes.Next({a.shape(), b.shape()}));
    types.push_back({a.dtype(), std::move(shape)});
  }
  EMBER_RETURN_IF_ERROR(shapes.End());
  return types;
}

// Checks that the inputs of a loop's body have the types that follow from the
// loop's operands.
Status CheckLoopInputs(const Operation& operation, const LoopParts& parts) {
  const Graph& body = *operation.regions()[0];
  const Shape& varying = ShapeOf(operation, "varying");
  EMBER_RETURN_IF_ERROR(CheckSymbols(varying, "varying"));
  if (parts.conditional) {
    EMBER_RETURN_IF_ERROR(
        CheckScalar(*operation.operand(0), DType::kI64, "limit"));
    EMBER_RETURN_IF_ERROR(
        CheckScalar(*operation.operand(1), DType::kBool, "condition"));
  }
  EMBER_RETURN_IF_ERROR(CheckCounts(
      1 + parts.carried.size() + parts.scanned.size() + parts.captured.size(),
      body.inputs().size(), "inputs of the body"));
  EMBER_RETURN_IF_ERROR(
      CheckScalar(*body.inputs()[0], DType::kI64, "iteration"));
  size_t next = 1;
  for (const Value* initial : parts.carried) {
    const Value& inside = *body.inputs()[next++];
    bool same =
        initial->dtype() == inside.dtype() && initial->rank() == inside.rank();
    for (int d = 0; same && d < inside.rank(); ++d) {
      same = inside.shape()[d] == initial->shape()[d] ||
             Contains(varying, inside.shape()[d]);
    }
    if (!same)
      EMBER_RETURN_IF_ERROR(CheckSameType(*initial, inside, "carried"));
  }
  const Dim& trip = ShapeOf(operation, "trip")[0];
  for (const Value* scanned : parts.scanned) {
    if (scanned->rank() == 0 || scanned->shape()[0] != trip)
      return Mismatch("scanned: expected a first dim of ", trip.ToString(),
                      ", found ", ToString(scanned->type()));
    const Value& inside = *body.inputs()[next++];
    const TensorType slice{scanned->dtype(), Shape(scanned->shape().begin() + 1,
                                                   scanned->shape().end())};
    if (inside.type() != slice)
      return Mismatch("scanned slice: expected ", ToString(slice), ", found ",
                      ToString(inside.type()));
  }
  for (const Value* captured : parts.captured) {
    EMBER_RETURN_IF_ERROR(
        CheckSameType(*captured, *body.inputs()[next++], "captured"));
  }
  return OkStatus();
}

InferredTypes InferLoop(const Operation& operation) {
  const int64_t carried = IntegerOf(operation, "carried");
  const int64_t scanned = IntegerOf(operation, "scanned");
  const int64_t conditional = IntegerOf(operation, "conditional");
  const Shape& trip = ShapeOf(operation, "trip");
  const Shape& defines = ShapeOf(operation, "defines");
  const Shape& varying = ShapeOf(operation, "varying");
  EMBER_RETURN_IF_ERROR(CheckLength(trip.size(), "trip", 1));
  EMBER_RETURN_IF_ERROR(CheckSymbols(defines, "defines"));
  if (carried < 0 || scanned < 0 || conditional < 0 || conditional > 1 ||
      carried + scanned + 2 * conditional > operation.operand_count()) {
    return Mismatch("expected as many operands as carried and scanned say");
  }
  if ((conditional == 1) != Contains(defines, trip[0]))
    return Mismatch("trip: expected a dim that the loop defines if it is ",
                    "conditional, and only then");
  const LoopParts parts(operation);
  EMBER_RETURN_IF_ERROR(CheckLoopInputs(operation, parts));
  const Graph& body = *operation.regions()[0];
  const auto outputs = body.outputs();
  const auto first = static_cast<size_t>(conditional);
  if (outputs.size() < first + parts.carried.size())
    return Mismatch("expected more outputs of the body, found ",
                    std::to_string(outputs.size()));
  if (parts.conditional) {
    EMBER_RETURN_IF_ERROR(CheckScalar(*outputs[0], DType::kBool, "continue"));
  }
  ResultShapes shapes(operation);
  std::vector<TensorType> types;
  for (size_t i = first; i < outputs.size(); ++i) {
    const Value& inside = *outputs[i];
    const size_t number = i - first;
    if (number >= parts.carried.size()) {
      Shape stacked = inside.shape();
      stacked.insert(stacked.begin(), trip[0]);
      EMBER_ASSIGN_OR_RETURN(Shape shape, shapes.Next({stacked}));
      types.push_back({inside.dtype(), std::move(shape)});
      continue;
    }
    const Value& input = *body.inputs()[1 + number];
    bool same =
        inside.dtype() == input.dtype() && inside.rank() == input.rank();
    for (int d = 0; same && d < input.rank(); ++d) {
      same = inside.shape()[d] == input.shape()[d] ||
             Contains(varying, input.shape()[d]);
    }
    if (!same)
      EMBER_RETURN_IF_ERROR(CheckSameType(input, inside, "carried output"));
    EMBER_ASSIGN_OR_RETURN(
        Shape shape,
        shapes.Next({inside.shape(), parts.carried[number]->shape()}));
    types.push_back({inside.dtype(), std::move(shape)});
  }
  EMBER_RETURN_IF_ERROR(shapes.End());
  return types;
}

InferredTypes InferTopK(const Operation& operation) {
  const Value& x = *operation.operand(0);
  EMBER_RETURN_IF_ERROR(CheckAxis(operation, "axis", x.rank()));
  const Shape& k = ShapeOf(operation, "k");
  EMBER_RETURN_IF_ERROR(CheckLength(k.size(), "k", 1));
  Shape shape = x.shape();
  shape[static_cast<size_t>(IntegerOf(operation, "axis"))] = k[0];
  return std::vector<TensorType>{{x.dtype(), shape}, {DType::kI64, shape}};
}

InferredTypes InferNonZero(const Operation& operation) {
  EMBER_RETURN_IF_ERROR(CheckDefineCount(operation, 1));
  return OneType(DType::kI64, {ShapeOf(operation, "defines")[0]});
}

InferredTypes InferUnique(const Operation& operation) {
  EMBER_RETURN_IF_ERROR(CheckRank(operation, 0, 2));
  EMBER_RETURN_IF_ERROR(CheckDefineCount(operation, 1));
  const Value& x = *operation.operand(0);
  const Dim& count = ShapeOf(operation, "defines")[0];
  return std::vector<TensorType>{{x.dtype(), {count, x.shape()[1]}},
                                 {DType::kI64, {count}},
                                 {DType::kI64, {x.shape()[0]}},
                                 {DType::kI64, {count}}};
}

InferredTypes InferNonMaxSuppression(const Operation& operation) {
  EMBER_RETURN_IF_ERROR(CheckDefineCount(operation, 1));
  EMBER_RETURN_IF_ERROR(CheckRank(operation, 0, 3));
  EMBER_RETURN_IF_ERROR(CheckRank(operation, 1, 3));
  EMBER_RETURN_IF_ERROR(CheckRank(operation, 2, 1));
  EMBER_RETURN_IF_ERROR(
      CheckLength(ShapeOf(operation, "most").size(), "most", 1));
  const Shape& boxes = operation.operand(0)->shape();
  const Shape& scores = operation.operand(1)->shape();
  for (const Value* operand : operation.operands()) {
    if (operand->dtype() != DType::kF32)
      return Mismatch("expected operands of type f32, found ",
                      DTypeName(operand->dtype()));
  }
  EMBER_RETURN_IF_ERROR(
      CheckSameDim(boxes[0], "boxes' batches", scores[0], "scores' batches"));
  EMBER_RETURN_IF_ERROR(
      CheckSameDim(boxes[1], "boxes", scores[2], "scores' boxes"));
  if (boxes[2] != Dim(4)) {
    return Mismatch("boxes: expected 4 numbers for each, found ",
                    boxes[2].ToString());
  }
  const Dim& thresholds = operation.operand(2)->shape()[0];
  if (thresholds != Dim(2))
    return Mismatch("expected 2 thresholds, found ", thresholds.ToString());
  return OneType(DType::kI64, {ShapeOf(operation, "defines")[0], Dim(3)});
}

InferredTypes InferDecodeImage(const Operation& operation) {
  EMBER_RETURN_IF_ERROR(CheckDefineCount(operation, 2));
  EMBER_RETURN_IF_ERROR(CheckRank(operation, 0, 1));
  const Value& file = *operation.operand(0);
  if (file.dtype() != DType::kU8) {
    return Mismatch("expected a file of type u8, found ",
                    DTypeName(file.dtype()));
  }
  const int64_t order = IntegerOf(operation, "order");
  if (order < 0 || order > 2)
    return Mismatch("order: expected 0 to 2, found ", order);
  const Shape& extents = ShapeOf(operation, "defines");
  return OneType(DType::kU8, {extents[0], extents[1], Dim(order == 2 ? 1 : 3)});
}

constexpr AttributeSpec kDefines = {"defines", AttributeKind::kShape, true,
                                    "Symbols that get their values here."};
constexpr AttributeSpec kShapes = {"shapes", AttributeKind::kShape, true,
                                   "Dims of all results, in order."};
constexpr AttributeSpec kExtentsAttributes[] = {
    kDefines,
    {"message", AttributeKind::kString, false,
     "Makes it a check: the error of the run if an element is negative."},
    {"not_one", AttributeKind::kShape, false,
     "For a check: the dims that it assumes not to be 1."},
};
constexpr AttributeSpec kIfAttributes[] = {kDefines, kShapes};
constexpr AttributeSpec kLoopAttributes[] = {
    {"carried", AttributeKind::kInteger, true, "The number of carried values."},
    {"scanned", AttributeKind::kInteger, true,
     "The number of scanned operands."},
    {"conditional", AttributeKind::kInteger, true,
     "1: ends at a limit or when the body says so."},
    {"trip", AttributeKind::kShape, true, "The number of iterations: one dim."},
    {"varying", AttributeKind::kShape, true,
     "Symbols of the body for dims that change."},
    kDefines,
    kShapes,
};
constexpr AttributeSpec kTopKAttributes[] = {
    {"axis", AttributeKind::kInteger, true,
     "The axis along which elements are compared."},
    {"k", AttributeKind::kShape, true, "The number of kept elements: one dim."},
    {"largest", AttributeKind::kInteger, true, "0: the smallest ones."},
};
constexpr AttributeSpec kNonZeroAttributes[] = {kDefines};
constexpr AttributeSpec kUniqueAttributes[] = {
    kDefines,
    {"sorted", AttributeKind::kInteger, true,
     "0: in order of first appearance."},
};
constexpr AttributeSpec kNonMaxSuppressionAttributes[] = {
    kDefines,
    {"most", AttributeKind::kShape, true, "Boxes per class at most: one dim."},
    {"centered", AttributeKind::kInteger, true,
     "1: boxes are center and size, else corners."},
};
constexpr AttributeSpec kDecodeImageAttributes[] = {
    kDefines,
    {"order", AttributeKind::kInteger, true,
     "The order of channels: 0 RGB, 1 BGR, 2 grey."},
};

constexpr std::string_view kIfRegions[] = {"then", "else"};
constexpr std::string_view kLoopRegions[] = {"body"};

constexpr CallOperand kTopKCall[] = {
    TypeOf(0),         BeforeAxis(0, "axis"),
    AxisOf(0, "axis"), BehindAxis(0, "axis"),
    ExtentIn("k"),     IntegerIn("largest"),
    MemoryOf(0),       ResultMemoryOf(0),
    ResultMemoryOf(1),
};
constexpr CallOperand kNonZeroCall[] = {
    TypeOf(0), CountOf(0), MemoryOf(0), ResultMemoryOf(0), Found(),
};
constexpr CallOperand kUniqueCall[] = {
    TypeOf(0),         DimOf(0, 0),
    DimOf(0, 1),       IntegerIn("sorted"),
    MemoryOf(0),       ResultMemoryOf(0),
    ResultMemoryOf(1), ResultMemoryOf(2),
    ResultMemoryOf(3), Found(),
};
constexpr CallOperand kNonMaxSuppressionCall[] = {
    DimOf(1, 0),           DimOf(1, 1), DimOf(1, 2), ExtentIn("most"),
    IntegerIn("centered"), MemoryOf(0), MemoryOf(1), MemoryOf(2),
    ResultMemoryOf(0),     Found(),
};
constexpr CallOperand kDecodeImageCall[] = {
    IntegerIn("order"), CountOf(0), MemoryOf(0),
    ResultMemoryOf(0),  Found(0),   Found(1),
};

const OperatorRecord kRecords[] = {
    {.name = "extents",
     .doc = "Gives symbols the values of a small tensor's elements, which must "
            "be at least 0. The result is the tensor itself. With a message it "
            "stays though nothing uses the symbols.",
     .minimum_operands = 1,
     .maximum_operands = 1,
     .attributes = kExtentsAttributes,
     .trait = OperatorTrait::kProgram,
     .result_memory = ResultMemory::kOperand,
     .form = ProgramForm::kSizes,
     .infer = InferExtents},
    {.name = "if",
     .doc = "The results of `then` if the condition holds, else of `else`.",
     .minimum_operands = 1,
     .maximum_operands = -1,
     .attributes = kIfAttributes,
     .trait = OperatorTrait::kProgram,
     .result_memory = ResultMemory::kMade,
     .form = ProgramForm::kBranch,
     .infer = InferIf,
     .regions = kIfRegions},
    {.name = "loop",
     .doc = "Runs its body again and again.",
     .minimum_operands = 0,
     .maximum_operands = -1,
     .attributes = kLoopAttributes,
     .trait = OperatorTrait::kProgram,
     .result_memory = ResultMemory::kMade,
     .form = ProgramForm::kLoop,
     .infer = InferLoop,
     .regions = kLoopRegions},
    {.name = "top_k",
     .doc = "The k largest or smallest elements along an axis, best first, and "
            "their indices; ties by lower index.",
     .minimum_operands = 1,
     .maximum_operands = 1,
     .attributes = kTopKAttributes,
     .trait = OperatorTrait::kProgram,
     .result_memory = ResultMemory::kGiven,
     .form = ProgramForm::kCall,
     .call = {"top_k", kTopKCall},
     .infer = InferTopK},
    {.name = "non_zero",
     .doc = "Row-major positions of the elements that are not zero.",
     .minimum_operands = 1,
     .maximum_operands = 1,
     .attributes = kNonZeroAttributes,
     .trait = OperatorTrait::kProgram,
     .result_memory = ResultMemory::kMade,
     .form = ProgramForm::kCall,
     .call = {"non_zero", kNonZeroCall},
     .infer = InferNonZero},
    {.name = "unique",
     .doc = "The different rows of x[n, width]; where each occurs first; the "
            "number of each row's value; how often each value occurs.",
     .minimum_operands = 1,
     .maximum_operands = 1,
     .attributes = kUniqueAttributes,
     .trait = OperatorTrait::kProgram,
     .result_memory = ResultMemory::kMade,
     .form = ProgramForm::kCall,
     .call = {"unique", kUniqueCall},
     .infer = InferUnique},
    {.name = "non_max_suppression",
     .doc = "Boxes [n, b, 4], scores [n, classes, b], thresholds (overlap, "
            "score) -> (batch, class, box) of the boxes kept.",
     .minimum_operands = 3,
     .maximum_operands = 3,
     .attributes = kNonMaxSuppressionAttributes,
     .trait = OperatorTrait::kProgram,
     .result_memory = ResultMemory::kMade,
     .form = ProgramForm::kCall,
     .call = {"non_max_suppression", kNonMaxSuppressionCall},
     .infer = InferNonMaxSuppression},
    {.name = "decode_image",
     .doc = "The pixels [height, width, channels] of a picture file. Both "
            "extents are 0 if the bytes cannot be decoded.",
     .minimum_operands = 1,
     .maximum_operands = 1,
     .attributes = kDecodeImageAttributes,
     .trait = OperatorTrait::kProgram,
     .result_memory = ResultMemory::kMade,
     .form = ProgramForm::kCall,
     .call = {"decode_image", kDecodeImageCall},
     .infer = InferDecodeImage},
};

}  // namespace

LoopParts::LoopParts(const Operation& operation)
    : conditional(IntegerOf(operation, "conditional") == 1) {
  const auto carried_count =
      static_cast<size_t>(IntegerOf(operation, "carried"));
  const auto scanned_count =
      static_cast<size_t>(IntegerOf(operation, "scanned"));
  const auto operands = operation.operands().subspan(conditional ? 2 : 0);
  carried = operands.subspan(0, carried_count);
  scanned = operands.subspan(carried_count, scanned_count);
  captured = operands.subspan(carried_count + scanned_count);
}

int FirstCapturedInput(const Operation& operation) {
  if (operation.name() != "loop") return 0;
  const LoopParts parts(operation);
  return static_cast<int>(1 + parts.carried.size() + parts.scanned.size());
}

std::span<const OperatorRecord> ProgramOperators() { return kRecords; }

}  // namespace ember::graph
