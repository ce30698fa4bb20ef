// Imports reductions with any region: of dims and of windows, and
// select_and_scatter.
#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/graph/builder/control_flow.h"
#include "frontends/ops/compositions.h"
#include "frontends/stablehlo/operator_table.h"
#include "frontends/stablehlo/padding.h"

namespace ember::stablehlo {
namespace {

constexpr int64_t kLargest = int64_t{1} << 40;
// Largest window for a region without a combiner of the graph. The region is
// then applied once per element of the window, so the graph grows with the
// window.
constexpr int64_t kMaxWindow = 4096;

// Returns the graph's combiner ("sum", "maximum" …) for one that CombinerOf
// recognises in a region; empty if the graph has none.
std::string GraphCombiner(std::string_view combiner, DType dtype) {
  const bool boolean = dtype == DType::kBool;
  if (combiner == "maximum" || combiner == "minimum")
    return std::string(combiner);
  if (combiner == "add") return boolean ? "maximum" : "sum";
  if (combiner == "multiply") return boolean ? "minimum" : "product";
  if (combiner == "or" && boolean) return "maximum";
  if (combiner == "and" && boolean) return "minimum";
  return "";
}

Tensor Combine(std::string_view graph_combiner, Tensor a, Tensor b) {
  if (graph_combiner == "sum") return a + b;
  if (graph_combiner == "product") return a * b;
  return graph_combiner == "maximum" ? Maximum(a, b) : Minimum(a, b);
}

// True if the start value of a reduction is a constant and the combiner's
// identity, so that it need not be combined.
bool IsIdentity(const OperationContext& c, Tensor start,
                std::string_view graph_combiner) {
  const auto known = c.builder().ConstantContents(start.value());
  if (!known || known->size() != 1) return false;
  const double value = known->front();
  if (graph_combiner == "sum") return value == 0;
  if (graph_combiner == "product") return value == 1;
  const bool largest = graph_combiner == "maximum";
  if (start.is_float()) return value == (largest ? -INFINITY : INFINITY);
  if (start.dtype() == DType::kBool) return value == (largest ? 0 : 1);
  // ConstantContents returns doubles, which are not exact for 64-bit integers.
  // A 64-bit start value of a maximum or minimum therefore never counts as the
  // identity, and is combined like any other value.
  const int bits = 8 * DTypeByteSize(start.dtype());
  if (bits == 64) return false;
  const double range = std::ldexp(1.0, bits);
  const bool is_signed = IsSigned(start.dtype());
  const double low = is_signed ? -range / 2 : 0;
  return value == (largest ? low : low + range - 1);
}

// The operands of a reduction, with a start value for each. The function that
// reads them returns false after an error.
struct Reduced {
  std::vector<Tensor> operands, starts;
};
bool ReadReduced(OperationContext& c, const Region& body, Reduced& reduced) {
  const int count = c.operand_count() / 2;
  if (c.operand_count() % 2 != 0 || c.result_count() != count) {
    c.FailInvalid("expected a start and a result for each operand");
    return false;
  }
  reduced.operands = c.Operands(0, count);
  reduced.starts = c.Operands(count, 2 * count);
  if (!c.ok()) return false;
  if (body.arguments.size() != static_cast<size_t>(2 * count)) {
    c.FailInvalid("expected a region of " + std::to_string(2 * count) +
                  " arguments");
    return false;
  }
  for (int i = 0; i < count; ++i) {
    // The result's type, in which elements are combined, may be wider than the
    // operand's.
    const DType type = c.ResultDType(i);
    if (!c.ok()) return false;
    reduced.operands[i] = Cast(reduced.operands[i], type);
    reduced.starts[i] = Cast(reduced.starts[i], type);
    if (reduced.starts[i].rank() != 0 ||
        reduced.operands[i].rank() != reduced.operands[0].rank()) {
      c.FailInvalid(
          "expected scalars to start from, and operands of one "
          "shape");
      return false;
    }
  }
  return true;
}

std::vector<Tensor> RunBody(OperationContext& c, const Region& body,
                            const std::vector<Tensor>& a,
                            const std::vector<Tensor>& b,
                            graph::Region* inside = nullptr) {
  std::vector<Tensor> arguments = a;
  arguments.insert(arguments.end(), b.begin(), b.end());
  std::vector<Tensor> results = c.RunLifted(body, arguments, inside);
  if (results.size() == a.size()) {
    for (size_t i = 0; i < results.size(); ++i)
      results[i] = Broadcast(results[i], a[i].shape());
    return results;
  }
  if (c.ok())
    c.FailInvalid("expected a region that returns " + std::to_string(a.size()) +
                  " values, found " + std::to_string(results.size()));
  return a;
}

std::vector<Tensor> SliceEach(const std::vector<Tensor>& tensors,
                              const Dim& start, const Dim& size) {
  std::vector<Tensor> parts;
  for (const Tensor& tensor : tensors)
    parts.push_back(SliceAxis(tensor, 0, start, size));
  return parts;
}

// Combines all rows into one, halving their number each time. The rows are dim
// 0, whose extent is `extent`, at least 1.
std::vector<Tensor> CombineHalves(OperationContext& c, const Region& body,
                                  std::vector<Tensor> rows, int64_t extent) {
  while (extent > 1 && c.ok()) {
    const int64_t half = extent / 2;
    const std::vector<Tensor> combined =
        RunBody(c, body, SliceEach(rows, Dim(0), Dim(half)),
                SliceEach(rows, Dim(half), Dim(half)));
    if (extent % 2 == 0) {
      rows = combined;
      extent = half;
      continue;
    }
    const std::vector<Tensor> last = SliceEach(rows, Dim(extent - 1), Dim(1));
    for (size_t i = 0; i < rows.size(); ++i)
      rows[i] = Concat({combined[i], last[i]}, 0);
    extent = half + 1;
  }
  return rows;
}

// Combines rows one after the other in a loop, for a number of rows that is
// known only at run time.
std::vector<Tensor> CombineInOrder(OperationContext& c, const Region& body,
                                   const std::vector<Tensor>& rows,
                                   const std::vector<Tensor>& starts) {
  graph::LoopRequest request;
  for (size_t i = 0; i < rows.size(); ++i) {
    Shape shape = rows[i].shape();
    shape.erase(shape.begin());
    request.carried.push_back(Broadcast(starts[i], shape).value());
    request.scanned.push_back(rows[i].value());
  }
  request.trip = rows[0].dim(0);
  const auto results =
      graph::BuildLoop(c.builder(), request,
                       [&](graph::Region& region,
                           const graph::LoopInputs& in) -> graph::LoopOutputs {
                         graph::GraphBuilder& builder = region.builder();
                         builder.SetOrigin(c.builder().origin());
                         const std::vector<Tensor> combined =
                             RunBody(c, body, TensorsOf(builder, in.carried),
                                     TensorsOf(builder, in.scanned), &region);
                         graph::LoopOutputs out;
                         out.carried = ValuesOf(combined);
                         return out;
                       });
  return TensorsOf(c.builder(), results);
}

struct WindowSpec {
  std::vector<int64_t> window, strides, base_dilations, dilations;
  PaddingSpec padding;
  int64_t count = 1;  // Number of elements of a window.
};

bool ReadWindow(OperationContext& c, int rank, WindowSpec& spec) {
  const auto size = static_cast<size_t>(rank);
  spec.window = c.Integers("window_dimensions");
  spec.strides = c.Integers("window_strides");
  spec.base_dilations = c.Integers("base_dilations");
  spec.dilations = c.Integers("window_dilations");
  std::vector<int64_t> padding = c.Integers("padding");
  for (auto* list : {&spec.strides, &spec.base_dilations, &spec.dilations})
    if (list->empty()) list->assign(size, 1);
  if (padding.empty()) padding.assign(2 * size, 0);
  if (spec.window.empty() && !c.Has("window_dimensions"))
    spec.window.assign(size, 1);
  for (const auto& [list, name] :
       {std::pair(&spec.window, "window_dimensions"),
        std::pair(&spec.strides, "window_strides"),
        std::pair(&spec.base_dilations, "base_dilations"),
        std::pair(&spec.dilations, "window_dilations")}) {
    if (!c.CheckLength(*list, name, size) ||
        !c.CheckRange(*list, name, 1, 1 << 24))
      return false;
  }
  if (!c.CheckLength(padding, "padding", 2 * size) ||
      !c.CheckRange(padding, "padding", -kLargest, kLargest))
    return false;
  for (size_t i = 0; i < size; ++i) {
    spec.padding.low.push_back(padding[2 * i]);
    spec.padding.high.push_back(padding[2 * i + 1]);
    spec.padding.interior.push_back(spec.base_dilations[i] - 1);
    spec.count = std::min(spec.count * spec.window[i], kLargest);
  }
  return true;
}

// Returns the number of windows that fit along each dim.
Shape WindowCounts(const Shape& padded, const WindowSpec& spec) {
  Shape counts;
  for (size_t i = 0; i < padded.size(); ++i) {
    const Dim reach((spec.window[i] - 1) * spec.dilations[i] + 1);
    const Dim count =
        FloorDivide(padded[i] - reach, Dim(spec.strides[i])) + Dim(1);
    const auto known = count.AsConstant();
    counts.push_back(known && *known < 0 ? Dim(0) : count);
  }
  return counts;
}

// Returns element `number` of each window.
Tensor WindowElement(Tensor padded, const WindowSpec& spec, const Shape& counts,
                     int64_t number) {
  Shape starts(counts.size(), Dim(0));
  for (size_t i = counts.size(); i-- > 0;) {
    starts[i] = Dim(number % spec.window[i] * spec.dilations[i]);
    number /= spec.window[i];
  }
  return Slice(padded, starts, spec.strides, counts);
}

bool HasNegative(const std::vector<int64_t>& list) {
  return std::any_of(list.begin(), list.end(),
                     [](int64_t value) { return value < 0; });
}

Tensor StandardWindow(OperationContext& c, Tensor x, Tensor start,
                      const std::string& combiner, const WindowSpec& spec) {
  const bool neutral = IsIdentity(c, start, combiner);
  const auto dilated = [](int64_t value) { return value != 1; };
  const bool pads_here = !neutral || HasNegative(spec.padding.low) ||
                         HasNegative(spec.padding.high) ||
                         std::any_of(spec.base_dilations.begin(),
                                     spec.base_dilations.end(), dilated);
  Shape low, high;
  for (size_t i = 0; i < spec.window.size(); ++i) {
    low.push_back(Dim(pads_here ? 0 : spec.padding.low[i]));
    high.push_back(Dim(pads_here ? 0 : spec.padding.high[i]));
  }
  if (pads_here) x = PadAll(c, x, start, spec.padding);
  const DType type = x.dtype();
  const Tensor y = Cast(Apply("reduce_window", {Cast(x, ComputeType(type))},
                              {{"combiner", combiner},
                               {"window", spec.window},
                               {"strides", spec.strides},
                               {"dilations", spec.dilations},
                               {"low", low},
                               {"high", high}}),
                        type);
  return neutral ? y : Combine(combiner, start, y);
}

}  // namespace

void ImportReduce(OperationContext& c) {
  const Region* body = c.FindRegion(0);
  Reduced reduced;
  if (body == nullptr || !ReadReduced(c, *body, reduced)) return;
  const std::vector<int64_t> axes = c.Integers("dimensions");
  const Tensor x = reduced.operands[0];
  if (!c.CheckAxes(axes, "dimensions", x.rank())) return;
  const size_t count = reduced.operands.size();
  const std::string combiner =
      count == 1 ? GraphCombiner(CombinerOf(*body), x.dtype()) : "";
  if (!combiner.empty()) {
    const Tensor y = Reduce(x, combiner, axes, false);
    return c.SetResult(IsIdentity(c, reduced.starts[0], combiner)
                           ? y
                           : Combine(combiner, reduced.starts[0], y));
  }
  // Permutes the operands so that the reduced dims are first, and merges these
  // dims into one.
  std::vector<int64_t> order = axes;
  std::sort(order.begin(), order.end());
  Dim extent(1);
  for (const int64_t axis : order)
    extent = extent * x.dim(static_cast<int>(axis));
  Shape shape{extent}, kept;
  for (int i = 0; i < x.rank(); ++i) {
    if (Contains(axes, i)) continue;
    order.push_back(i);
    shape.push_back(x.dim(i));
    kept.push_back(x.dim(i));
  }
  std::vector<Tensor> rows;
  for (const Tensor& operand : reduced.operands)
    rows.push_back(Reshape(Transpose(operand, order), shape));
  std::vector<Tensor> starts;
  for (const Tensor& start : reduced.starts)
    starts.push_back(Broadcast(start, kept));
  std::vector<Tensor> results = starts;
  if (!extent.is_constant()) {
    results = CombineInOrder(c, *body, rows, starts);
  } else if (extent.constant() > 0) {
    for (Tensor& row : rows = CombineHalves(c, *body, rows, extent.constant()))
      row = Reshape(row, kept);
    results = RunBody(c, *body, starts, rows);
  }
  if (!c.ok()) return;
  for (size_t i = 0; i < count && i < results.size(); ++i)
    c.SetResult(static_cast<int>(i), results[i]);
}

void ImportReduceWindow(OperationContext& c) {
  const Region* body = c.FindRegion(0);
  Reduced reduced;
  WindowSpec spec;
  if (body == nullptr || !ReadReduced(c, *body, reduced) ||
      !ReadWindow(c, reduced.operands[0].rank(), spec))
    return;
  const size_t count = reduced.operands.size();
  const std::string combiner =
      count == 1 ? GraphCombiner(CombinerOf(*body), reduced.operands[0].dtype())
                 : "";
  if (!combiner.empty())
    return c.SetResult(StandardWindow(c, reduced.operands[0], reduced.starts[0],
                                      combiner, spec));
  if (spec.count > kMaxWindow)
    return c.FailUnsupported("window_dimensions: expected at most " +
                             std::to_string(kMaxWindow) +
                             " elements in a window that this region combines");
  std::vector<Tensor> padded, results;
  for (size_t i = 0; i < count; ++i)
    padded.push_back(
        PadAll(c, reduced.operands[i], reduced.starts[i], spec.padding));
  if (!c.ok()) return;
  const Shape counts = WindowCounts(padded[0].shape(), spec);
  for (const Tensor& start : reduced.starts)
    results.push_back(Broadcast(start, counts));
  for (int64_t number = 0; number < spec.count && c.ok(); ++number) {
    std::vector<Tensor> next;
    for (const Tensor& tensor : padded)
      next.push_back(WindowElement(tensor, spec, counts, number));
    results = RunBody(c, *body, results, next);
  }
  for (size_t i = 0; i < count && c.ok(); ++i)
    c.SetResult(static_cast<int>(i), results[i]);
}

// Imports select_and_scatter. The first region selects an element of each
// window. The second region combines the source's value into that element.
void ImportSelectAndScatter(OperationContext& c) {
  const Region* choose = c.FindRegion(0);
  const Region* scatter = c.FindRegion(1);
  const Tensor x = c.Operand(0), source = c.Operand(1), start = c.Operand(2);
  WindowSpec spec;
  if (choose == nullptr || scatter == nullptr || !c.ok() ||
      !ReadWindow(c, x.rank(), spec))
    return;
  if (spec.count > kMaxWindow)
    return c.FailUnsupported("window_dimensions: expected at most " +
                             std::to_string(kMaxWindow) + " elements");
  const std::string_view combiner = CombinerOf(*scatter);
  if (combiner != "add" || x.dtype() == DType::kBool)
    return c.FailUnsupported("expected a scatter region that adds");
  const Dim size = graph::ElementCount(x.shape());
  // Elements of the padding get an index outside of the operand, so that
  // nothing is added there.
  const Tensor nowhere = ops::DimScalar(c.builder(), size);
  const Tensor places =
      Reshape(IotaVector(c.builder(), size, DType::kI64), x.shape());
  const Tensor values = PadAll(c, x, x.Like(0), spec.padding);
  const Tensor indices = PadAll(c, places, nowhere, spec.padding);
  if (!c.ok()) return;
  const Shape counts = WindowCounts(values.shape(), spec);
  if (counts != source.shape())
    return c.FailInvalid("operand 1: expected shape " +
                         graph::ShapeToString(counts) + ", found " +
                         graph::ShapeToString(source.shape()));
  Tensor best = WindowElement(values, spec, counts, 0);
  Tensor best_index = WindowElement(indices, spec, counts, 0);
  for (int64_t number = 1; number < spec.count && c.ok(); ++number) {
    const Tensor next = WindowElement(values, spec, counts, number);
    const Tensor next_index = WindowElement(indices, spec, counts, number);
    const std::vector<Tensor> keeps = c.RunLifted(*choose, {best, next});
    if (!c.ok()) return;
    if (keeps.size() != 1 || keeps[0].dtype() != DType::kBool)
      return c.FailInvalid("expected a select region that returns tensor<i1>");
    const Tensor takes = And(NotEqual(next_index, nowhere),
                             Or(Equal(best_index, nowhere), Not(keeps[0])));
    best = Select(takes, next, best);
    best_index = Select(takes, next_index, best_index);
  }
  const Tensor data = Broadcast(start, {size + Dim(1)});
  const Tensor sums = Apply(
      "scatter_elements", {data, Flattened(best_index), Flattened(source)},
      {{"axis", int64_t{0}}, {"update", std::string("add")}});
  c.SetResult(Reshape(SliceAxis(sums, 0, Dim(0), size), x.shape()));
}

}  // namespace ember::stablehlo
