// Generates random ONNX models of a few nodes: typed and shape-aware, of all
// operators that have a recipe.
//
//   RandomModel model = GenerateModel(seed, {}, *engine, &refused);
//
// The same seed and options give the same model as long as tier 0 gives the
// same results. Thread-safe for distinct engines.
#ifndef EMBER_TESTS_RANDOM_MODELS_GENERATOR_H_
#define EMBER_TESTS_RANDOM_MODELS_GENERATOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/random_models/builder.h"
#include "tests/random_models/model.h"

namespace ember::tests {

struct GeneratorOptions {
  // Largest number of recipes in a model. Each recipe may add several nodes.
  int64_t most_nodes = 10;
  // Only recipes whose "domain::name" contains this text are used; "" means
  // all.
  std::string only;
  // True: only f32 and the types that go with it (indices, bools) are used, for
  // which devices have kernels.
  bool is_plain = false;
};

// Generates the model of a seed. Nodes that the engine refuses while the model
// grows are added to `refused`.
RandomModel GenerateModel(uint64_t seed, const GeneratorOptions& options,
                          Engine& engine, std::vector<Refused>* refused);

// Says how many dims of the inputs WithOpenDims makes open.
enum class OpenDims : uint8_t { kNone, kSome, kAll };
RandomModel WithOpenDims(const RandomModel& model, OpenDims open);

// Drops nodes, initializers and inputs that no output needs.
void RemoveDeadNodes(RandomModel& model);
// Drops nodes of subgraphs that none of their outputs needs; generated models
// have some.
void RemoveDeadNodesInside(onnx::GraphProto& graph);

}  // namespace ember::tests

#endif  // EMBER_TESTS_RANDOM_MODELS_GENERATOR_H_
