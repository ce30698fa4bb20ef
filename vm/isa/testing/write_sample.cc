// write_sample NAME FILE: writes a sample module, for tests that read files.
#include <cstdio>

#include "vm/format/writer.h"
#include "vm/isa/testing/sample_modules.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const ember::Status status =
      ember::vm::WriteModule(ember::vm::SampleNamed(argv[1]), argv[2]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
