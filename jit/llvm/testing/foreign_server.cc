// Runs kernels for jit/llvm/testing/foreign.cc. The server is built for the
// other processor and runs under qemu-user.
//
// The request consists of the following, with all numbers as i64: alignment and
// bytes of the code (vm::KernelCode); the parameters; the buffers' bytes, each
// with its offset in a page, or -1 - N for the same memory as buffer N; entries
// and tasks of the functions. The answer consists of: 0, or 1 if a check
// failed; the record of the failed check; the buffers' bytes.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "base/rounding.h"
#include "vm/format/kernel_abi.h"
#include "vm/format/kernel_image.h"
#include "vm/runtime/memory/code_memory.h"

namespace {

constexpr int64_t kPage = 4096;

// Ends the process with a message. Called if the client has ended or violates
// the protocol.
[[noreturn]] void Fail(const char* what) {
  std::fprintf(stderr, "foreign_server: %s\n", what);
  std::exit(1);
}

void Read(void* data, size_t bytes) {
  auto* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t count = read(0, at, bytes);
    if (count == 0) std::exit(0);
    if (count < 0) Fail("cannot read");
    at += count;
    bytes -= static_cast<size_t>(count);
  }
}

void Write(const void* data, size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t count = write(1, at, bytes);
    if (count <= 0) Fail("cannot write");
    at += count;
    bytes -= static_cast<size_t>(count);
  }
}

int64_t ReadNumber() {
  int64_t number = 0;
  Read(&number, sizeof number);
  return number;
}

// The memory of a buffer. It is surrounded by two pages that cannot be
// accessed, so that accesses outside crash.
struct Memory {
  char* base = nullptr;
  char* data = nullptr;
  int64_t bytes = 0;
  int64_t mapped = 0;
};

Memory ReadMemory(const std::vector<Memory>& before) {
  Memory memory;
  memory.bytes = ReadNumber();
  if (memory.bytes < 0) {
    memory.data = before[static_cast<size_t>(-1 - memory.bytes)].data;
    memory.bytes = 0;
    return memory;
  }
  const int64_t offset = ReadNumber();
  const int64_t inner = ember::RoundUp(offset + memory.bytes, kPage);
  memory.mapped = inner + 2 * kPage;
  void* const base = mmap(nullptr, static_cast<size_t>(memory.mapped),
                          PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) Fail("no memory");
  memory.base = static_cast<char*>(base);
  if (inner > 0 && mprotect(memory.base + kPage, static_cast<size_t>(inner),
                            PROT_READ | PROT_WRITE) != 0) {
    Fail("cannot protect memory");
  }
  memory.data = memory.base + kPage + offset;
  Read(memory.data, static_cast<size_t>(memory.bytes));
  return memory;
}

void Serve() {
  ember::vm::KernelCode code;
  code.alignment = static_cast<uint32_t>(ReadNumber());
  std::vector<uint8_t> bytes(static_cast<size_t>(ReadNumber()));
  Read(bytes.data(), bytes.size());
  code.bytes = bytes;
  std::vector<int64_t> parameters(static_cast<size_t>(ReadNumber()));
  Read(parameters.data(), parameters.size() * sizeof(int64_t));
  std::vector<Memory> memories(static_cast<size_t>(ReadNumber()));
  std::vector<void*> buffers;
  for (Memory& memory : memories) {
    memory = ReadMemory(memories);
    buffers.push_back(memory.data);
  }
  std::vector<int64_t> tasks(static_cast<size_t>(ReadNumber()));
  for (int64_t& count : tasks) {
    code.entries.push_back(static_cast<uint32_t>(ReadNumber()));
    count = ReadNumber();
  }
  const ember::vm::KernelCode* const codes[] = {&code};
  const auto memory = ember::vm::CodeMemory::Load(codes);
  if (!memory.ok()) Fail("cannot load the code");
  const auto functions = (*memory)->Functions(code, 0);
  ember::vm::IndexFailure failure;
  int64_t failed = 0;
  for (size_t i = 0; i < tasks.size(); ++i) {
    for (const bool is_second_half : {false, true}) {
      if (failed != 0) continue;
      failed = functions[i](parameters.data(), buffers.data(),
                            is_second_half ? tasks[i] / 2 : 0,
                            is_second_half ? tasks[i] : tasks[i] / 2, &failure);
    }
  }
  Write(&failed, sizeof failed);
  Write(&failure, sizeof failure);
  for (const Memory& memory : memories) {
    Write(memory.data, static_cast<size_t>(memory.bytes));
    munmap(memory.base, static_cast<size_t>(memory.mapped));
  }
}

}  // namespace

int main() {
  while (true) Serve();
}
