// write_coverage FILE: writes docs/mxnet-coverage.md (./dev coverage-page).
#include <cstdio>

#include "base/file.h"
#include "tests/mxnet/coverage/coverage_page.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "expected the file to write\n");
    return 2;
  }
  const ember::Status status =
      ember::WriteFileAtomically(argv[1], ember::tests::MxnetCoveragePage());
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
