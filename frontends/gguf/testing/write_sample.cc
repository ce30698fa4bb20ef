// Writes one of the sample models to a file.
//
// usage: write_sample NAME FILE
#include <cstdio>

#include "base/file.h"
#include "frontends/gguf/testing/sample_models.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: write_sample NAME FILE\n");
    return 2;
  }
  const ember::Status status =
      ember::WriteFileAtomically(argv[2], ember::gguf::SampleModel(argv[1]));
  if (status.ok()) return 0;
  std::fprintf(stderr, "write_sample: %s\n", status.ToString().c_str());
  return 1;
}
