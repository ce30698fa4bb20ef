// The names that Hugging Face's transformers give the tensors of an
// architecture, and how the stored tensors differ from those that the graph
// builder expects.
//
//   for (const StoredName& stored : StoredNames("llama", "blk.3.attn_q.weight"))
//     stored.name;   // "model.layers.3.self_attn.q_proj.weight"
//
// Thread-safe.
#ifndef EMBER_FRONTENDS_SAFETENSORS_TENSOR_NAMES_H_
#define EMBER_FRONTENDS_SAFETENSORS_TENSOR_NAMES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ember::safetensors {

// The change by which a stored tensor becomes the tensor that the graph builder
// expects.
enum class Change : uint8_t {
  kNone,
  kTranspose,  // The stored matrix is [columns, rows] and is transposed.
  kAddOne,     // 1 is added to the stored factors (of norms).
  kSqueeze,    // Dims of 1 in the stored shape are dropped.
  // Rows of queries, keys and values, which are stored group of heads by group,
  // are reordered: first all queries, then the keys, then the values.
  kUngroup,
  // Tensors of the single experts, whose names have '#' for the expert's
  // number, are stacked to one.
  kStack,
};

struct StoredName {
  std::string name;
  Change change = Change::kNone;
};

// Returns the names under which a tensor may be stored, in the order in which
// they are to be tried. `name`: the name in GGUF.
std::vector<StoredName> StoredNames(std::string_view architecture,
                                    std::string_view name);

// True for stored tensors that the architectures do not use: masks and tables
// that the model computes, and the heads of encoders.
bool IsWithoutMeaning(std::string_view stored_name);

}  // namespace ember::safetensors

#endif  // EMBER_FRONTENDS_SAFETENSORS_TENSOR_NAMES_H_
