// What is wrong with machine code that its instructions' number does not tell:
// what it waits for. Counted in the innermost loops, each once, whatever
// machine this is.
//
//   PropertiesOf(figures.assembly).spilled_vectors
#ifndef EMBER_TESTS_PERFORMANCE_CODE_PROPERTIES_H_
#define EMBER_TESTS_PERFORMANCE_CODE_PROPERTIES_H_

#include <string_view>

namespace ember::tests {

struct CodeProperties {
  int loops = 0;  // innermost ones
  int instructions = 0;
  // Registers that did not suffice: vectors that are stored on the stack or
  // read from there. General registers' count only where they are stored.
  int spilled_vectors = 0;
  int spilled_integers = 0;
  // Loads and stores of lanes that lie apart.
  int gathers = 0;
  // Arithmetic of floats, by instructions: all, and on one element.
  int arithmetic = 0;
  int scalar_arithmetic = 0;
  // Loads of what a store shortly before has written in part: they wait until
  // it has left for the cache, a dozen cycles more.
  int blocked_loads = 0;
  // Loads whose addresses' last 12 bits are those of a store shortly before to
  // other memory: processors take them for the same, and wait.
  int aliased_loads = 0;

  CodeProperties& operator+=(const CodeProperties& other);
};

CodeProperties PropertiesOf(std::string_view assembly);

}  // namespace ember::tests

#endif  // EMBER_TESTS_PERFORMANCE_CODE_PROPERTIES_H_
