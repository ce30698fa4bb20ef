#include "compiler/graph/verifier.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/metadata_rules.h"
#include "compiler/graph/operators.h"

namespace ember::graph {
namespace {

Status Broken(std::string message) { return InternalError(std::move(message)); }

class GraphVerifier {
 public:
  explicit GraphVerifier(const Graph& graph) : graph_(graph) {}

  Status Verify() {
    for (const Value* input : graph_.inputs()) {
      if (input->producer() != nullptr) {
        return Broken("input '" + input->name() +
                      "': expected no producer, found " +
                      DescribeOperation(*input->producer()));
      }
      EMBER_RETURN_IF_ERROR(CheckType(input->type())
                                .WithContext("input '" + input->name() + "'"));
      defined_.insert(input);
    }
    for (const auto& operation : graph_.operations()) {
      EMBER_RETURN_IF_ERROR(VerifyOperation(*operation)
                                .WithContext(DescribeOperation(*operation)));
    }
    EMBER_RETURN_IF_ERROR(VerifyOutputs());
    MetadataRules rules;
    for (const auto& [key, value] : graph_.metadata())
      EMBER_RETURN_IF_ERROR(rules.Check(key, value));
    return VerifyUses();
  }

 private:
  Status VerifyOperation(const Operation& operation) {
    for (int i = 0; i < operation.operand_count(); ++i) {
      const Value* operand = operation.operand(i);
      if (!defined_.contains(operand)) {
        return Broken(
            "operand " + std::to_string(i) +
            ": expected a value defined before, found one that is not");
      }
      ++uses_[{operand, &operation}];
    }
    for (const auto& region : operation.regions())
      EMBER_RETURN_IF_ERROR(GraphVerifier(*region).Verify());
    EMBER_ASSIGN_OR_RETURN(const std::vector<TensorType> types,
                           operation.record().infer(operation));
    if (types.size() != operation.results().size()) {
      return Broken("expected " + std::to_string(types.size()) +
                    " results, found " +
                    std::to_string(operation.results().size()));
    }
    for (size_t i = 0; i < types.size(); ++i) {
      const Value& result = *operation.results()[i];
      if (result.type() != types[i]) {
        return Broken("result " + std::to_string(i) + ": expected type " +
                      ToString(types[i]) + " by inference, found " +
                      ToString(result.type()));
      }
      if (result.producer() != &operation ||
          result.result_index() != static_cast<int>(i)) {
        return Broken("result " + std::to_string(i) +
                      " does not know its producer");
      }
      defined_.insert(&result);
    }
    return OkStatus();
  }

  Status VerifyOutputs() {
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      if (!defined_.contains(graph_.outputs()[i])) {
        return Broken("output '" + graph_.output_names()[i] +
                      "': expected a value of the graph, found another");
      }
      if (!graph_.outputs()[i]->is_graph_output()) {
        return Broken("output '" + graph_.output_names()[i] +
                      "' is not marked as one");
      }
    }
    std::set<std::string> names;
    for (const Value* input : graph_.inputs()) {
      if (!names.insert(input->name()).second) {
        return InvalidArgumentError("input '" + input->name() +
                                    "': expected distinct names");
      }
    }
    names.clear();
    for (const std::string& name : graph_.output_names()) {
      if (!names.insert(name).second) {
        return InvalidArgumentError("output '" + name +
                                    "': expected distinct names");
      }
    }
    return OkStatus();
  }

  // Checks each value's list of users against the operands that were found in
  // the operations.
  Status VerifyUses() {
    for (const Value* value : defined_) {
      for (const Operation* user : value->users()) {
        const auto use = uses_.find({value, user});
        if (use == uses_.end() || --use->second < 0) {
          return Broken("value '" + value->name() +
                        "' lists a use that is none");
        }
      }
    }
    for (const auto& [use, count] : uses_) {
      if (count != 0) {
        return Broken(DescribeOperation(*use.second) +
                      ": a use is not listed by value '" + use.first->name() +
                      "'");
      }
    }
    return OkStatus();
  }

  const Graph& graph_;
  std::set<const Value*> defined_;
  std::map<std::pair<const Value*, const Operation*>, int> uses_;
};

}  // namespace

Status Verify(const Graph& graph) { return GraphVerifier(graph).Verify(); }

}  // namespace ember::graph
