// The main function of the program ember-compile-worker (jit/worker/program.h).
#include <utility>

#include "jit/worker/program.h"

int main(int argc, char** argv) {
  return ember::jit::RunWorker(argc, argv,
                               [](auto compiler) { return compiler; });
}
