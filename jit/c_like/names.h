// Returns names for the parameters, buffers and loop variables of a phase's
// code. When a parameter or buffer is first named, its declaration is added at
// the start of the function, unless the function's heading declares it.
//
//   Names names(c::kLanguage, nest, nest.phases[0], builder);
//   names.Buffer(2);   // "b2_acc", and "float b2_acc[16];" once
//
// Not thread-safe.
#ifndef EMBER_JIT_C_LIKE_NAMES_H_
#define EMBER_JIT_C_LIKE_NAMES_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "jit/c_like/identifiers.h"
#include "jit/c_like/language.h"
#include "jit/c_like/source_builder.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::c_like {

class Names {
 public:
  Names(const Language& language, const loops::LoopNest& nest,
        const loops::Phase& phase, SourceBuilder& builder);

  std::string Parameter(uint64_t number);
  // Returns the buffer's name: that of a pointer to its first element, or of an
  // array.
  std::string Buffer(uint32_t number);
  // Returns the value of the element with this number, and the statement that
  // stores a value there.
  std::string Element(uint32_t buffer, std::string_view position);
  std::string Assignment(uint32_t buffer, std::string_view position,
                         std::string_view value);
  // Returns the name of a loop variable, which is an Axis node.
  std::string Variable(loops::NodeId variable) const;

  // True if the first index of a register buffer is the invocation's number.
  // Each invocation declares only its own elements, so that index is left out.
  bool IsOfInvocation(uint32_t buffer) const { return of_invocation_[buffer]; }

 private:
  // True if the language has no pointer to the buffer.
  bool IsAccessedByForm(uint32_t buffer) const;

  const Language& language_;
  const loops::LoopNest& nest_;
  const loops::Phase& phase_;
  SourceBuilder& c_;
  std::vector<bool> of_invocation_;
  std::set<std::string> declared_;
};

}  // namespace ember::jit::c_like

#endif  // EMBER_JIT_C_LIKE_NAMES_H_
