// Loops and branches of TensorFlow 1, which consist of nodes (control_flow.h).
#include <algorithm>
#include <utility>

#include "frontends/tensorflow/graph_importer.h"

namespace ember::tensorflow {

StatusOr<GraphImporter::MergeChoice> GraphImporter::ChoiceOf(
    int number, const Scope& scope) const {
  const Node& node = scope.body->nodes[static_cast<size_t>(number)];
  if (node.inputs.size() != 2) {
    return UnimplementedError("node '" + OriginOf(node) +
                              "': expected two inputs, found " +
                              std::to_string(node.inputs.size()));
  }
  const auto first = ConditionsOf(*scope.body, *scope.flow, node.inputs[0]);
  const auto second = ConditionsOf(*scope.body, *scope.flow, node.inputs[1]);
  for (const Condition& condition : first) {
    const Condition opposite{condition.predicate, 1 - condition.branch};
    if (!std::binary_search(second.begin(), second.end(), opposite)) continue;
    MergeChoice choice;
    choice.predicate = condition.predicate;
    choice.input[condition.branch] = 0;
    choice.input[1 - condition.branch] = 1;
    return choice;
  }
  return UnimplementedError("node '" + OriginOf(node) +
                            "': expected inputs of which one predicate says "
                            "which there is, found others");
}

StatusOr<std::optional<int>> GraphImporter::DecidedBranch(Source predicate,
                                                          Scope& scope) {
  const auto decided = scope.decided.find(predicate);
  if (decided != scope.decided.end())
    return std::optional<int>(decided->second);
  EMBER_ASSIGN_OR_RETURN(const Value value, Lookup(predicate, scope));
  if (!value.is_tensor())
    return DataLossError("expected a predicate, found no tensor");
  const auto known = scope.builder->ConstantContents(value.tensor.value());
  if (!known || known->size() != 1) return std::optional<int>();
  return std::optional<int>(known->front() != 0 ? 1 : 0);
}

// Returns the Merges that the same predicate decides, that do not depend on
// each other, and that the entry needs. They are imported as one `if`.
std::vector<int> GraphImporter::MergesBeside(int number, Source predicate,
                                             const Scope& scope) const {
  const Body& body = *scope.body;
  const ControlFlow& flow = *scope.flow;
  const size_t count = body.nodes.size();
  // `before`: true for the nodes on which the Merge `number` depends. `needed`:
  // true for the nodes that the entry needs.
  std::vector<bool> before(count), needed(count);
  const auto mark = [&](std::vector<int> stack, std::vector<bool>& marked) {
    while (!stack.empty()) {
      const int top = stack.back();
      stack.pop_back();
      if (marked[static_cast<size_t>(top)]) continue;
      marked[static_cast<size_t>(top)] = true;
      const Node& node = body.nodes[static_cast<size_t>(top)];
      for (const Source& input : node.inputs) stack.push_back(input.node);
    }
  };
  mark({number}, before);
  std::vector<int> roots;
  for (const Source& result : body.results) roots.push_back(result.node);
  if (&body == &model_->main()) {
    for (const EntryOutput& output : entry_.outputs)
      roots.push_back(output.source.node);
  }
  mark(roots, needed);
  // `behind`: true for the nodes that depend on a chosen Merge. Such a node
  // cannot be chosen.
  std::vector<bool> behind(count);
  std::vector<int> chosen{number};
  behind[static_cast<size_t>(number)] = true;
  for (const int other : flow.order) {
    const Node& node = body.nodes[static_cast<size_t>(other)];
    const auto place = static_cast<size_t>(other);
    for (const Source& input : node.inputs) {
      if (behind[static_cast<size_t>(input.node)] && !IsNextIteration(node))
        behind[place] = true;
    }
    if (other == number || behind[place] || before[place] || !needed[place] ||
        !IsMerge(node) || IsLoopMerge(body, node) ||
        scope.values.contains(other) ||
        flow.frame[place] != flow.frame[static_cast<size_t>(number)] ||
        flow.conditions[place] != flow.conditions[static_cast<size_t>(number)])
      continue;
    const StatusOr<MergeChoice> choice = ChoiceOf(other, scope);
    if (!choice.ok() || choice->predicate != predicate) continue;
    chosen.push_back(other);
    behind[place] = true;
  }
  return chosen;
}

Status GraphImporter::ImportMerge(int number, Scope& scope) {
  EMBER_ASSIGN_OR_RETURN(const MergeChoice choice, ChoiceOf(number, scope));
  EMBER_ASSIGN_OR_RETURN(const std::optional<int> decided,
                         DecidedBranch(choice.predicate, scope));
  const Node& node = scope.body->nodes[static_cast<size_t>(number)];
  if (decided) {
    const int live = choice.input[*decided];
    EMBER_ASSIGN_OR_RETURN(
        const Value value,
        Lookup(node.inputs[static_cast<size_t>(live)], scope));
    scope.values[number] = {
        value,
        Value(Tensor(scope.builder, scope.builder->Scalar(live, DType::kI32)))};
    return OkStatus();
  }
  if (scope.depth >= kMaxDepth)
    return InvalidArgumentError("expected at most 64 branches in each other");
  const std::vector<int> merges = MergesBeside(number, choice.predicate, scope);
  EMBER_ASSIGN_OR_RETURN(const Value predicate,
                         Lookup(choice.predicate, scope));
  const auto chooser = [&](int branch) {
    return [&, branch](graph::Region& region,
                       Scope& around) -> StatusOr<Choice> {
      Scope inner;
      inner.body = around.body;
      inner.flow = around.flow;
      inner.builder = &region.builder();
      inner.outer = &around;
      inner.region = &region;
      inner.frame = around.frame;
      inner.decided = around.decided;
      inner.decided[choice.predicate] = branch;
      inner.depth = around.depth + 1;
      inner.prefix = around.prefix;
      inner.attributes = around.attributes;
      Choice result;
      for (const int merge : merges) {
        EMBER_ASSIGN_OR_RETURN(const MergeChoice own, ChoiceOf(merge, around));
        const Node& other = around.body->nodes[static_cast<size_t>(merge)];
        EMBER_ASSIGN_OR_RETURN(
            Value value,
            Lookup(other.inputs[static_cast<size_t>(own.input[branch])],
                   inner));
        if (value.reference)
          return UnimplementedError("a branch that gives a variable");
        result.outputs.push_back(std::move(value));
      }
      return result;
    };
  };
  EMBER_ASSIGN_OR_RETURN(
      const std::vector<Value> outputs,
      BuildIf(predicate.tensor, scope, chooser(1), chooser(0)));
  for (size_t i = 0; i < merges.size(); ++i) {
    EMBER_ASSIGN_OR_RETURN(const MergeChoice own, ChoiceOf(merges[i], scope));
    const Tensor holds = Cast(Reshape(predicate.tensor, {}), DType::kBool);
    const Tensor index = Select(
        holds,
        Tensor(scope.builder, scope.builder->Scalar(own.input[1], DType::kI32)),
        Tensor(scope.builder,
               scope.builder->Scalar(own.input[0], DType::kI32)));
    scope.values[merges[i]] = {outputs[i], Value(index)};
  }
  return scope.builder->status();
}

GraphImporter::Scope GraphImporter::FrameScope(int frame, Scope& scope,
                                               graph::Region* region) const {
  Scope inner;
  inner.body = scope.body;
  inner.flow = scope.flow;
  inner.builder = region != nullptr ? &region->builder() : scope.builder;
  inner.outer = &scope;
  inner.region = region != nullptr ? region : scope.region;
  inner.frame = frame;
  inner.decided = scope.decided;
  inner.depth = scope.depth + 1;
  inner.prefix = scope.prefix;
  inner.attributes = scope.attributes;
  return inner;
}

Status GraphImporter::ImportFrame(int number, Scope& scope) {
  const Body& body = *scope.body;
  const Frame& frame = scope.flow->frames[static_cast<size_t>(number)];
  const auto node = [&](int index) -> const Node& {
    return body.nodes[static_cast<size_t>(index)];
  };
  if (frame.condition < 0 || frame.merges.empty())
    return DataLossError("expected a loop with a condition, found none");
  if (scope.depth >= kMaxDepth)
    return InvalidArgumentError("expected at most 64 loops in each other");
  Loop loop;
  // The operands of the loop's NextIteration nodes: the carried values after an
  // iteration.
  std::vector<Source> next;
  for (const int merge : frame.merges) {
    const bool first = IsNextIteration(node(node(merge).inputs[0].node));
    const Source entered = node(merge).inputs[first ? 1 : 0];
    const Node& enter = node(entered.node);
    const Node& iteration = node(node(merge).inputs[first ? 0 : 1].node);
    if (!IsEnter(enter) || enter.inputs.size() != 1 ||
        iteration.inputs.size() != 1)
      return DataLossError("expected values that enter a loop");
    EMBER_ASSIGN_OR_RETURN(Value value, Lookup(enter.inputs[0], scope));
    if (value.reference) {
      EMBER_ASSIGN_OR_RETURN(const Tensor read,
                             Variable(value.resource, scope));
      value = Value(read);
    }
    loop.carried.push_back(std::move(value));
    next.push_back(iteration.inputs[0]);
  }
  const auto index_of = [](int value) { return Source{value, 0}; };
  const auto give = [&](Scope& inner, const std::vector<Value>& values) {
    for (size_t i = 0; i < frame.merges.size(); ++i)
      inner.values[frame.merges[i]] = {values[i], Value()};
  };
  const auto holds = [&](Scope& inner) -> StatusOr<Tensor> {
    EMBER_ASSIGN_OR_RETURN(const Value value,
                           Lookup(index_of(frame.condition), inner));
    if (!value.is_tensor())
      return DataLossError("expected a condition, found no tensor");
    return Cast(Reshape(value.tensor, {}), DType::kBool);
  };
  Scope before = FrameScope(number, scope, nullptr);
  give(before, loop.carried);
  EMBER_ASSIGN_OR_RETURN(loop.condition, holds(before));
  loop.build_iteration = [&](graph::Region& region, std::vector<Value>& values,
                             std::map<std::string, Tensor>&,
                             Tensor& proceed) -> Status {
    Scope inside = FrameScope(number, scope, &region);
    give(inside, values);
    std::vector<Value> after;
    for (const Source& source : next) {
      EMBER_ASSIGN_OR_RETURN(Value value, Lookup(source, inside));
      after.push_back(std::move(value));
    }
    Scope end = FrameScope(number, scope, &region);
    give(end, after);
    EMBER_ASSIGN_OR_RETURN(proceed, holds(end));
    values = std::move(after);
    return OkStatus();
  };
  EMBER_ASSIGN_OR_RETURN(const std::vector<Value> results,
                         BuildLoop(loop, scope));
  for (const int exit : frame.exits) {
    const Node& left = node(node(exit).inputs[0].node);
    if (!IsLoopSwitch(body, left) || node(exit).inputs[0].output != 0)
      return UnimplementedError(
          "expected a loop that is left by its condition");
    const Source merged = BehindIdentities(body, left.inputs[0]);
    const auto place =
        std::find(frame.merges.begin(), frame.merges.end(), merged.node);
    if (place == frame.merges.end())
      return UnimplementedError("expected a loop that gives what it carries");
    scope.values[exit] = {
        results[static_cast<size_t>(place - frame.merges.begin())]};
  }
  return OkStatus();
}

}  // namespace ember::tensorflow
