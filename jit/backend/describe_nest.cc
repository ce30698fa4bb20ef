#include "jit/backend/describe_nest.h"

#include <unordered_map>
#include <vector>

#include "base/check.h"
#include "base/dtype.h"
#include "vm/interpreter/plan.h"

namespace ember::jit {
namespace {

using tensor::NodeId;
using tensor::Opcode;
using vm::KernelScope;

KernelScope ScopeOf(loops::Scope scope) {
  switch (scope) {
    case loops::Scope::kInput:
      return KernelScope::kInput;
    case loops::Scope::kOutput:
      return KernelScope::kOutput;
    case loops::Scope::kPacked:
      return KernelScope::kPacked;
    case loops::Scope::kCall:
      return KernelScope::kCall;
    case loops::Scope::kTask:
      return KernelScope::kTask;
    case loops::Scope::kRegister:
      return KernelScope::kRegister;
  }
  EMBER_CHECK(false) << "an unknown scope";
  return KernelScope::kRegister;
}

// Appends nodes of a pool to formulas, each once.
class FormulaBuilder {
 public:
  FormulaBuilder(const tensor::ExpressionPool& pool,
                 std::vector<tensor::Instruction>& formulas)
      : pool_(pool), formulas_(formulas) {}

  uint32_t Add(NodeId root) {
    std::vector<NodeId> stack = {root};
    while (!stack.empty()) {
      const NodeId id = stack.back();
      const tensor::Node& node = pool_[id];
      bool is_ready = true;
      for (const NodeId operand : node.operands) {
        if (done_.contains(operand)) continue;
        stack.push_back(operand);
        is_ready = false;
      }
      if (!is_ready) continue;
      stack.pop_back();
      if (!done_.contains(id)) Append(id, node);
    }
    return done_.at(root);
  }

 private:
  void Append(NodeId id, const tensor::Node& node) {
    EMBER_CHECK(node.opcode != Opcode::kAxis && node.opcode != Opcode::kLoad &&
                node.operands.size() <= 3)
        << "a value of the header depends on a loop";
    tensor::Instruction in{
        .opcode = node.opcode, .type = node.type, .immediate = node.immediate};
    uint32_t* const operands[3] = {&in.a, &in.b, &in.c};
    for (size_t i = 0; i < node.operands.size(); ++i)
      *operands[i] = done_.at(node.operands[i]);
    done_[id] = static_cast<uint32_t>(formulas_.size());
    formulas_.push_back(in);
  }

  const tensor::ExpressionPool& pool_;
  std::vector<tensor::Instruction>& formulas_;
  std::unordered_map<NodeId, uint32_t> done_;
};

}  // namespace

vm::KernelImage DescribeNest(const loops::LoopNest& nest) {
  vm::KernelImage image;
  image.dispatch = nest.name;
  image.parameter_count = static_cast<uint32_t>(nest.parameters.size());
  FormulaBuilder formulas(nest.pool, image.formulas);
  for (const auto* phases : {&nest.prologue, &nest.phases}) {
    for (const loops::Phase& phase : *phases) {
      const NodeId tasks = nest.pool[phase.task].operands[0];
      image.phases.push_back(formulas.Add(tasks));
    }
  }
  image.prologue_count = static_cast<uint32_t>(nest.prologue.size());
  for (const loops::Buffer& buffer : nest.buffers) {
    vm::KernelBuffer& described = image.buffers.emplace_back();
    described.name = buffer.name;
    described.type = buffer.type;
    described.scope = ScopeOf(buffer.scope);
    if (described.scope <= KernelScope::kOutput)
      described.alignment = static_cast<uint32_t>(DTypeByteSize(buffer.type));
    for (const NodeId extent : buffer.extents)
      described.extents.push_back(formulas.Add(extent));
  }
  return image;
}

vm::KernelImage DescribeKernel(const vm::KernelRequest& request,
                               const loops::LoopNest& nest,
                               double error_growth) {
  vm::KernelImage image = DescribeNest(nest);
  image.target = request.target;
  image.tier = request.tier;
  image.error_growth = error_growth;
  image.shape = request.parameters;
  const int inputs = static_cast<int>(request.dispatch->input_count());
  const int outputs = static_cast<int>(request.dispatch->output_count());
  for (int i = 0; i < inputs; ++i) {
    for (int o = inputs; o < inputs + outputs; ++o) {
      image.buffers[static_cast<size_t>(i)].may_be_overwritten |=
          vm::MayAlias(*request.dispatch, i, o);
    }
  }
  return image;
}

}  // namespace ember::jit
