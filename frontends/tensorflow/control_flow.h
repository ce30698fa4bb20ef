// The order of a graph's nodes, and its control flow of TensorFlow 1, which
// consists of nodes:
//
//   loops: Enter … Merge(Enter, NextIteration), LoopCond, Switch, Exit; the
//          nodes between Enter and Exit are a frame
//   ifs:   Switch(data, predicate) gives its data to one of two results; nodes
//          that depend on the other result are dead; Merge takes the input that
//          is alive
//
//   EMBER_ASSIGN_OR_RETURN(ControlFlow flow, AnalyzeControlFlow(body));
//   flow.frame[7]       // the loop that contains node 7
//   flow.conditions[7]  // the predicates that must hold for it to run
//
// Errors: nodes that form a cycle other than a loop's, loops that are not built
// as above. Pure; thread-safe.
#ifndef EMBER_FRONTENDS_TENSORFLOW_CONTROL_FLOW_H_
#define EMBER_FRONTENDS_TENSORFLOW_CONTROL_FLOW_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "frontends/tensorflow/model.h"

namespace ember::tensorflow {

struct Condition {
  // The bool that decides. Identity nodes on the way to it are skipped.
  Source predicate;
  // The value of the predicate for which the node runs: 1 if true, 0 if false.
  int branch = 0;
  bool operator==(const Condition&) const = default;
  auto operator<=>(const Condition&) const = default;
};

struct Frame {
  std::string name;
  int parent = -1;
  std::vector<int> enters, merges, exits;
  int condition = -1;  // Number of the LoopCond node of the frame.
};

struct ControlFlow {
  std::vector<int> order;  // definitions before uses
  // Index of the frame of each node; 0 means that the node is in no loop.
  std::vector<int> frame;
  std::vector<Frame> frames;
  // The conditions under which each node runs, sorted.
  std::vector<std::vector<Condition>> conditions;
};

StatusOr<ControlFlow> AnalyzeControlFlow(const Body& body);

// Returns the conditions under which a value exists: those of its node and, for
// a result of a Switch, the condition that the Switch adds.
std::vector<Condition> ConditionsOf(const Body& body, const ControlFlow& flow,
                                    Source source);

bool IsOneOf(const Node& node, std::string_view op, std::string_view reference);
bool IsSwitch(const Node& node);
bool IsMerge(const Node& node);
bool IsEnter(const Node& node);
bool IsExit(const Node& node);
bool IsNextIteration(const Node& node);
// True for a Merge at the head of a loop.
bool IsLoopMerge(const Body& body, const Node& node);
// True for a Switch on a LoopCond.
bool IsLoopSwitch(const Body& body, const Node& node);
// Returns the source of a value, with Identity nodes skipped.
Source BehindIdentities(const Body& body, Source source);

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_CONTROL_FLOW_H_
