// What the shape of a graph says about the order of its nodes, and about the
// control flow of TensorFlow 1, which is spelled with nodes:
//
//   loops: Enter … Merge(Enter, NextIteration), LoopCond, Switch, Exit; the nodes
//          between Enter and Exit are a frame
//   ifs:   Switch(data, predicate) gives its data to one of two results; what
//          depends on it is dead where the predicate decides otherwise; Merge
//          takes the one that lives
//
//   EMBER_ASSIGN_OR_RETURN(Plan plan, MakePlan(body));
//   plan.frame[7]       // which loop node 7 is in
//   plan.conditions[7]  // which predicates must hold for it to run
//
// Errors: nodes that form a cycle other than a loop's, loops that are not built
// as above. Pure; thread-safe.
#ifndef EMBER_FRONTENDS_TENSORFLOW_PLAN_H_
#define EMBER_FRONTENDS_TENSORFLOW_PLAN_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "frontends/tensorflow/model.h"

namespace ember::tensorflow {

struct Condition {
  Source predicate;  // behind Identity nodes
  int branch = 0;    // 1: it holds
  bool operator==(const Condition&) const = default;
  auto operator<=>(const Condition&) const = default;
};

struct Frame {
  std::string name;
  int parent = -1;
  std::vector<int> enters, merges, exits;
  int condition = -1;  // the LoopCond
};

struct Plan {
  std::vector<int> order;  // definitions before uses
  std::vector<int> frame;  // by node; 0: no loop
  std::vector<Frame> frames;
  std::vector<std::vector<Condition>> conditions;  // by node, sorted
};

StatusOr<Plan> MakePlan(const Body& body);

// Conditions of a value: those of its node, and what a Switch adds.
std::vector<Condition> ConditionsOf(const Body& body, const Plan& plan,
                                    Source source);

bool IsOneOf(const Node& node, std::string_view op, std::string_view reference);
bool IsSwitch(const Node& node);
bool IsMerge(const Node& node);
bool IsEnter(const Node& node);
bool IsExit(const Node& node);
bool IsNextIteration(const Node& node);
// A Merge where a loop begins anew.
bool IsLoopMerge(const Body& body, const Node& node);
// A Switch on a LoopCond.
bool IsLoopSwitch(const Body& body, const Node& node);
// The node behind Identity nodes.
Source BehindIdentities(const Body& body, Source source);

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_PLAN_H_
