// The import context of formats whose operators have a list of operands and a
// list of results.
//
//   class LayerContext : public ops::OperandContext { … };
//
//   void ImportSplit(LayerContext& c) {
//     if (!c.CheckRank(0, 2)) return;
//     c.SetOutput(0, Half(c.Input(0), 0));
//     c.SetOutput(1, Half(c.Input(0), 1));
//   }
//
// Errors and lifetime are those of ImportContext.
#ifndef EMBER_FRONTENDS_OPS_OPERAND_CONTEXT_H_
#define EMBER_FRONTENDS_OPS_OPERAND_CONTEXT_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "compiler/graph/builder/builder.h"
#include "frontends/ops/import_context.h"
#include "frontends/ops/tensor.h"

namespace ember::ops {

class OperandContext : public ImportContext {
 public:
  // Makes a context for a node that does not state its number of outputs: any
  // number of them may be set.
  OperandContext(graph::GraphBuilder& builder, std::vector<Tensor> inputs)
      : ImportContext(builder), inputs_(std::move(inputs)) {}
  // Makes a context for a node with `outputs` outputs. SetOutput ignores
  // outputs beyond this number.
  OperandContext(graph::GraphBuilder& builder, std::vector<Tensor> inputs,
                 size_t outputs)
      : ImportContext(builder),
        inputs_(std::move(inputs)),
        outputs_(outputs),
        counted_(true) {}

  int input_count() const { return static_cast<int>(inputs_.size()); }
  // Returns the input with this index; an absent tensor if there is none.
  Tensor Input(int index) const { return At(inputs_, index); }
  const std::vector<Tensor>& inputs() const { return inputs_; }

  int output_count() const { return static_cast<int>(outputs_.size()); }
  void SetOutput(Tensor value) { SetOutput(0, value); }
  void SetOutput(int index, Tensor value) {
    const auto at = static_cast<size_t>(index);
    if (at >= outputs_.size()) {
      if (counted_) return;
      outputs_.resize(at + 1);
    }
    outputs_[at] = value;
  }
  // Returns the output with this index; an absent tensor if it was not set.
  Tensor Output(int index) const { return At(outputs_, index); }
  const std::vector<Tensor>& outputs() const { return outputs_; }

  // Returns false, with an error, unless the input is present and has a rank in
  // [minimum, maximum].
  bool CheckRank(int input, int minimum, int maximum = kMaxRank) {
    return ImportContext::CheckRank(
        Input(input), "input " + std::to_string(input), minimum, maximum);
  }

 private:
  static Tensor At(const std::vector<Tensor>& tensors, int index) {
    const auto at = static_cast<size_t>(index);
    return at < tensors.size() ? tensors[at] : Tensor();
  }

  std::vector<Tensor> inputs_, outputs_;
  bool counted_ = false;
};

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_OPERAND_CONTEXT_H_
