// The program ember-compile-worker; see worker_program.h.
#include <utility>

#include "jit/worker/worker_program.h"

int main(int argc, char** argv) {
  return ember::jit::RunWorker(argc, argv,
                               [](auto compiler) { return compiler; });
}
