#include "jit/c_like/identifiers.h"

#include <cctype>

#include "base/concat.h"

namespace ember::jit::c_like {

std::string Identifier(std::string_view name) {
  std::string identifier(name);
  for (char& c : identifier) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return identifier;
}

std::string ParameterName(const loops::LoopNest& nest, uint64_t number) {
  return Concat({"p", number, "_", Identifier(nest.parameters[number])});
}

std::string BufferName(const loops::LoopNest& nest, uint32_t number) {
  return Concat({"b", number, "_", Identifier(nest.buffers[number].name)});
}

}  // namespace ember::jit::c_like
