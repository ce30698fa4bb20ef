// Shared by the fuzz targets of the formats: the folder of samples, the start
// of a search from them, and the run of an imported graph. A target adds how
// its bytes are imported and how they are best mutated:
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

// Returns a folder of this process, which is empty at first and removed when
// the process ends.
const std::string& FuzzFolder();

// The name and the contents of a sample file.
using Sample = std::pair<std::string, std::string>;

// Writes the samples to a folder and adds that folder to the arguments: the
// search starts from the samples and from the corpus of ./dev fuzz. Does
// nothing if an argument is a file, because that is one input to run again.
void StartFromSamples(const std::vector<Sample>& samples, int* argc,
                      char*** argv);

// Compiles an imported graph, writes it as a file, loads that and runs it under
// limits. Each step may fail, with one line. A compiled module must pass the
// verifier. `seed` decides inputs and limits (vm/runtime/testing).
void RunImported(StatusOr<graph::Graph> graph, uint64_t seed);

// Splits the input of a fuzz target into two files: the bytes before and after
// the first byte 0.
std::pair<std::string_view, std::string_view> SplitAtZero(const uint8_t* data,
                                                          size_t size);

// A custom mutator: half of the changes are libFuzzer's changes of bytes, half
// change aligned words of 4 bytes, in which formats store numbers. Returns the
// new size.
size_t MutateBytesOrWords(uint8_t* data, size_t size, size_t max_size,
                          unsigned int seed);

}  // namespace ember::tests

#endif  // EMBER_TESTS_IMPORT_FUZZING_IMPORT_FUZZING_H_
