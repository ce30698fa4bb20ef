#include "frontends/tensorflow/control_flow.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <queue>
#include <utility>

namespace ember::tensorflow {
namespace {

// Largest number of conditions of one node.
constexpr size_t kMaxConditions = 32;
constexpr int kMaxFrameDepth = 32;

class ControlFlowAnalyzer {
 public:
  explicit ControlFlowAnalyzer(const Body& body)
      : body_(body), count_(body.nodes.size()) {}

  StatusOr<ControlFlow> Make() {
    EMBER_RETURN_IF_ERROR(Order());
    flow_.frames.emplace_back();
    flow_.frame.assign(count_, 0);
    flow_.conditions.resize(count_);
    for (const int node : flow_.order) {
      Status status = FindFrame(node);
      if (status.ok()) status = FindConditions(node);
      if (!status.ok())
        return status.WithContext("node '" + OriginOf(At(node)) + "'");
    }
    return std::move(flow_);
  }

 private:
  const Node& At(int node) const {
    return body_.nodes[static_cast<size_t>(node)];
  }

  // Calls function(node) for all nodes that must come before a node, except
  // those that only the back edge of a loop reaches.
  template <typename Function>
  void ForEachBefore(int node, const Function& function) const {
    const bool merges = IsLoopMerge(body_, At(node));
    for (const Source& input : At(node).inputs) {
      if (!merges || !IsNextIteration(At(input.node))) function(input.node);
    }
    for (const int control : At(node).controls) function(control);
  }

  Status Order() {
    std::vector<std::vector<int>> users(count_);
    std::vector<int> missing(count_, 0);
    const auto total = static_cast<int>(count_);
    for (int i = 0; i < total; ++i) {
      ForEachBefore(i, [&](int before) {
        users[static_cast<size_t>(before)].push_back(i);
        ++missing[static_cast<size_t>(i)];
      });
    }
    // The node with the smallest number among those that are ready comes first,
    // so that the order of the file is kept where it is right.
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (int i = 0; i < total; ++i)
      if (missing[static_cast<size_t>(i)] == 0) ready.push(i);
    while (!ready.empty()) {
      const int node = ready.top();
      ready.pop();
      flow_.order.push_back(node);
      for (const int user : users[static_cast<size_t>(node)])
        if (--missing[static_cast<size_t>(user)] == 0) ready.push(user);
    }
    if (flow_.order.size() == count_) return OkStatus();
    for (int i = 0; i < total; ++i) {
      if (missing[static_cast<size_t>(i)] > 0) {
        return DataLossError("the nodes form a cycle through or before node '" +
                             OriginOf(At(i)) + "'");
      }
    }
    return InternalError("order");
  }

  int DepthOf(int frame) const {
    int depth = 0;
    for (; frame > 0; ++depth)
      frame = flow_.frames[static_cast<size_t>(frame)].parent;
    return depth;
  }

  Status FindFrame(int number) {
    const Node& node = At(number);
    int frame = 0, depth = 0;
    ForEachBefore(number, [&](int before) {
      const int other = flow_.frame[static_cast<size_t>(before)];
      if (other == frame) return;
      const int other_depth = DepthOf(other);
      if (other_depth <= depth) return;
      frame = other;
      depth = other_depth;
    });
    if (IsEnter(node)) {
      const AttrValue* name = FindAttribute(node, "frame_name");
      if (name == nullptr || node.inputs.size() != 1)
        return DataLossError("expected one input and a frame's name");
      if (depth >= kMaxFrameDepth)
        return UnimplementedError("loops more than 32 deep in each other");
      const auto [entry, added] = frames_.emplace(
          std::pair(frame, name->s()), static_cast<int>(flow_.frames.size()));
      if (added) flow_.frames.push_back({name->s(), frame, {}, {}, {}, -1});
      frame = entry->second;
      FrameAt(frame).enters.push_back(number);
    } else if (IsExit(node)) {
      if (frame == 0 || node.inputs.size() != 1)
        return DataLossError("expected the end of a loop, found none around");
      FrameAt(frame).exits.push_back(number);
      frame = FrameAt(frame).parent;
    } else if (IsLoopMerge(body_, node)) {
      if (node.inputs.size() != 2 || frame == 0) {
        return DataLossError(
            "expected a value that enters a loop and one of its last "
            "iteration");
      }
      FrameAt(frame).merges.push_back(number);
    } else if (node.op == "LoopCond") {
      if (node.inputs.size() != 1 || frame == 0 ||
          FrameAt(frame).condition >= 0)
        return DataLossError("expected the only condition of a loop");
      FrameAt(frame).condition = number;
    }
    flow_.frame[static_cast<size_t>(number)] = frame;
    return OkStatus();
  }

  Frame& FrameAt(int frame) { return flow_.frames[static_cast<size_t>(frame)]; }

  Status FindConditions(int number) {
    const Node& node = At(number);
    std::vector<Condition> all;
    const auto join = [&](const std::vector<Condition>& more) {
      std::vector<Condition> joined;
      std::set_union(all.begin(), all.end(), more.begin(), more.end(),
                     std::back_inserter(joined));
      all = std::move(joined);
    };
    if (IsMerge(node) && !IsLoopMerge(body_, node)) {
      // A Merge is alive if any of its inputs is alive; its conditions are
      // those common to all inputs.
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        const auto other = ConditionsOf(body_, flow_, node.inputs[i]);
        if (i == 0) {
          all = other;
          continue;
        }
        std::vector<Condition> common;
        std::set_intersection(all.begin(), all.end(), other.begin(),
                              other.end(), std::back_inserter(common));
        all = std::move(common);
      }
    } else {
      const bool merges = IsLoopMerge(body_, node);
      for (const Source& input : node.inputs) {
        if (!merges || !IsNextIteration(At(input.node)))
          join(ConditionsOf(body_, flow_, input));
      }
    }
    for (const int control : node.controls)
      join(flow_.conditions[static_cast<size_t>(control)]);
    if (all.size() > kMaxConditions)
      return UnimplementedError("conditions more than 32 deep in each other");
    flow_.conditions[static_cast<size_t>(number)] = std::move(all);
    return OkStatus();
  }

  const Body& body_;
  const size_t count_;
  ControlFlow flow_;
  std::map<std::pair<int, std::string>, int> frames_;
};

}  // namespace

StatusOr<ControlFlow> AnalyzeControlFlow(const Body& body) {
  return ControlFlowAnalyzer(body).Make();
}

bool IsOneOf(const Node& node, std::string_view op,
             std::string_view reference) {
  return node.op == op || node.op == reference;
}
bool IsSwitch(const Node& node) { return IsOneOf(node, "Switch", "RefSwitch"); }
bool IsMerge(const Node& node) { return IsOneOf(node, "Merge", "RefMerge"); }
bool IsEnter(const Node& node) { return IsOneOf(node, "Enter", "RefEnter"); }
bool IsExit(const Node& node) { return IsOneOf(node, "Exit", "RefExit"); }
bool IsNextIteration(const Node& node) {
  return IsOneOf(node, "NextIteration", "RefNextIteration");
}

bool IsLoopMerge(const Body& body, const Node& node) {
  if (!IsMerge(node)) return false;
  return std::any_of(
      node.inputs.begin(), node.inputs.end(), [&](const Source& input) {
        return IsNextIteration(body.nodes[static_cast<size_t>(input.node)]);
      });
}

Source BehindIdentities(const Body& body, Source source) {
  for (int steps = 0; steps < 1000; ++steps) {
    const Node& node = body.nodes[static_cast<size_t>(source.node)];
    if (node.op != "Identity" || node.inputs.empty()) break;
    source = node.inputs[0];
  }
  return source;
}

bool IsLoopSwitch(const Body& body, const Node& node) {
  if (!IsSwitch(node) || node.inputs.size() != 2) return false;
  const Source predicate = BehindIdentities(body, node.inputs[1]);
  return body.nodes[static_cast<size_t>(predicate.node)].op == "LoopCond";
}

std::vector<Condition> ConditionsOf(const Body& body, const ControlFlow& flow,
                                    Source source) {
  std::vector<Condition> all =
      flow.conditions[static_cast<size_t>(source.node)];
  const Node& node = body.nodes[static_cast<size_t>(source.node)];
  if (!IsSwitch(node) || node.inputs.size() != 2 || IsLoopSwitch(body, node))
    return all;
  const Condition added{BehindIdentities(body, node.inputs[1]),
                        source.output == 0 ? 0 : 1};
  const auto place = std::lower_bound(all.begin(), all.end(), added);
  if (place == all.end() || *place != added) all.insert(place, added);
  return all;
}

}  // namespace ember::tensorflow
