// Writes the sample GGUF models to a folder, for write_golden.py: one file
// NAME.gguf for each, with '_' in place of '/'.
//
// usage: write_samples FOLDER
#include <algorithm>
#include <cstdio>
#include <string>

#include "base/file.h"
#include "frontends/gguf/testing/sample_models.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_samples FOLDER\n");
    return 2;
  }
  for (const std::string_view name : ember::gguf::SampleModelNames()) {
    std::string file(name);
    std::ranges::replace(file, '/', '_');
    const ember::Status status =
        ember::WriteFileAtomically(std::string(argv[1]) + "/" + file + ".gguf",
                                   ember::gguf::SampleModel(name));
    if (status.ok()) continue;
    std::fprintf(stderr, "write_samples: %s\n", status.ToString().c_str());
    return 1;
  }
  return 0;
}
