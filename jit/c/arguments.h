// Names parameters, buffers and loop variables of a nest in the code of a
// phase, and declares the parameters and buffers that the phase uses at the
// beginning of its function. The function is called as vm/format/kernel_abi.h
// says.
//
//   Arguments arguments(nest, builder);
//   arguments.Buffer(2);   // "b2_acc", and "float b2_acc[16];" once
//
// Not thread-safe.
#ifndef EMBER_JIT_C_ARGUMENTS_H_
#define EMBER_JIT_C_ARGUMENTS_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "jit/c/source_builder.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::c {

// Returns the name with all characters but letters, digits and '_' replaced.
std::string Identifier(std::string_view name);

class Arguments {
 public:
  Arguments(const loops::LoopNest& nest, SourceBuilder& builder)
      : nest_(nest), c_(builder) {}

  // Returns the heading of a phase's function: "int32_t NAME(const int64_t
  // *parameters, …)".
  static std::string Heading(const std::string& name);

  std::string Parameter(uint64_t number);
  // Returns the name of a pointer to the buffer's first element, or of an array
  // of the function.
  std::string Buffer(uint32_t number);
  // Returns the name of a loop variable. variable: an Axis node.
  std::string Variable(loops::NodeId variable) const;

 private:
  const loops::LoopNest& nest_;
  SourceBuilder& c_;
  std::set<std::string> declared_;
};

}  // namespace ember::jit::c

#endif  // EMBER_JIT_C_ARGUMENTS_H_
