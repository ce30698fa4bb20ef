// Runs a GGUF model at tier 0, token by token, for tests.
//
//   SampleSession session(SampleModel("llama"));
//   std::vector<float> logits = session.Append({1, 7, 8});
//
// Not thread-safe.
#ifndef EMBER_TESTS_GGUF_SAMPLE_SESSION_H_
#define EMBER_TESTS_GGUF_SAMPLE_SESSION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "tools/lib/generate/language_model.h"
#include "vm/runtime/session.h"

namespace ember::gguf {

// Compiles the graph and opens a session of one thread at tier 0.
StatusOr<std::unique_ptr<vm::Session>> OpenSession(
    StatusOr<graph::Graph> graph);

class SampleSession {
 public:
  // Imports, compiles and opens the model; an error fails the test.
  explicit SampleSession(const std::string& model, int64_t context = 512);
  explicit SampleSession(StatusOr<graph::Graph> graph, int64_t context = 512);

  // Returns the logits after the last token; empty after an error.
  std::vector<float> Append(const std::vector<int32_t>& tokens);
  // Returns the message of the last error.
  const std::string& error() const { return error_; }

 private:
  void Open(StatusOr<graph::Graph> graph, int64_t context);

  std::unique_ptr<vm::Session> session_;
  std::unique_ptr<tools::SharedSession> shared_;
  std::unique_ptr<tools::LanguageModel> model_;
  std::string error_;
};

// Returns the embedding that an encoder gives; empty after an error, which
// fails the test.
std::vector<float> Embed(const std::string& model,
                         const std::vector<int32_t>& tokens);

}  // namespace ember::gguf

#endif  // EMBER_TESTS_GGUF_SAMPLE_SESSION_H_
