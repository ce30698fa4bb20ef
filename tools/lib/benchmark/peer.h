// Measures a model in another engine, for vm-bench --peer. The only such engine
// (peer) is ONNX Runtime: the package onnxruntime-node from npm, run by node.
//
//   EMBER_ASSIGN_OR_RETURN(const PeerInputs inputs, PeerInputs::Create());
//   EMBER_RETURN_IF_ERROR(inputs.Write(*module, tensors));
//   EMBER_ASSIGN_OR_RETURN(
//       PeerMeasurement peer,
//       MeasurePeer({.model = "resnet50.onnx", .threads = 1}, inputs));
//
// The package is looked for in $ORT_DIR, in ~/.cache/ember/ort, in the current
// folder and the folders above it. Errors are one line: node or the package is
// missing, and how it is installed; ONNX Runtime's own error. Call MeasurePeer
// while the process has only one thread, as it forks.
#ifndef EMBER_TOOLS_LIB_BENCHMARK_PEER_H_
#define EMBER_TOOLS_LIB_BENCHMARK_PEER_H_

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/status.h"
#include "vm/runtime/module.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {

struct PeerOptions {
  std::string model;  // path of an ONNX file, as the user typed it
  int64_t threads = 1;
  int64_t warmup = 5, runs = 30;
  double seconds = 10;
};

struct PeerMeasurement {
  std::string version;
  double load_ms = 0, first_ms = 0, median_ms = 0, rss_mb = 0;
  int64_t runs = 0;
};

// The tensors with which Ember was measured, for measuring the peer with the
// same ones. They are in anonymous memory files that child processes can read
// and write, so no file is left on disk when a signal ends the tool. Move-only.
class PeerInputs {
 public:
  static StatusOr<PeerInputs> Create();
  PeerInputs(PeerInputs&& other) noexcept { *this = std::move(other); }
  PeerInputs& operator=(PeerInputs&& other) noexcept {
    std::swap(list_, other.list_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~PeerInputs();

  // Replaces the tensors by these inputs. Error: an input is a tensor of
  // strings.
  Status Write(const vm::Module& module,
               std::span<const vm::Tensor> inputs) const;
  // Returns the text of a JSON list with an object for each tensor: name, type,
  // dims, file, offset, size. Error: Write was not called.
  StatusOr<std::string> List() const;

 private:
  PeerInputs() = default;

  // Descriptors of two anonymous files: one has the JSON list, the other has
  // the elements of all tensors.
  int list_ = -1, bytes_ = -1;
};

// Checks that the peer can be measured at all. Error: node or the package is
// missing.
Status CheckPeer();
StatusOr<PeerMeasurement> MeasurePeer(const PeerOptions& options,
                                      const PeerInputs& inputs);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_BENCHMARK_PEER_H_
