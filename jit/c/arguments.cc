#include "jit/c/arguments.h"

#include <cctype>

#include "base/concat.h"
#include "jit/c/types.h"

namespace ember::jit::c {

using loops::MemoryScope;

std::string Identifier(std::string_view name) {
  std::string identifier(name);
  for (char& c : identifier) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return identifier;
}

std::string Arguments::Heading(const std::string& name) {
  return Concat({"int32_t ", name,
                 "(const int64_t *parameters, void *const *buffers,\n"
                 "    int64_t begin, int64_t end, "
                 "struct EmberIndexFailure *failure)"});
}

std::string Arguments::Parameter(uint64_t number) {
  std::string name =
      Concat({"p", number, "_", Identifier(nest_.parameters[number])});
  if (declared_.insert(name).second) {
    c_.LineAt(0, Part::kBegin,
              Concat({"const int64_t ", name, " = parameters[", number, "];"}));
  }
  return name;
}

std::string Arguments::Buffer(uint32_t number) {
  const loops::Buffer& buffer = nest_.buffers[number];
  std::string name = Concat({"b", number, "_", Identifier(buffer.name)});
  if (!declared_.insert(name).second) return name;
  const std::string_view type = TypeOf(buffer.type);
  if (buffer.scope == MemoryScope::kRegister) {
    int64_t elements = 1;
    for (const loops::NodeId extent : buffer.extents)
      elements *= *nest_.pool.IntegerConstant(extent);
    c_.LineAt(0, Part::kBegin, Concat({type, " ", name, "[", elements, "];"}));
    return name;
  }
  const std::string pointer =
      Concat({buffer.scope == MemoryScope::kInput ? "const " : "", type, " *"});
  c_.LineAt(
      0, Part::kBegin,
      Concat({pointer, name, " = (", pointer, ")buffers[", number, "];"}));
  return name;
}

std::string Arguments::Variable(loops::NodeId variable) const {
  const uint64_t number = nest_.pool[variable].immediate;
  return Concat({"i", number, "_", Identifier(nest_.variables[number])});
}

}  // namespace ember::jit::c
