#include "jit/llvm/testing/foreign.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "base/check.h"
#include "jit/llvm/all_targets.h"
#include "jit/loops/text/text.h"

namespace ember::jit::llvm_ir {
namespace {

constexpr uintptr_t kPage = 4096;

struct ForeignNest : CompiledNest {
  vm::KernelCode code;
};

class ForeignCompiler : public Compiler {
 public:
  explicit ForeignCompiler(std::unique_ptr<ObjectCompiler> compiler)
      : compiler_(std::move(compiler)) {}

  StatusOr<std::unique_ptr<CompiledNest>> Compile(
      const loops::LoopNest& nest, const CompileOptions& options) override {
    auto result = std::make_unique<ForeignNest>();
    EMBER_ASSIGN_OR_RETURN(
        result->code, compiler_->CompileToCode(nest, options, result.get()));
    return std::unique_ptr<CompiledNest>(std::move(result));
  }

 private:
  std::unique_ptr<ObjectCompiler> compiler_;
};

std::string FromEnvironment(const char* name) {
  const char* const value = std::getenv(name);
  EMBER_CHECK(value != nullptr) << "expected " << name << " in the environment";
  return value;
}

// Returns the number of the first buffer that begins at the same address as
// buffer `number`.
size_t FirstAt(const std::vector<ForeignBuffer>& buffers, size_t number) {
  size_t first = 0;
  while (buffers[first].data != buffers[number].data) ++first;
  return first;
}

class Machine : public ForeignMachine {
 public:
  explicit Machine(const Processor& processor) {
    UseAllTargets();
    auto compiler = NewLlvmCompiler(std::string(processor.llvm));
    EMBER_CHECK(compiler.ok()) << compiler.status().ToString();
    compiler_ = std::make_unique<ForeignCompiler>(*std::move(compiler));
    StartServer(std::string(processor.emulator));
  }

  ~Machine() override {
    close(to_server_);
    close(from_server_);
    waitpid(server_, nullptr, 0);
  }

  Compiler& compiler() override { return *compiler_; }

  bool Run(const loops::LoopNest& nest, const CompiledNest& code,
           const std::vector<int64_t>& parameters,
           const std::vector<int64_t>& tasks,
           const std::vector<ForeignBuffer>& buffers,
           vm::IndexFailure& failure) override {
    nest_ = &nest;
    const vm::KernelCode& kernel = static_cast<const ForeignNest&>(code).code;
    WriteNumber(kernel.alignment);
    WriteNumber(static_cast<int64_t>(kernel.bytes.size()));
    Write(kernel.bytes.data(), kernel.bytes.size());
    WriteNumber(static_cast<int64_t>(parameters.size()));
    Write(parameters.data(), parameters.size() * sizeof(int64_t));
    WriteNumber(static_cast<int64_t>(buffers.size()));
    for (size_t i = 0; i < buffers.size(); ++i) {
      const ForeignBuffer& buffer = buffers[i];
      const size_t same = FirstAt(buffers, i);
      if (same < i) {
        WriteNumber(-1 - static_cast<int64_t>(same));
        continue;
      }
      WriteNumber(buffer.bytes);
      WriteNumber(static_cast<int64_t>(
          reinterpret_cast<uintptr_t>(buffer.data) % kPage));
      Write(buffer.data, static_cast<size_t>(buffer.bytes));
    }
    WriteNumber(static_cast<int64_t>(tasks.size()));
    for (size_t i = 0; i < tasks.size(); ++i) {
      WriteNumber(kernel.entries[i]);
      WriteNumber(tasks[i]);
    }
    int64_t failed = 0;
    Read(&failed, sizeof failed);
    Read(&failure, sizeof failure);
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (FirstAt(buffers, i) == i)
        Read(buffers[i].data, static_cast<size_t>(buffers[i].bytes));
    }
    return failed == 0;
  }

 private:
  void StartServer(const std::string& emulator) {
    // If a kernel crashes the server, a write to it must not end this process.
    // SIGPIPE is ignored; reading the server's answer then reports the crash.
    std::signal(SIGPIPE, SIG_IGN);
    std::istringstream words(emulator);
    std::vector<std::string> arguments;
    for (std::string word; words >> word;) arguments.push_back(word);
    arguments.push_back(FromEnvironment("EMBER_TEST_SERVER"));
    std::vector<char*> pointers;
    pointers.reserve(arguments.size() + 1);
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    int to[2], from[2];
    EMBER_CHECK(pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0);
    server_ = fork();
    EMBER_CHECK(server_ >= 0);
    if (server_ == 0) {
      dup2(to[0], 0);
      dup2(from[1], 1);
      execvp(pointers[0], pointers.data());
      std::perror(pointers[0]);
      _exit(127);
    }
    close(to[0]);
    close(from[1]);
    to_server_ = to[1];
    from_server_ = from[0];
  }

  [[noreturn]] void Crashed() {
    EMBER_CHECK(false) << "the kernel crashed, or the server: "
                       << loops::ToText(*nest_);
    std::abort();
  }

  void Write(const void* data, size_t bytes) {
    const auto* at = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t count = write(to_server_, at, bytes);
      if (count <= 0) Crashed();
      at += count;
      bytes -= static_cast<size_t>(count);
    }
  }
  void WriteNumber(int64_t number) { Write(&number, sizeof number); }
  void Read(void* data, size_t bytes) {
    auto* at = static_cast<char*>(data);
    while (bytes > 0) {
      const ssize_t count = read(from_server_, at, bytes);
      if (count <= 0) Crashed();
      at += count;
      bytes -= static_cast<size_t>(count);
    }
  }

  std::unique_ptr<Compiler> compiler_;
  pid_t server_ = -1;
  int to_server_ = -1;
  int from_server_ = -1;
  const loops::LoopNest* nest_ = nullptr;
};

}  // namespace

std::unique_ptr<ForeignMachine> ForeignMachine::Create(
    const Processor& processor) {
  return std::make_unique<Machine>(processor);
}

}  // namespace ember::jit::llvm_ir
