#include "compiler/lowering/fusion_plan.h"

#include <map>
#include <utility>

#include "base/check.h"
#include "compiler/graph/operators.h"
#include "compiler/lowering/group_builder.h"
#include "tensor/text/text.h"

namespace ember::compiler {
namespace {

using graph::Operation;
using graph::OperatorTrait;
using graph::Value;

bool IsRunByProgram(const Operation& operation) {
  return operation.record().trait == OperatorTrait::kProgram;
}

// True if an operation outside of the group reads the value, directly or
// through operations that are inlined into it.
bool IsReadOutside(const FusionPlan& plan, const Value* value,
                   const std::set<const Operation*>& group) {
  for (const Operation* user : value->users()) {
    if (IsRunByProgram(*user)) return true;
    if (plan.stored.contains(user->result())) {
      if (!group.contains(user)) return true;
    } else if (IsReadOutside(plan, user->result(), group)) {
      return true;
    }
  }
  return false;
}

// Collects the stored values that an operation reads, directly or through
// operations that are inlined into it.
void CollectReads(const FusionPlan& plan, const Operation& operation,
                  std::set<const Operation*>& seen,
                  std::set<const Value*>& reads) {
  if (!seen.insert(&operation).second) return;
  for (const Value* operand : operation.operands()) {
    if (plan.stored.contains(operand)) {
      reads.insert(operand);
    } else if (operand->producer() != nullptr) {
      CollectReads(plan, *operand->producer(), seen, reads);
    }
  }
}

class PlanVerifier {
 public:
  explicit PlanVerifier(const FusionPlan& plan) : plan_(plan) {}

  Status Run() {
    for (const FusionGroup& group : plan_.groups) {
      for (const Operation* operation : group.operations)
        EMBER_RETURN_IF_ERROR(VerifyMember(group, *operation));
    }
    for (const Operation* operation : plan_.graph->Operations()) {
      const bool needs_group = IsRunByProgram(*operation) ||
                               plan_.stored.contains(operation->result());
      if (needs_group && !done_.contains(operation))
        return Wrong(*operation, "is in no group");
      for (const auto& region : operation->regions())
        EMBER_RETURN_IF_ERROR(VerifyRegion(*operation, *region));
    }
    return OkStatus();
  }

 private:
  static Status Wrong(const Operation& operation, const std::string& what) {
    return InternalError(graph::DescribeOperation(operation) + " " + what);
  }

  Status VerifyMember(const FusionGroup& group, const Operation& operation) {
    if (IsRunByProgram(operation) && group.operations.size() > 1)
      return Wrong(operation, "is run by the program, and shares a group");
    std::set<const Operation*> seen;
    std::set<const Value*> reads;
    CollectReads(plan_, operation, seen, reads);
    for (const Value* value : reads) {
      if (!done_.contains(value->producer())) {
        return Wrong(operation,
                     "reads what no group before it has made: " +
                         graph::DescribeOperation(*value->producer()));
      }
    }
    if (!done_.insert(&operation).second)
      return Wrong(operation, "is in two groups");
    return OkStatus();
  }

  Status VerifyRegion(const Operation& operation, const graph::Graph& region) {
    for (const FusionPlan& plan : plan_.regions) {
      if (plan.graph == &region) return VerifyPlan(plan);
    }
    return Wrong(operation, "has a region without a plan");
  }

  const FusionPlan& plan_;
  std::set<const Operation*> done_;
};

void Print(const FusionPlan& plan, size_t& number, std::string& text) {
  for (const FusionGroup& group : plan.groups) {
    const Operation& first = *group.operations.front();
    if (!text.empty()) text += '\n';
    if (IsRunByProgram(first)) {
      text += "// the program runs " + graph::DescribeOperation(first) + "\n";
      continue;
    }
    DispatchRequest request;
    request.name = DispatchName(group, number++);
    request.operations = group.operations;
    request.outputs = OutputsOf(plan, group);
    text += tensor::Print(BuildDispatch(request, plan.stored).dispatch);
  }
  for (const FusionPlan& region : plan.regions) {
    text += "\n// a region: @" + region.graph->name() + "\n";
    Print(region, number, text);
  }
}

}  // namespace

const FusionPlan& FusionPlan::OfRegion(const graph::Graph& region) const {
  for (const FusionPlan& plan : regions) {
    if (plan.graph == &region) return plan;
  }
  EMBER_CHECK(false) << "a region without a plan";
  __builtin_unreachable();
}

std::set<const Value*> OutputsOf(const FusionPlan& plan,
                                 const FusionGroup& group) {
  std::set<const Value*> results;
  for (const Value* output : plan.graph->outputs())
    results.insert(StorageRoot(output));
  std::set<const Value*> outputs;
  const std::set<const Operation*> operations(group.operations.begin(),
                                              group.operations.end());
  for (const Operation* operation : group.operations) {
    for (const auto& result : operation->results()) {
      if (results.contains(result.get()) ||
          IsReadOutside(plan, result.get(), operations)) {
        outputs.insert(result.get());
      }
    }
  }
  // A dispatch must have an output. If no result of the group is needed
  // outside, the result of its last operation becomes one.
  if (outputs.empty()) outputs.insert(group.operations.back()->result());
  return outputs;
}

std::string DispatchName(const FusionGroup& group, size_t number) {
  std::string name = "d" + std::to_string(number);
  constexpr size_t kNamedOperations = 4;
  for (size_t i = 0; i < group.operations.size() && i < kNamedOperations; ++i)
    name += "_" + std::string(group.operations[i]->name());
  return name;
}

Status VerifyPlan(const FusionPlan& plan) { return PlanVerifier(plan).Run(); }

std::string PrintPlan(const FusionPlan& plan) {
  std::string text;
  size_t number = 0;
  Print(plan, number, text);
  return text;
}

}  // namespace ember::compiler
