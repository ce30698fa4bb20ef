#include "hal/metal/programs.h"

#include <utility>

namespace ember::hal::metal {

StatusOr<std::shared_ptr<Program>> Programs::Load(std::string_view source) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::erase_if(programs_,
                  [](const auto& entry) { return entry.second.expired(); });
    const auto found = programs_.find(source);
    if (found != programs_.end()) {
      if (std::shared_ptr<Program> program = found->second.lock())
        return program;
    }
  }
  // Programs are compiled without the lock, because compiling takes long. Two
  // threads may compile the same one.
  EMBER_ASSIGN_OR_RETURN(Program compiled, context_.Compile(source));
  auto program = std::make_shared<Program>(std::move(compiled));
  const std::lock_guard<std::mutex> lock(mutex_);
  programs_.insert_or_assign(std::string(source), program);
  return program;
}

}  // namespace ember::hal::metal
