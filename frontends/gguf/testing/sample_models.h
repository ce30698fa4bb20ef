// Small GGUF models of every architecture with random weights, for tests.
//
//   for (const std::string_view name : SampleModelNames())
//     Import(SampleModel(name));   // the bytes of a file
//
// The files are the same in every run. llama.cpp reads them, too
// (tests/gguf/write_golden.py). "llama/text", which is not one of the names,
// has a tokenizer for texts of ASCII and a chat template.
#ifndef EMBER_FRONTENDS_GGUF_TESTING_SAMPLE_MODELS_H_
#define EMBER_FRONTENDS_GGUF_TESTING_SAMPLE_MODELS_H_

#include <span>
#include <string>
#include <string_view>

namespace ember::gguf {

// Returns the models' names, such as "llama", or "llama/yarn" for a variant.
std::span<const std::string_view> SampleModelNames();
std::string SampleModel(std::string_view name);

}  // namespace ember::gguf

#endif  // EMBER_FRONTENDS_GGUF_TESTING_SAMPLE_MODELS_H_
