// The entry of libember_jit.so.
#include <memory>
#include <string>

#include "jit/jit.h"

// The library and the program that loads it are built together (the loader
// looks beside the program), so C++ types may cross.
extern "C" __attribute__((visibility("default"))) bool EmberNewJit(
    const ember::jit::JitOptions* options,
    std::shared_ptr<ember::jit::Jit>* jit, std::string* error) {
  auto created = ember::jit::NewJit(*options);
  if (created.ok()) {
    *jit = *std::move(created);
    return true;
  }
  *error = created.status().ToString();
  return false;
}
