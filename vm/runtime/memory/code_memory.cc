#include "vm/runtime/memory/code_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/concat.h"
#include "base/rounding.h"

namespace ember::vm {
namespace {}  // namespace

StatusOr<std::shared_ptr<const CodeMemory>> CodeMemory::Load(
    std::span<const KernelCode* const> codes) {
  std::shared_ptr<CodeMemory> memory(new CodeMemory());
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  uint64_t end = 0;
  size_t alignment = page;
  for (const KernelCode* code : codes) {
    alignment = std::max<size_t>(alignment, code->alignment);
    const uint64_t begin = RoundUp(end, code->alignment);
    memory->offsets_.push_back(static_cast<size_t>(begin));
    end = begin + code->bytes.size();
  }
  if (end == 0) return std::shared_ptr<const CodeMemory>(std::move(memory));
  // Additional bytes are reserved, so that the code can begin at a multiple of
  // an alignment that is larger than a page.
  const uint64_t size =
      RoundUp(static_cast<size_t>(end), page) + alignment - page;
  void* const mapped =
      end > SIZE_MAX / 2
          ? MAP_FAILED
          : mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    return ResourceExhaustedError(
        Concat({"kernels: no memory for ", size, " bytes of code"}));
  }
  memory->base_ = static_cast<uint8_t*>(mapped);
  memory->size_ = static_cast<size_t>(size);
  const size_t shift = RoundUp(reinterpret_cast<uintptr_t>(mapped), alignment) -
                       reinterpret_cast<uintptr_t>(mapped);
  for (size_t i = 0; i < codes.size(); ++i) {
    memory->offsets_[i] += shift;
    if (codes[i]->bytes.empty()) continue;
    std::memcpy(memory->base_ + memory->offsets_[i], codes[i]->bytes.data(),
                codes[i]->bytes.size());
  }
  if (mprotect(mapped, memory->size_, PROT_READ | PROT_EXEC) != 0) {
    return FailedPreconditionError(
        "kernels: the system does not let this process make code executable");
  }
  auto* const begin = reinterpret_cast<char*>(mapped);
  __builtin___clear_cache(begin, begin + memory->size_);
  return std::shared_ptr<const CodeMemory>(std::move(memory));
}

CodeMemory::~CodeMemory() {
  if (base_ != nullptr) munmap(base_, size_);
}

std::vector<PhaseFunction> CodeMemory::Functions(const KernelCode& code,
                                                 size_t i) const {
  std::vector<PhaseFunction> functions;
  for (const uint32_t entry : code.entries) {
    functions.push_back(
        reinterpret_cast<PhaseFunction>(base_ + offsets_[i] + entry));
  }
  return functions;
}

}  // namespace ember::vm
