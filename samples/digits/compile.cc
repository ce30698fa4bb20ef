// Compiles an ONNX model to a module, using the parts of the compiler that read
// one format.
//
//   compile digits.onnx model.vmfb
//
// ./dev run builds this program instead of vm-compile, because vm-compile reads
// all formats and so takes twice as many files to build.
#include "compiler/compile.h"

#include <cstdio>
#include <utility>

#include "base/status.h"
#include "frontends/onnx/format.h"
#include "vm/format/writer.h"

namespace ember {
namespace {

Status CompileFile(const char* model, const char* output) {
  frontends::ModelFile file(model);
  EMBER_ASSIGN_OR_RETURN(graph::Graph graph, onnx::kFormat.import(file, {}));
  EMBER_ASSIGN_OR_RETURN(const vm::ModuleDefinition module,
                         compiler::Compile(std::move(graph), {}));
  EMBER_RETURN_IF_ERROR(vm::WriteModule(module, output));
  std::printf("%s: %zu dispatches, %zu constants\n", output,
              module.dispatches.size(), module.constants.size());
  return OkStatus();
}

}  // namespace
}  // namespace ember

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: compile MODEL.onnx MODULE.vmfb\n");
    return 2;
  }
  const ember::Status status = ember::CompileFile(argv[1], argv[2]);
  if (status.ok()) return 0;
  std::fprintf(stderr, "compile: %s\n", status.ToString().c_str());
  return 1;
}
