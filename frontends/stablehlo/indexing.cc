// Imports slices whose positions are computed at run time, gather and scatter.
#include <algorithm>

#include "compiler/graph/builder/control_flow.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"
#include "frontends/stablehlo/operator_table.h"

namespace ember::stablehlo {
namespace {

using graph::LoopInputs;
using graph::LoopOutputs;

// Clamps an i64 scalar to [0, extent - size].
Tensor Clamped(OperationContext& c, Tensor start, const Dim& extent,
               const Dim& size) {
  const Tensor most = ops::DimScalar(c.builder(), extent - size);
  return Minimum(Maximum(Cast(start, DType::kI64), 0), most);
}

// Reads a scalar start for each dim of x; false after an error.
bool ReadStarts(OperationContext& c, Tensor x, int first,
                std::vector<Tensor>& starts) {
  // Older programs pass all start indices as one vector instead of one scalar
  // operand per dim.
  if (c.operand_count() == first + 1 && c.Any(first).is_tensor() &&
      c.Any(first).tensor.rank() == 1 && x.rank() > 0) {
    const Tensor list = c.Operand(first);
    if (list.dim(0) != Dim(x.rank())) {
      c.FailInvalid("expected a start for each dim");
      return false;
    }
    for (int i = 0; i < x.rank(); ++i)
      starts.push_back(Reshape(SliceAxis(list, 0, Dim(i), Dim(1)), {}));
    return c.ok();
  }
  starts = c.Operands(first, c.operand_count());
  if (static_cast<int>(starts.size()) != x.rank()) {
    c.FailInvalid("expected a start for each of " + std::to_string(x.rank()) +
                  " dims, found " + std::to_string(starts.size()));
    return false;
  }
  for (const Tensor& start : starts) {
    if (start.rank() == 0 && IsInteger(start.dtype())) continue;
    c.FailInvalid("expected integer scalars as starts");
    return false;
  }
  return c.ok();
}

// Returns the row-major position of an element of `extents`: the sum of indices
// times strides. Indices broadcast to each other.
Tensor FlatIndex(OperationContext& c, const std::vector<Tensor>& indices,
                 const Shape& extents) {
  Tensor flat = c.IntegerScalar(0, DType::kI64);
  Dim stride(1);
  for (size_t i = indices.size(); i-- > 0;) {
    const Tensor step = ops::DimScalar(c.builder(), stride);
    flat = flat + (stride == Dim(1) ? indices[i] : indices[i] * step);
    stride = stride * extents[i];
  }
  return flat;
}

Tensor ScatterFlat(Tensor data, Tensor index, Tensor updates,
                   std::string update) {
  return Apply("scatter_elements", {data, index, updates},
               {{"axis", int64_t{0}}, {"update", std::move(update)}});
}

// The dimension numbers of gather and of scatter. For scatter, "result" means
// the updates.
struct IndexDims {
  // Dims of the result along which the elements of a window lie (offset_dims,
  // update_window_dims).
  std::vector<int64_t> window;
  // Dims of the operand that the window drops, because its size there is 1.
  std::vector<int64_t> collapsed;
  // Batch dims of the operand. Each corresponds to the dim of the indices at
  // the same position in index_batching.
  std::vector<int64_t> batching;
  std::vector<int64_t> index_batching;
  // The dim of the operand that each component of an index vector indexes
  // (start_index_map).
  std::vector<int64_t> map;
  // Dim of the indices along which the components of an index vector lie
  // (index_vector_dim).
  int64_t vector = 0;
};

bool CheckIndexDims(OperationContext& c, const IndexDims& dims, int rank,
                    int index_rank, int result_rank) {
  std::vector<int64_t> left_out = dims.collapsed;
  left_out.insert(left_out.end(), dims.batching.begin(), dims.batching.end());
  if (!c.CheckAxes(dims.window, "window dims", result_rank, true) ||
      !c.CheckAxes(left_out, "collapsed and batching dims", rank) ||
      !c.CheckAxes(dims.map, "index map", rank) ||
      !c.CheckAxes(dims.index_batching, "batching dims of indices",
                   index_rank) ||
      !c.CheckLength(dims.index_batching, "batching dims of indices",
                     dims.batching.size()) ||
      !c.CheckRange({dims.vector}, "index_vector_dim", 0, index_rank) ||
      !c.CheckLength(dims.window, "window dims",
                     static_cast<size_t>(rank) - left_out.size()))
    return false;
  if (Contains(dims.index_batching, dims.vector)) {
    c.FailInvalid("index_vector_dim: expected none of the batching dims");
    return false;
  }
  const int batch_rank =
      dims.vector == index_rank ? index_rank : index_rank - 1;
  if (batch_rank + static_cast<int>(dims.window.size()) != result_rank) {
    c.FailInvalid("expected a rank of " +
                  std::to_string(batch_rank + dims.window.size()) + ", found " +
                  std::to_string(result_rank));
    return false;
  }
  return true;
}

// Returns component k of each index, with dims of 1 in place of the result's
// window dims.
Tensor Component(Tensor indices, const IndexDims& dims, size_t k) {
  Tensor part = indices;
  if (dims.vector < indices.rank()) {
    const int axis = static_cast<int>(dims.vector);
    part = Squeeze(
        SliceAxis(indices, axis, Dim(static_cast<int64_t>(k)), Dim(1)), {axis});
  }
  return Unsqueeze(part, dims.window);
}

// Returns the index along each dim of the operand, for each element of the
// result (or of the updates), whose rank is `rank`. `start` converts a
// component of the index, for instance by clamping it.
template <typename Start>
std::vector<Tensor> ElementIndices(OperationContext& c, Tensor indices,
                                   const IndexDims& dims, const Shape& operand,
                                   const Shape& sizes, int rank,
                                   const Start& start) {
  std::vector<int64_t> batch;  // Dims of the result that are no window dims.
  for (int i = 0; i < rank; ++i)
    if (!Contains(dims.window, i)) batch.push_back(i);
  std::vector<Tensor> result;
  size_t window = 0;
  for (size_t d = 0; d < operand.size(); ++d) {
    const auto axis = static_cast<int64_t>(d);
    Tensor index;
    const auto add = [&](Tensor more) { index = index ? index + more : more; };
    const auto mapped = std::find(dims.map.begin(), dims.map.end(), axis);
    if (mapped != dims.map.end())
      add(start(Component(indices, dims,
                          static_cast<size_t>(mapped - dims.map.begin())),
                d));
    const auto batched =
        std::find(dims.batching.begin(), dims.batching.end(), axis);
    if (batched != dims.batching.end()) {
      const int64_t of_indices = dims.index_batching[static_cast<size_t>(
          batched - dims.batching.begin())];
      const int64_t number = of_indices - (of_indices > dims.vector ? 1 : 0);
      add(IotaAlong(c.builder(), operand[d],
                    static_cast<int>(batch[static_cast<size_t>(number)]),
                    rank));
    } else if (!Contains(dims.collapsed, axis)) {
      add(IotaAlong(c.builder(), sizes[d],
                    static_cast<int>(dims.window[window++]), rank));
    }
    result.push_back(index ? index : c.IntegerScalar(0, DType::kI64));
  }
  return result;
}

// Gathers whole slices: one dim is indexed, and the slice contains all of the
// other dims.
Tensor TakeSlices(Tensor x, Tensor indices, const IndexDims& dims, int rank) {
  const int axis = static_cast<int>(dims.map[0]);
  const Dim last = x.dim(axis) - Dim(1);
  if (dims.vector < indices.rank()) indices = Squeeze(indices, {dims.vector});
  indices = Minimum(Maximum(indices, 0), ops::DimScalar(x.builder(), last));
  const Tensor y = Gather(x, indices, axis);
  // The gathered tensor y has the dims of x before the axis, then those of the
  // indices, then those of x after the axis. `order` permutes them to the order
  // of the result's dims.
  std::vector<int64_t> order(static_cast<size_t>(rank));
  int64_t slice = 0, batch = axis;
  for (int64_t i = 0; i < rank; ++i) {
    if (!Contains(dims.window, i)) {
      order[static_cast<size_t>(i)] = batch++;
    } else {
      order[static_cast<size_t>(i)] =
          slice < axis ? slice : slice + indices.rank();
      ++slice;
    }
  }
  return Transpose(y, order);
}

void GatherWith(OperationContext& c, const std::vector<Dim>& sizes) {
  const Tensor x = c.Operand(0);
  const Tensor indices = Cast(c.Operand(1), DType::kI64);
  const Attribute* numbers = c.Find("dimension_numbers");
  IndexDims dims{
      .window = c.Integers(numbers, "offset_dims"),
      .collapsed = c.Integers(numbers, "collapsed_slice_dims"),
      .batching = c.Integers(numbers, "operand_batching_dims"),
      .index_batching = c.Integers(numbers, "start_indices_batching_dims"),
      .map = c.Integers(numbers, "start_index_map"),
      .vector = c.Integer(numbers, "index_vector_dim", 0)};
  const int rank = static_cast<int>(c.ResultType().dims.size());
  if (!c.ok() || !CheckIndexDims(c, dims, x.rank(), indices.rank(), rank))
    return;
  if (sizes.size() != static_cast<size_t>(x.rank()))
    return c.FailInvalid("slice_sizes: expected one for each dim");
  bool whole = dims.map.size() == 1 && dims.batching.empty() &&
               dims.collapsed == dims.map;
  for (int d = 0; d < x.rank(); ++d) {
    const auto extent = x.dim(d).AsConstant(), size = sizes[d].AsConstant();
    const bool single =
        Contains(dims.collapsed, d) || Contains(dims.batching, d);
    if ((size && (*size < 0 || (extent && *size > *extent))) ||
        (single && size && *size > 1))
      return c.FailInvalid("slice_sizes: expected at most " +
                           (single ? "1" : x.dim(d).ToString()) + " for dim " +
                           std::to_string(d) + ", found " +
                           sizes[d].ToString());
    whole = whole && (Contains(dims.collapsed, d) ? sizes[d] == Dim(1)
                                                  : sizes[d] == x.dim(d));
  }
  if (whole) return c.SetResult(TakeSlices(x, indices, dims, rank));
  const std::vector<Tensor> places = ElementIndices(
      c, indices, dims, x.shape(), sizes, rank, [&](Tensor start, size_t d) {
        const Dim& extent = x.dim(static_cast<int>(d));
        return Clamped(c, start, extent, sizes[d]);
      });
  Shape shape;
  size_t batch = 0, window = 0;
  std::vector<Dim> batch_dims, window_dims;
  for (int i = 0; i < indices.rank(); ++i)
    if (i != dims.vector) batch_dims.push_back(indices.dim(i));
  for (int d = 0; d < x.rank(); ++d)
    if (!Contains(dims.collapsed, d) && !Contains(dims.batching, d))
      window_dims.push_back(sizes[d]);
  for (int i = 0; i < rank; ++i)
    shape.push_back(Contains(dims.window, i) ? window_dims[window++]
                                             : batch_dims[batch++]);
  const Tensor flat = Broadcast(FlatIndex(c, places, x.shape()), shape);
  c.SetResult(Gather(Flattened(x), flat, 0));
}

// Applies the updates one after the other; the region combines each update with
// the current element. Returns the updated operands.
std::vector<Tensor> ScatterInOrder(OperationContext& c, const Region& body,
                                   const std::vector<Tensor>& data,
                                   Tensor index,
                                   const std::vector<Tensor>& updates) {
  graph::LoopRequest request;
  for (const Tensor& tensor : data) request.carried.push_back(tensor.value());
  request.scanned.push_back(index.value());
  for (const Tensor& update : updates)
    request.scanned.push_back(update.value());
  request.trip = index.dim(0);
  const auto results = graph::BuildLoop(
      c.builder(), request,
      [&](graph::Region& region, const LoopInputs& in) -> LoopOutputs {
        graph::GraphBuilder& builder = region.builder();
        builder.SetOrigin(c.builder().origin());
        const Tensor place(&builder, in.scanned[0]);
        std::vector<Tensor> arguments;
        for (graph::Value* carried : in.carried)
          arguments.push_back(Gather(Tensor(&builder, carried), place, 0));
        for (size_t i = 1; i < in.scanned.size(); ++i)
          arguments.emplace_back(&builder, in.scanned[i]);
        const std::vector<Tensor> combined =
            c.RunLifted(body, arguments, &region);
        LoopOutputs out;
        for (size_t i = 0; i < in.carried.size(); ++i) {
          graph::Value* next = nullptr;
          if (i < combined.size())
            next = ScatterFlat(Tensor(&builder, in.carried[i]),
                               Reshape(place, {Dim(1)}),
                               Reshape(combined[i], {Dim(1)}), "assign")
                       .value();
          out.carried.push_back(next);
        }
        return out;
      });
  return TensorsOf(c.builder(), results);
}

// Returns the graph's scatter update ("add", "assign" …) for the combiner that
// CombinerOf found in a region; empty if there is none.
std::string UpdateOf(std::string_view combiner, DType dtype) {
  const bool boolean = dtype == DType::kBool;
  if (combiner == "second") return "assign";
  if (combiner == "maximum" || combiner == "minimum")
    return std::string(combiner);
  if (combiner == "add") return boolean ? "maximum" : "add";
  if (combiner == "multiply") return boolean ? "minimum" : "multiply";
  if (combiner == "or" && boolean) return "maximum";
  if (combiner == "and" && boolean) return "minimum";
  return "";
}

}  // namespace

void ImportDynamicSlice(OperationContext& c) {
  Tensor x = c.Operand(0);
  const std::vector<int64_t> sizes = c.Integers("slice_sizes");
  std::vector<Tensor> starts;
  if (!ReadStarts(c, x, 1, starts) ||
      !c.CheckLength(sizes, "slice_sizes", static_cast<size_t>(x.rank())))
    return;
  for (int i = 0; i < x.rank(); ++i) {
    const Dim& extent = x.dim(i);
    const int64_t size = sizes[static_cast<size_t>(i)];
    if (size < 0 || (extent.is_constant() && size > extent.constant()))
      return c.FailInvalid("slice_sizes: expected at most " +
                           extent.ToString() + " for dim " + std::to_string(i) +
                           ", found " + std::to_string(size));
    if (extent == Dim(size)) continue;
    const Tensor start =
        Clamped(c, starts[static_cast<size_t>(i)], extent, Dim(size));
    const auto known = c.builder().ConstantContents(start.value());
    if (known && extent.is_constant()) {
      x = SliceAxis(x, i, Dim(static_cast<int64_t>(known->front())), Dim(size));
    } else {
      x = Gather(x, IotaVector(c.builder(), Dim(size), DType::kI64) + start, i);
    }
  }
  c.SetResult(x);
}

void ImportDynamicUpdateSlice(OperationContext& c) {
  const Tensor x = c.Operand(0), update = c.Operand(1);
  std::vector<Tensor> starts;
  if (!ReadStarts(c, x, 2, starts)) return;
  if (update.rank() != x.rank() || update.dtype() != x.dtype())
    return c.FailInvalid("operand 1: expected the type and rank of operand 0");
  if (x.rank() == 0) return c.SetResult(update);
  std::vector<Tensor> places;
  for (int i = 0; i < x.rank(); ++i) {
    const Dim& extent = x.dim(i);
    const Dim& size = update.dim(i);
    if (extent.is_constant() && size.is_constant() &&
        size.constant() > extent.constant())
      return c.FailInvalid("operand 1: expected at most " + extent.ToString() +
                           " in dim " + std::to_string(i) + ", found " +
                           size.ToString());
    const Tensor iota = IotaAlong(c.builder(), size, i, x.rank());
    places.push_back(
        extent == size
            ? iota
            : iota + Clamped(c, starts[static_cast<size_t>(i)], extent, size));
  }
  const Tensor flat =
      Broadcast(FlatIndex(c, places, x.shape()), update.shape());
  c.SetResult(Reshape(
      ScatterFlat(Flattened(x), Flattened(flat), Flattened(update), "assign"),
      x.shape()));
}

void ImportGather(OperationContext& c) {
  std::vector<Dim> sizes;
  for (const int64_t size : c.Integers("slice_sizes"))
    sizes.push_back(Dim(size));
  if (c.ok()) GatherWith(c, sizes);
}

void ImportDynamicGather(OperationContext& c) {
  const std::vector<Dim> sizes = c.builder().Extents(c.Operand(2).value());
  if (c.ok()) GatherWith(c, sizes);
}

void ImportTorchIndexSelect(OperationContext& c) {
  const Tensor x = c.Operand(0);
  const Tensor indices = Cast(c.Operand(1), DType::kI64);
  const int64_t axis = c.Integer("dim", {});
  const int64_t batch = c.Integer("batch_dims", 0);
  if (!c.ok() || !c.CheckAxes({axis}, "dim", x.rank())) return;
  if (batch != 0) return c.FailUnsupported("batch_dims: expected 0");
  c.SetResult(Gather(x, indices, static_cast<int>(axis)));
}

void ImportScatter(OperationContext& c) {
  const Region* body = c.FindRegion(0);
  if (body == nullptr) return;
  if (c.operand_count() % 2 == 0)
    return c.FailInvalid("expected as many updates as operands");
  const int count = c.operand_count() / 2;
  const std::vector<Tensor> data = c.Operands(0, count);
  const Tensor indices = Cast(c.Operand(count), DType::kI64);
  const std::vector<Tensor> updates = c.Operands(count + 1, 2 * count + 1);
  const Attribute* numbers = c.Find("scatter_dimension_numbers");
  const IndexDims dims{
      .window = c.Integers(numbers, "update_window_dims"),
      .collapsed = c.Integers(numbers, "inserted_window_dims"),
      .batching = c.Integers(numbers, "input_batching_dims"),
      .index_batching = c.Integers(numbers, "scatter_indices_batching_dims"),
      .map = c.Integers(numbers, "scatter_dims_to_operand_dims"),
      .vector = c.Integer(numbers, "index_vector_dim", 0)};
  if (!c.ok() || c.result_count() != count) {
    return c.FailInvalid("expected " + std::to_string(count) + " results");
  }
  const Shape& shape = data[0].shape();
  const int rank = updates[0].rank();
  if (!CheckIndexDims(c, dims, data[0].rank(), indices.rank(), rank)) return;
  for (int i = 0; i < count; ++i) {
    if (data[i].shape() != shape || updates[i].shape() != updates[0].shape())
      return c.FailInvalid("expected operands of one shape and updates of one");
  }
  Shape sizes(shape.size(), Dim(1));
  size_t window = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    const auto axis = static_cast<int64_t>(d);
    if (!Contains(dims.collapsed, axis) && !Contains(dims.batching, axis))
      sizes[d] = updates[0].dim(static_cast<int>(dims.window[window++]));
  }
  const std::vector<Tensor> places =
      ElementIndices(c, indices, dims, shape, sizes, rank,
                     [](Tensor start, size_t) { return start; });
  // An update outside of the operand is written to an extra element after all
  // others, which is cut off afterwards.
  Tensor inside = c.IntegerScalar(1, DType::kBool);
  for (size_t d = 0; d < places.size(); ++d) {
    const Tensor extent = ops::DimScalar(c.builder(), shape[d]);
    inside = And(inside, And(LessEqual(0, places[d]), Less(places[d], extent)));
  }
  const Dim size = graph::ElementCount(shape);
  const Tensor index =
      Flattened(Broadcast(Select(inside, FlatIndex(c, places, shape),
                                 ops::DimScalar(c.builder(), size)),
                          updates[0].shape()));
  std::vector<Tensor> flat, flat_updates;
  for (int i = 0; i < count; ++i) {
    const Tensor spare = Broadcast(data[i].Like(0), {Dim(1)});
    flat.push_back(Concat({Flattened(data[i]), spare}, 0));
    flat_updates.push_back(Flattened(updates[i]));
  }
  const std::string_view combiner = count == 1 ? CombinerOf(*body) : "";
  const std::string update = UpdateOf(combiner, data[0].dtype());
  std::vector<Tensor> results;
  if (combiner == "first") {
    results = flat;
  } else if (!update.empty()) {
    results = {ScatterFlat(flat[0], index, flat_updates[0], update)};
  } else if (c.Flag("unique_indices", false)) {
    std::vector<Tensor> arguments;
    for (const Tensor& tensor : flat)
      arguments.push_back(Gather(tensor, index, 0));
    arguments.insert(arguments.end(), flat_updates.begin(), flat_updates.end());
    const std::vector<Tensor> combined = c.RunLifted(*body, arguments);
    for (size_t i = 0; i < combined.size() && i < flat.size(); ++i)
      results.push_back(ScatterFlat(
          flat[i], index, Broadcast(combined[i], index.shape()), "assign"));
  } else {
    results = ScatterInOrder(c, *body, flat, index, flat_updates);
  }
  if (!c.ok()) return;
  if (results.size() != static_cast<size_t>(count))
    return c.FailInvalid("expected a region that returns " +
                         std::to_string(count) + " values, found " +
                         std::to_string(results.size()));
  for (int i = 0; i < count; ++i)
    c.SetResult(i, Reshape(SliceAxis(results[i], 0, Dim(0), size), shape));
}

}  // namespace ember::stablehlo
