// Imports Scan: a loop over slices of its operands.
#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/graph/builder/control_flow.h"
#include "frontends/onnx/import/graph_importer.h"
#include "frontends/onnx/import/region_values.h"
#include "frontends/onnx/node/context.h"
#include "frontends/ops/compositions.h"

namespace ember::onnx {
namespace {

using graph::LoopInputs;
using graph::LoopOutputs;
using graph::LoopRequest;
using graph::Region;
using graph::Value;

// Reads an attribute of Scan that has one number for each of `count` operands;
// if the attribute is absent, all numbers are 0.
std::vector<int64_t> PerOperand(NodeContext& c, const std::string& name,
                                size_t count) {
  std::vector<int64_t> values =
      c.Integers(name, std::vector<int64_t>(count, 0));
  if (values.size() != count) {
    c.FailInvalid("attribute '" + name + "': expected " +
                  std::to_string(count) + " values, found " +
                  std::to_string(values.size()));
    values.resize(count);
  }
  return values;
}

// Reads an attribute that has a direction for each of `count` operands or
// results: 0 (forward, the default) or 1 (reverse).
std::vector<int64_t> Directions(NodeContext& c, const std::string& name,
                                size_t count) {
  std::vector<int64_t> directions = PerOperand(c, name, count);
  for (const int64_t direction : directions) {
    if (direction == 0 || direction == 1) continue;
    c.FailInvalid("attribute '" + name + "': expected 0 or 1, found " +
                  std::to_string(direction));
  }
  return directions;
}

// Returns the number of scanned operands, which are the last ones of
// `operands`: at least 1.
size_t ScannedCount(NodeContext& c, size_t operands) {
  const int64_t count = c.Integer("num_scan_inputs", 0);
  if (count >= 1 && static_cast<size_t>(count) <= operands)
    return static_cast<size_t>(count);
  c.FailInvalid("num_scan_inputs: expected 1 to the number of inputs, found " +
                std::to_string(count));
  return 1;
}

// Moves `axis` to the front. AxisFromFront moves it back.
Tensor AxisToFront(Tensor x, int64_t axis) {
  std::vector<int64_t> permutation = {axis};
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (i != axis) permutation.push_back(i);
  }
  return Transpose(x, std::move(permutation));
}
Tensor AxisFromFront(Tensor x, int64_t axis) {
  std::vector<int64_t> permutation;
  for (int64_t i = 1; i < x.rank(); ++i) permutation.push_back(i);
  permutation.insert(permutation.begin() + axis, 0);
  return Transpose(x, std::move(permutation));
}

// The part of a Scan of opset 8 that scans a single element of the batch.
struct BatchedScan {
  using Body =
      std::function<LoopOutputs(Region&, const std::vector<Tensor>& arguments)>;

  // The operands of the node: the initial states, followed by the tensors whose
  // slices are scanned.
  std::vector<Tensor> operands;
  size_t state_count = 0;
  // Directions of the scanned operands: 0 is forward, 1 backward.
  std::vector<int64_t> directions;
  bool has_lengths = false;

  // Scans one element of the batch. `slices`: the element's slices of the
  // operands, and its length if there are lengths; they are values of `outer`.
  // `last`: receives the body's outputs, which show the kinds of the results.
  // Outputs have the length of the longest possible sequence, with 0 after the
  // element's own length.
  std::vector<Value*> ScanOne(Region& outer, const std::vector<Value*>& slices,
                              const Body& body,
                              const std::vector<Tensor>& last) const {
    const std::span<Value* const> all(slices);
    const std::vector<Tensor> scanned =
        TensorsOf(outer.builder(), all.subspan(state_count, directions.size()));
    Value* length = has_lengths ? slices.back() : nullptr;
    LoopRequest time;
    const std::span<Value* const> initial = all.first(state_count);
    time.carried.assign(initial.begin(), initial.end());
    time.trip = scanned[0].dim(0);
    time.conditional = has_lengths;
    time.limit = length;
    for (size_t i = 0; i < scanned.size() && !has_lengths; ++i) {
      const bool forward = directions[i] == 0;
      time.scanned.push_back(
          (forward ? scanned[i] : Reverse(scanned[i], 0)).value());
    }
    const auto step = [&](Region& region, const LoopInputs& in) {
      graph::GraphBuilder& inside = region.builder();
      std::vector<Tensor> arguments = TensorsOf(inside, in.carried);
      for (size_t i = 0; i < scanned.size(); ++i) {
        arguments.push_back(has_lengths
                                ? SliceAt(region, scanned[i], i, in, length)
                                : Tensor(&inside, in.scanned[i]));
      }
      for (size_t i = 0; i < arguments.size(); ++i)
        arguments[i] = arguments[i].Marked(operands[i].carried_type());
      LoopOutputs out = body(region, arguments);
      if (has_lengths) out.proceed = inside.Scalar(1, DType::kBool);
      return out;
    };
    std::vector<Value*> results = BuildLoop(outer.builder(), time, step);
    for (size_t i = state_count; i < results.size() && has_lengths; ++i) {
      const Tensor stacked =
          Tensor(&outer.builder(), results[i]).Marked(last[i].carried_type());
      results[i] = PaddedTo(stacked, scanned[0].dim(0)).value();
    }
    return results;
  }

 private:
  // Returns the slice to scan for an element that has a length. A backward scan
  // begins at the last slice within the length.
  Tensor SliceAt(Region& region, const Tensor& scanned, size_t number,
                 const LoopInputs& in, Value* length) const {
    graph::GraphBuilder& inside = region.builder();
    Tensor position(&inside, in.iteration);
    if (directions[number] != 0)
      position = Tensor(&inside, region.Capture(length)) - 1 - position;
    return Gather(Captured(region, scanned), position, 0);
  }

  static Tensor PaddedTo(Tensor x, const Dim& size) {
    graph::GraphBuilder& builder = x.builder();
    const Shape low(x.shape().size(), Dim(0));
    Shape high = low;
    high[0] = size - x.dim(0);
    const bool strings = x.carried_type() == TensorProto::STRING;
    const auto zero =
        strings ? static_cast<double>(builder.StringHandle("")) : 0.0;
    return Pad(x, low, high, "constant", x.Like(zero));
  }
};

}  // namespace

Status GraphImporter::ImportScan(NodeContext& c, Scope& scope) {
  const GraphProto* graph = c.Subgraph("body");
  CheckOperands(c, 0, /*sequences=*/false);
  const std::vector<Tensor>& inputs = c.inputs();
  const size_t scanned_count = ScannedCount(c, inputs.size());
  if (!c.ok()) return c.builder().status();
  const size_t state_count = inputs.size() - scanned_count;
  const auto output_count = static_cast<size_t>(graph->output_size());
  const size_t stacked_count =
      output_count - std::min(state_count, output_count);
  const std::vector<int64_t> input_axes =
      PerOperand(c, "scan_input_axes", scanned_count);
  const std::vector<int64_t> input_directions =
      Directions(c, "scan_input_directions", scanned_count);
  const std::vector<int64_t> output_axes =
      PerOperand(c, "scan_output_axes", stacked_count);
  const std::vector<int64_t> output_directions =
      Directions(c, "scan_output_directions", stacked_count);
  std::vector<Tensor> scanned;
  for (size_t i = 0; i < scanned_count; ++i) {
    Tensor x = inputs[state_count + i];
    const int axis = c.Axis(input_axes[i], x.rank());
    if (!c.ok()) return c.builder().status();
    const int32_t mark = x.carried_type();
    x = AxisToFront(x, axis);
    if (input_directions[i] != 0) x = Reverse(x, 0);
    if (i > 0) x = WithDim(x, 0, scanned[0].dim(0));
    if (!c.ok()) return c.builder().status();
    scanned.push_back(x.Marked(mark));
  }
  const std::span<const Tensor> initial(inputs.data(), state_count);
  const RegionValues carried({initial.begin(), initial.end()});
  LoopRequest request;
  request.carried = ValuesOf(initial);
  request.scanned = ValuesOf(scanned);
  request.trip = scanned[0].dim(0);
  std::vector<Tensor> last;
  const auto body = [&](Region& region, const LoopInputs& in) {
    graph::GraphBuilder& inside = region.builder();
    std::vector<Tensor> arguments = carried.Rebuild(inside, in.carried);
    for (size_t i = 0; i < scanned_count; ++i) {
      arguments.push_back(
          Tensor(&inside, in.scanned[i]).Marked(scanned[i].carried_type()));
    }
    return ImportBody(*graph, arguments, carried, /*conditional=*/false,
                      c.origin(), region, scope, last);
  };
  const std::vector<Value*> results = BuildLoop(c.builder(), request, body);
  if (!c.ok()) return c.builder().status();
  std::vector<Tensor> outputs = carried.LoopResults(c.builder(), results, last);
  for (size_t i = 0; i < stacked_count; ++i) {
    Tensor& output = outputs[state_count + i];
    const int32_t mark = output.carried_type();
    if (output_directions[i] != 0) output = Reverse(output, 0);
    const int axis = c.Axis(output_axes[i], output.rank());
    if (!c.ok()) return c.builder().status();
    output = AxisFromFront(output, axis).Marked(mark);
  }
  return SetOutputs(c, outputs, scope);
}

// Scan of opset 8: every operand begins with a batch dim, and each element of
// the batch is scanned by itself: the scan is a loop within a loop over the
// batch.
Status GraphImporter::ImportBatchedScan(NodeContext& c, Scope& scope) {
  const GraphProto* graph = c.Subgraph("body");
  CheckOperands(c, 1, /*sequences=*/false);
  if (c.input_count() == 0)
    c.FailInvalid("expected operands to scan, found none");
  if (!c.ok()) return c.builder().status();
  const auto operand_count = static_cast<size_t>(c.input_count()) - 1;
  BatchedScan scan;
  const size_t scanned_count = ScannedCount(c, operand_count);
  if (!c.ok()) return c.builder().status();
  scan.state_count = operand_count - scanned_count;
  scan.directions = Directions(c, "directions", scanned_count);
  for (size_t i = 0; i < operand_count; ++i) {
    const int number = static_cast<int>(1 + i);
    const bool is_state = i < scan.state_count;
    if (!c.CheckRank(number, is_state ? 1 : 2)) return c.builder().status();
    Tensor x = c.Input(number);
    if (i > 0) x = WithDim(x, 0, scan.operands[0].dim(0));
    if (i > scan.state_count)
      x = WithDim(x, 1, scan.operands[scan.state_count].dim(1));
    scan.operands.push_back(x);
  }
  LoopRequest batch;
  batch.scanned = ValuesOf(scan.operands);
  if (!c.ok()) return c.builder().status();
  batch.trip = scan.operands[0].dim(0);
  if (c.Input(0)) {
    if (!c.CheckRank(0, 1, 1)) return c.builder().status();
    scan.has_lengths = true;
    const Tensor lengths = Cast(c.Input(0), DType::kI64);
    batch.scanned.push_back(WithDim(lengths, 0, batch.trip).value());
  }
  std::vector<Tensor> last;
  const auto one = [&](Region& outer, const LoopInputs& example) {
    Scope outer_scope = SubgraphScope(scope, c.origin(), &outer);
    const auto body = [&](Region& region,
                          const std::vector<Tensor>& arguments) {
      const std::span<const Tensor> state(arguments.data(), scan.state_count);
      return ImportBody(
          *graph, arguments, RegionValues({state.begin(), state.end()}),
          /*conditional=*/false, c.origin(), region, outer_scope, last);
    };
    LoopOutputs out;
    out.stacked = scan.ScanOne(outer, example.scanned, body, last);
    return out;
  };
  const std::vector<Value*> results = BuildLoop(c.builder(), batch, one);
  std::vector<Tensor> outputs = TensorsOf(c.builder(), results);
  for (size_t i = 0; i < outputs.size(); ++i)
    outputs[i] = outputs[i].Marked(last[i].carried_type());
  return SetOutputs(c, outputs, scope);
}

}  // namespace ember::onnx
