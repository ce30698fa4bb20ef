#include "jit/c_like/names.h"

#include "base/concat.h"
#include "jit/c_like/form.h"
#include "jit/c_like/kernel_function.h"
#include "jit/loops/analysis/buffer_uses.h"

namespace ember::jit::c_like {

using loops::MemoryScope;

Names::Names(const Language& language, const loops::LoopNest& nest,
             const loops::Phase& phase, SourceBuilder& builder)
    : language_(language),
      nest_(nest),
      phase_(phase),
      c_(builder),
      of_invocation_(language.HasInvocations()
                         ? loops::BuffersOfInvocations(nest)
                         : std::vector<bool>(nest.buffers.size())) {}

std::string Names::Parameter(uint64_t number) {
  std::string name = ParameterName(nest_, number);
  if (language_.parameter.empty() || !declared_.insert(name).second)
    return name;
  c_.LineAt(0, Part::kBegin,
            Fill(language_.parameter,
                 {{"name", name}, {"number", std::to_string(number)}}));
  return name;
}

std::string Names::Buffer(uint32_t number) {
  const loops::Buffer& buffer = nest_.buffers[number];
  std::string name = BufferName(nest_, number);
  if (!declared_.insert(name).second) return name;
  if (buffer.scope != MemoryScope::kRegister) {
    const std::string line =
        language_.HasInvocations()
            ? KernelBufferLine(language_, nest_, phase_, number, name)
            : language_.buffer(nest_, number, name);
    if (!line.empty()) c_.LineAt(0, Part::kBegin, line);
    return name;
  }
  int64_t elements = 1;
  for (size_t dim = IsOfInvocation(number) ? 1 : 0; dim < buffer.extents.size();
       ++dim)
    elements *= *nest_.pool.IntegerConstant(buffer.extents[dim]);
  c_.LineAt(0, Part::kBegin,
            Fill(language_.declarations.array,
                 {{"type", TypeOf(language_, buffer.type)},
                  {"name", name},
                  {"count", std::to_string(elements)}}));
  return name;
}

bool Names::IsAccessedByForm(uint32_t buffer) const {
  return language_.load != nullptr &&
         nest_.buffers[buffer].scope != MemoryScope::kRegister;
}

std::string Names::Element(uint32_t buffer, std::string_view position) {
  const std::string name = Buffer(buffer);
  if (IsAccessedByForm(buffer))
    return language_.load(nest_, phase_, buffer, name, position);
  return Concat({name, "[", position, "]"});
}

std::string Names::Assignment(uint32_t buffer, std::string_view position,
                              std::string_view value) {
  const std::string name = Buffer(buffer);
  if (IsAccessedByForm(buffer))
    return language_.store(nest_, phase_, buffer, name, position, value);
  return Concat({name, "[", position, "] = ", value, ";"});
}

std::string Names::Variable(loops::NodeId variable) const {
  const uint64_t number = nest_.pool[variable].immediate;
  return Concat({"i", number, "_", Identifier(nest_.variables[number])});
}

}  // namespace ember::jit::c_like
