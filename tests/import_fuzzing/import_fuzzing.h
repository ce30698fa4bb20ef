// What the fuzz targets of the formats share: where samples lie, how a search
// starts from them, and what happens to a graph that could be imported. A
// target says how its bytes are imported and how they are best changed:
//
//   extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
//     tests::StartFromSamples(samples, argc, argv);
//     return 0;
//   }
//   extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
//     tests::RunImported(ImportModelBytes({data, size}, nullptr, {}), size);
//     return 0;
//   }
//
// For one thread.
#ifndef EMBER_TESTS_IMPORT_FUZZING_IMPORT_FUZZING_H_
#define EMBER_TESTS_IMPORT_FUZZING_IMPORT_FUZZING_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::tests {

// A folder of this process, empty at first and removed at its end.
const std::string& FuzzFolder();

// A name for a file, and what it holds.
using Sample = std::pair<std::string, std::string>;

// The samples as files, in a folder that joins the arguments: where the search
// starts, besides the corpus of ./dev fuzz. Not where an argument is a file, as
// that is one input that is run again.
void StartFromSamples(const std::vector<Sample>& samples, int* argc,
                      char*** argv);

// Compiles what was imported, writes it as a file, loads that and runs it under
// limits. Each may fail, with one line; what the compiler gives must pass the
// verifier. `seed` decides inputs and limits (vm/runtime/testing).
void RunImported(StatusOr<graph::Graph> graph, uint64_t seed);

// An input of two files: up to the first byte 0, and from behind it.
std::pair<std::string_view, std::string_view> SplitAtZero(const uint8_t* data,
                                                          size_t size);

// A custom mutator: half of the changes are those to bytes of libFuzzer, half
// are made to aligned words of 4 bytes, in which formats keep numbers. Returns
// the new size.
size_t MutateBytesOrWords(uint8_t* data, size_t size, size_t max_size,
                          unsigned int seed);

}  // namespace ember::tests

#endif  // EMBER_TESTS_IMPORT_FUZZING_IMPORT_FUZZING_H_
