// Counts properties of machine code that make the processor wait and that the
// number of instructions does not show. They are counted in the innermost
// loops, each loop once. The result does not depend on this machine.
//
//   PropertiesOf(figures.assembly).spilled_vectors
#ifndef EMBER_TESTS_PERFORMANCE_CODE_PROPERTIES_H_
#define EMBER_TESTS_PERFORMANCE_CODE_PROPERTIES_H_

#include <string_view>

namespace ember::tests {

struct CodeProperties {
  int loops = 0;  // number of innermost loops
  int instructions = 0;
  // Number of vector spills: stores of vector registers to the stack and loads
  // from it. For general registers only the stores are counted.
  int spilled_vectors = 0;
  int spilled_integers = 0;
  // Number of loads and stores whose lanes are not adjacent.
  int gathers = 0;
  // Number of float arithmetic instructions, and number of those that compute
  // on a single element.
  int arithmetic = 0;
  int scalar_arithmetic = 0;
  // Number of loads of memory that a recent store has written in part. They
  // wait until the store has left for the cache, a dozen cycles longer.
  int blocked_loads = 0;
  // Number of loads whose address has the same last 12 bits as a recent store
  // to other memory. Processors treat the addresses as equal, and wait.
  int aliased_loads = 0;

  CodeProperties& operator+=(const CodeProperties& other);
};

CodeProperties PropertiesOf(std::string_view assembly);

}  // namespace ember::tests

#endif  // EMBER_TESTS_PERFORMANCE_CODE_PROPERTIES_H_
