// The spec of a contraction: "bik,bkj->bij", one letter per dim.
//
//   EMBER_ASSIGN_OR_RETURN(ContractSpec spec,
//                          ContractSpec::Parse("ik,kj->ij"));
//   spec.a == "ik"; spec.b == "kj"; spec.result == "ij"; spec.Reduced() == "k"
#ifndef EMBER_COMPILER_GRAPH_OPERATORS_CONTRACT_SPEC_H_
#define EMBER_COMPILER_GRAPH_OPERATORS_CONTRACT_SPEC_H_

#include <string>
#include <string_view>

#include "base/status.h"

namespace ember::graph {

struct ContractSpec {
  std::string a, b, result;

  // Parses a spec. Labels are letters; those of the result are distinct and
  // each in an operand. A label may come twice in an operand (its diagonal).
  static StatusOr<ContractSpec> Parse(std::string_view text);
  std::string ToString() const { return a + "," + b + "->" + result; }
  // Returns the labels that are summed over, in order of appearance.
  std::string Reduced() const;
};

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_OPERATORS_CONTRACT_SPEC_H_
