// Scan: a loop over slices of its operands.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compiler/graph/control_flow.h"
#include "frontends/onnx/graph_importer.h"
#include "frontends/onnx/node_context.h"
#include "frontends/onnx/region_values.h"

namespace ember::onnx {
namespace {

using graph::GraphBuilder;
using graph::LoopInputs;
using graph::LoopOutputs;
using graph::LoopRequest;
using graph::Region;
using graph::Value;

// One number per operand; an attribute that is absent means 0 for each.
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

// As PerOperand, of 0 (forward) and 1 (reverse).
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

// How many of `operands` are scanned: the last ones. At least 1.
size_t ScannedCount(NodeContext& c, size_t operands) {
  const int64_t count = c.Integer("num_scan_inputs", 0);
  if (count >= 1 && static_cast<size_t>(count) <= operands)
    return static_cast<size_t>(count);
  c.FailInvalid("num_scan_inputs: expected 1 to the number of inputs, found " +
                std::to_string(count));
  return 1;
}

// The last slice first.
Tensor Reversed(Tensor x, int axis) {
  return SliceAxis(x, axis, x.dim(axis) - Dim(1), x.dim(axis), -1);
}

// `axis` becomes the first dim, or the first one `axis`.
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

// Sequences of one model must be equally long, and batches equally large: taken
// to be.
Tensor WithDim(Tensor x, int axis, const Dim& dim) {
  if (x.dim(axis) == dim) return x;
  Shape shape = x.shape();
  shape[static_cast<size_t>(axis)] = dim;
  return Apply("assume", {x}, {{"shape", shape}}).Marked(x.narrow_type());
}

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
    const int axis = c.NormalizeAxis(input_axes[i], x.rank());
    if (!c.ok()) return c.builder().status();
    const int32_t mark = x.narrow_type();
    x = AxisToFront(x, axis);
    if (input_directions[i] != 0) x = Reversed(x, 0);
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
    GraphBuilder& inside = region.builder();
    std::vector<Tensor> arguments = carried.Rebuild(inside, in.carried);
    for (size_t i = 0; i < scanned_count; ++i) {
      arguments.push_back(
          Tensor(&inside, in.scanned[i]).Marked(scanned[i].narrow_type()));
    }
    return ImportBody(*graph, arguments, carried, /*conditional=*/false,
                      c.origin(), region, scope, last);
  };
  const std::vector<Value*> results = BuildLoop(c.builder(), request, body);
  if (!c.ok()) return c.builder().status();
  std::vector<Tensor> outputs = carried.LoopResults(c.builder(), results, last);
  for (size_t i = 0; i < stacked_count; ++i) {
    Tensor& output = outputs[state_count + i];
    const int32_t mark = output.narrow_type();
    if (output_directions[i] != 0) output = Reversed(output, 0);
    const int axis = c.NormalizeAxis(output_axes[i], output.rank());
    if (!c.ok()) return c.builder().status();
    output = AxisFromFront(output, axis).Marked(mark);
  }
  return SetOutputs(c, outputs, scope);
}

// Opset 8: every operand has a batch dim in front, and each of the batch is
// scanned by itself: a loop over a loop.
Status GraphImporter::ImportBatchedScan(NodeContext& c, Scope& scope) {
  const GraphProto* graph = c.Subgraph("body");
  if (c.Input(0)) {
    c.FailUnsupported(
        "sequence_lens (input 0) is not supported in Scan before opset 9");
  }
  CheckOperands(c, 1, /*sequences=*/false);
  if (c.input_count() == 0)
    c.FailInvalid("expected operands to scan, found none");
  if (!c.ok()) return c.builder().status();
  const auto operand_count = static_cast<size_t>(c.input_count()) - 1;
  const size_t scanned_count = ScannedCount(c, operand_count);
  if (!c.ok()) return c.builder().status();
  const size_t state_count = operand_count - scanned_count;
  const std::vector<int64_t> directions =
      Directions(c, "directions", scanned_count);
  std::vector<Tensor> operands;
  for (size_t i = 0; i < operand_count; ++i) {
    const int number = static_cast<int>(1 + i);
    Tensor x = c.Input(number);
    if (!c.CheckRank(number, i < state_count ? 1 : 2))
      return c.builder().status();
    if (i >= state_count && directions[i - state_count] != 0)
      x = Reversed(x, 1);
    if (i > 0) x = WithDim(x, 0, operands[0].dim(0));
    if (i > state_count) x = WithDim(x, 1, operands[state_count].dim(1));
    operands.push_back(x);
  }
  if (!c.ok()) return c.builder().status();
  LoopRequest batch;
  batch.scanned = ValuesOf(operands);
  batch.trip = operands[0].dim(0);
  std::vector<Tensor> last;
  const auto one = [&](Region& outer, const LoopInputs& example) {
    const std::span<Value* const> slices(example.scanned);
    const auto initial = slices.first(state_count);
    const auto scanned = slices.subspan(state_count);
    LoopRequest time;
    time.carried.assign(initial.begin(), initial.end());
    time.scanned.assign(scanned.begin(), scanned.end());
    time.trip = scanned[0]->shape()[0];
    Scope outer_scope = SubgraphScope(scope, c.origin(), &outer);
    const auto step = [&](Region& region, const LoopInputs& in) {
      GraphBuilder& inside = region.builder();
      const RegionValues carried(TensorsOf(inside, in.carried));
      std::vector<Tensor> arguments = TensorsOf(inside, in.carried);
      for (Value* slice : in.scanned) arguments.emplace_back(&inside, slice);
      return ImportBody(*graph, arguments, carried, /*conditional=*/false,
                        c.origin(), region, outer_scope, last);
    };
    LoopOutputs out;
    out.stacked = BuildLoop(outer.builder(), time, step);
    return out;
  };
  const std::vector<Value*> results = BuildLoop(c.builder(), batch, one);
  return SetOutputs(c, TensorsOf(c.builder(), results), scope);
}

}  // namespace ember::onnx
