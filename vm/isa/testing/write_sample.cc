// write_sample NAME FILE: writes a sample module to a file, for tests that read
// files. It is written as text if the file's name ends in .txt.
#include <cstdio>
#include <string_view>

#include "base/file.h"
#include "vm/format/writer.h"
#include "vm/isa/testing/sample_modules.h"
#include "vm/isa/text.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const ember::vm::ModuleDefinition module = ember::vm::SampleNamed(argv[1]);
  const ember::Status status =
      std::string_view(argv[2]).ends_with(".txt")
          ? ember::WriteFileAtomically(argv[2], ember::vm::PrintModule(module))
          : ember::vm::WriteModule(module, argv[2]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
