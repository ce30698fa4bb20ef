// write_coverage FILE: writes docs/coverage/onnx.md (./dev coverage-page).
#include <cstdio>

#include "base/file.h"
#include "tests/onnx/coverage/coverage_page.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "expected the file to write\n");
    return 2;
  }
  std::fputs(ember::tests::UntriedOperators(false).c_str(), stderr);
  const ember::Status status =
      ember::WriteFileAtomically(argv[1], ember::tests::CoveragePage());
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
