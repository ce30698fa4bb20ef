// Compiles an ONNX model and runs it, from C++: embed MODEL.onnx
#include <cstdio>

#include "compiler/compile.h"
#include "frontends/onnx/import/import.h"
#include "hal/cpu/device.h"
#include "vm/runtime/session.h"

namespace {

using namespace ember;

Status CompileAndRun(const char* path) {
  EMBER_ASSIGN_OR_RETURN(graph::Graph graph, onnx::ImportModel(path, {}));
  EMBER_ASSIGN_OR_RETURN(vm::ModuleDefinition definition,
                         compiler::Compile(std::move(graph), {}));
  EMBER_ASSIGN_OR_RETURN(auto module,
                         vm::Module::FromDefinition(std::move(definition)));
  EMBER_ASSIGN_OR_RETURN(auto device, hal::CreateCpuDevice({.threads = 1}));
  EMBER_ASSIGN_OR_RETURN(auto session,
                         vm::Session::Create(module, {.device = device}));

  std::vector<vm::Tensor> inputs, results;
  for (const vm::TensorSignature& signature : module->inputs()) {
    std::vector<int64_t> dims;
    // An open dim (-1), such as the batch, gets the extent 1.
    for (int64_t dim : signature.dims) dims.push_back(dim < 0 ? 1 : dim);
    EMBER_ASSIGN_OR_RETURN(vm::Tensor zeros,
                           vm::Tensor::Allocate(signature.type, dims));
    inputs.push_back(std::move(zeros));
  }
  EMBER_RETURN_IF_ERROR(session->Run(inputs, &results));
  for (size_t i = 0; i < results.size(); ++i) {
    std::printf("%s: %s\n", module->results()[i].name.c_str(),
                results[i].TypeText().c_str());
  }
  return OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: embed MODEL.onnx\n");
    return 2;
  }
  Status status = CompileAndRun(argv[1]);
  // Flushes the results and checks stdout: a write may have failed, for example
  // because the disk is full.
  if (status.ok() && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0))
    status = FailedPreconditionError("cannot write to stdout");
  if (status.ok()) return 0;
  std::fprintf(stderr, "embed: %s\n", std::string(status.message()).c_str());
  return 1;
}
