// Runs ONNX Runtime in a node process that lives as long as this object.
//
//   EMBER_ASSIGN_OR_RETURN(auto ort, OrtProcess::Start(options));
//   EMBER_RETURN_IF_ERROR(ort->Send(models));   // returns at once
//   EMBER_ASSIGN_OR_RETURN(std::vector<OrtResult> results, ort->Receive());
//
// Batches are files below `folder` (a memory file system is best): a count of
// models, and for each the model's bytes and its named inputs. The reply has
// for each model a code (0: a count and the named results follow; 1: no
// session; 2: no run; after 1 and 2 a message follows). Numbers are 64 bits
// wide, little-endian; bytes and texts have their size in front; a tensor is
// ONNX's number of its type, its rank, its dims, and its bytes, or a count of
// strings and those.
//
// A model that crashes the process has the outcome kCrash, and a new process
// runs the rest of the batch. Not thread-safe; one batch at a time.
#ifndef EMBER_TESTS_RANDOM_MODELS_ORT_PROCESS_H_
#define EMBER_TESTS_RANDOM_MODELS_ORT_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "tests/random_models/model.h"

namespace ember::tests {

struct OrtResult {
  enum Outcome : uint8_t { kResults, kRefused, kFailed, kCrash };
  Outcome outcome = kResults;
  std::string message;
  NamedTensors results;
};

struct OrtOptions {
  std::string script;  // path of ort_batch.mjs
  std::string folder;  // folder for batches, which must exist
};

class OrtProcess {
 public:
  static StatusOr<std::unique_ptr<OrtProcess>> Start(OrtOptions options);
  ~OrtProcess();
  OrtProcess(const OrtProcess&) = delete;
  OrtProcess& operator=(const OrtProcess&) = delete;

  // Sends a batch of models. `level` is the graph optimisation: "disabled" or
  // "all".
  Status Send(const std::vector<const RandomModel*>& models,
              const std::string& level = "disabled");
  // Returns one result per model of the last Send. kInternal if the script's
  // reply is not valid.
  StatusOr<std::vector<OrtResult>> Receive();
  StatusOr<std::vector<OrtResult>> Run(
      const std::vector<const RandomModel*>& models,
      const std::string& level = "disabled");

 private:
  explicit OrtProcess(OrtOptions options) : options_(std::move(options)) {}
  Status Spawn();
  void Reap();
  // Returns the next line of the script; "" if the script has ended.
  std::string ReadReply();
  Status WriteRequest(size_t first);
  StatusOr<std::vector<OrtResult>> ReadResults(size_t most) const;

  const OrtOptions options_;
  std::string request_, result_;
  // bytes of the models of the current batch
  std::vector<std::string> encoded_;
  std::string level_;
  pid_t process_ = -1;
  FILE* to_ = nullptr;
  FILE* from_ = nullptr;
};

}  // namespace ember::tests

#endif  // EMBER_TESTS_RANDOM_MODELS_ORT_PROCESS_H_
