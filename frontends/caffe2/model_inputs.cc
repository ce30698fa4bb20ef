#include "frontends/caffe2/model_inputs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "frontends/caffe2/operator_context.h"

namespace ember::caffe2 {
namespace {

using frontends::ModelDim;
using frontends::ModelInput;

// Maps the name of each blob that the init net fills to the operator that fills
// it.
using Fills = std::map<std::string_view, const OperatorDef*>;

Fills FillsOf(const NetDef& init) {
  Fills fills;
  for (const OperatorDef& op : init.op())
    for (const std::string& output : op.output()) fills[output] = &op;
  return fills;
}

std::vector<int64_t> ShapeOf(const OperatorDef& fill) {
  const Argument* shape = FindArgument(fill, "shape");
  if (shape == nullptr || shape->ints_size() > kMaxRank) return {};
  return {shape->ints().begin(), shape->ints().end()};
}

bool IsOneOf(std::string_view word,
             std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Returns the dims with which the net was exported. The net may accept other
// extents.
std::vector<ModelDim> ExportedDims(const std::vector<int64_t>& shape) {
  std::vector<ModelDim> dims;
  dims.reserve(shape.size());
  for (const int64_t dim : shape)
    dims.push_back({.extent = std::max<int64_t>(dim, 0), .may_differ = true});
  return dims;
}

// True for operators whose result has the shape, and the order of channels, of
// their first operand.
bool KeepsShape(const OperatorDef& op) {
  return IsOneOf(op.type(),
                 {"SpatialBN", "AffineChannel", "Copy", "Alias", "StopGradient",
                  "EnsureCPUOutput", "CopyCPUToGPU", "CopyFromCPUInput",
                  "CopyGPUToCPU", "Cast", "Scale", "Relu", "Dropout", "LRN"});
}

class Reader {
 public:
  Reader(const NetDef& predict, const NetDef& init, const ValueInfo& infos)
      : predict_(predict), fills_(FillsOf(init)), infos_(infos) {}

  std::vector<ModelInput> Inputs() const {
    std::set<std::string_view> read = OpenBlobs(), done;
    std::vector<ModelInput> inputs;
    const auto add = [&](const std::string& name) {
      if (!read.contains(name) || !done.insert(name).second) return;
      // Dims are guessed only for the first 64 inputs, because each guess scans
      // all operators. Real models have far fewer inputs.
      inputs.push_back(InputOf(name, inputs.size() < 64));
    };
    for (const std::string& name : predict_.external_input()) add(name);
    for (const OperatorDef& op : predict_.op())
      for (const std::string& name : op.input()) add(name);
    if (inputs.empty()) AddFilledInput(inputs);
    return inputs;
  }

 private:
  // Returns the blobs that are read before the predict net makes them, and that
  // the init net does not fill.
  std::set<std::string_view> OpenBlobs() const {
    std::set<std::string_view> made, open;
    for (const OperatorDef& op : predict_.op()) {
      for (const std::string& name : op.input())
        if (!made.contains(name) && !fills_.contains(name)) open.insert(name);
      for (const std::string& name : op.output()) made.insert(name);
    }
    // A net may return its input unchanged, so external outputs count as reads,
    // too.
    for (const std::string& name : predict_.external_output())
      if (!made.contains(name) && !fills_.contains(name)) open.insert(name);
    return open;
  }

  void AddFilledInput(std::vector<ModelInput>& inputs) const {
    if (predict_.external_input().empty()) return;
    const std::string& name = predict_.external_input(0);
    const auto fill = fills_.find(name);
    if (fill == fills_.end() ||
        !IsOneOf(fill->second->type(), {"GivenTensorFill", "ConstantFill"}))
      return;
    ModelInput input = InputOf(name, true);
    const std::vector<int64_t> shape = ShapeOf(*fill->second);
    const bool fits = !input.dims || input.dims->size() == shape.size();
    if (!shape.empty() && fits && !infos_.contains(name))
      input.dims = ExportedDims(shape);
    inputs.push_back(std::move(input));
  }

  ModelInput InputOf(const std::string& name, bool may_guess) const {
    ModelInput input;
    input.name = name;
    if (const auto info = infos_.find(name); info != infos_.end()) {
      input.dtype = info->second.dtype;
      input.dims = ExportedDims(info->second.dims);
      return input;
    }
    if (!may_guess) return input;
    // Blobs that have the input's shape, after the operators read so far.
    std::set<std::string_view> same{name};
    for (const OperatorDef& op : predict_.op()) {
      if (op.input_size() == 0) continue;
      const bool is_choice = IsOneOf(op.type(), {"Gather", "BatchGather"});
      if ((is_choice && op.input_size() > 1 && same.contains(op.input(1))) ||
          (op.type() == "OneHot" && same.contains(op.input(0))))
        input.dtype = DType::kI64;
      if (same.contains(op.input(0))) {
        if (IsOneOf(op.type(), {"Conv", "Conv1D", "Conv2D", "Conv3D"})) {
          input.dims = DimsFor(name, op);
          return input;
        }
        if (KeepsShape(op) && op.output_size() > 0) {
          same.insert(op.output(0));
          continue;
        }
      }
      // An operator overwrites its outputs, so they no longer have the shape of
      // the input.
      for (const std::string& output : op.output()) same.erase(output);
    }
    return input;
  }

  // Derives an input's dims from the weights of the convolution that reads it;
  // nullopt if no fill of the init net gives weights of rank 3 to 5.
  std::optional<std::vector<ModelDim>> DimsFor(const std::string& name,
                                               const OperatorDef& conv) const {
    if (conv.input_size() < 2) return std::nullopt;
    const auto fill = fills_.find(conv.input(1));
    if (fill == fills_.end()) return std::nullopt;
    const std::vector<int64_t> shape = ShapeOf(*fill->second);
    if (shape.size() < 3 || shape.size() > 5) return std::nullopt;
    const Argument* order = FindArgument(conv, "order");
    const Argument* group = FindArgument(conv, "group");
    const size_t channel =
        order != nullptr && order->s() == "NHWC" ? shape.size() - 1 : 1;
    std::vector<ModelDim> dims;
    dims.reserve(shape.size());
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      dims.push_back(axis == 0 ? ModelDim{.symbol = "N"}
                               : frontends::OpenDim(name, axis));
    }
    const int64_t groups = group == nullptr ? 1 : group->i();
    if (groups == 1 && shape[channel] > 0)
      dims[channel] = {.extent = shape[channel]};
    return dims;
  }

  const NetDef& predict_;
  const Fills fills_;
  const ValueInfo& infos_;
};

}  // namespace

std::vector<ModelInput> FindInputs(const NetDef& predict, const NetDef& init,
                                   const ValueInfo& infos) {
  return Reader(predict, init, infos).Inputs();
}

}  // namespace ember::caffe2
