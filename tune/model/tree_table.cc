#include "tune/model/tree_table.h"

#include <bit>
#include <cmath>
#include <utility>

#include "base/byte_cursor.h"
#include "base/check.h"
#include "base/concat.h"
#include "tune/model/feature_table.h"
#include "tune/model/nest_features.h"

namespace ember::tune {
namespace {

constexpr uint16_t kLeaf = 0xffff;
constexpr size_t kBytesOfNode = 8;
constexpr uint64_t kMaxEnsembles = 64;

Status Damaged(std::string_view what) {
  return DataLossError(Concat(
      {"file of trees: ", what, "; make it again with ./dev tune-model"}));
}

float FloatOf(uint64_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits));
}

}  // namespace

StatusOr<TreeTable> TreeTable::Parse(std::span<const uint8_t> file) {
  ByteCursor in(file);
  if (!in.Matches("EMTREES1"))
    return Damaged("expected \"EMTREES1\" at its begin");
  const uint64_t version = in.Unsigned(4), features = in.Unsigned(4);
  if (!in.ok()) return Damaged("expected a header of 28 bytes, found its end");
  if (version != kFeatureVersion || features != kFeatureCount) {
    return UnimplementedError(
        Concat({"file of trees: expected version ", kFeatureVersion, " with ",
                kFeatureCount, " features, found version ", version, " with ",
                features, "; make it again with ./dev tune-model"}));
  }
  TreeTable table;
  table.analytic_share_ = FloatOf(in.Unsigned(4));
  table.deviation_ = FloatOf(in.Unsigned(4));
  if (!std::isfinite(table.analytic_share_) ||
      !std::isfinite(table.deviation_) || table.deviation_ < 0) {
    return Damaged("expected a share and a deviation in its header");
  }
  const uint64_t ensembles = in.Unsigned(4);
  if (!in.ok() || ensembles == 0 || ensembles > kMaxEnsembles)
    return Damaged(Concat({"expected 1 to ", kMaxEnsembles, " ensembles"}));
  for (uint64_t i = 0; i < ensembles; ++i) {
    Ensemble& ensemble = table.ensembles_.emplace_back();
    const uint64_t trees = in.Unsigned(4), nodes = in.Unsigned(4);
    // The sizes are multiplied in 64 bits and cannot overflow, because both
    // counts have 32 bits.
    if (!in.ok() || 4 * trees + kBytesOfNode * nodes > in.remaining())
      return Damaged(Concat({"ensemble ", i, " is cut off"}));
    for (uint64_t t = 0; t < trees; ++t)
      ensemble.trees.push_back(static_cast<uint32_t>(in.Unsigned(4)));
    for (uint64_t n = 0; n < nodes; ++n) {
      Node node;
      node.feature = static_cast<uint16_t>(in.Unsigned(2));
      node.right = static_cast<uint16_t>(in.Unsigned(2));
      node.number = FloatOf(in.Unsigned(4));
      ensemble.nodes.push_back(node);
    }
    for (size_t t = 0; t < ensemble.trees.size(); ++t) {
      const size_t end = t + 1 < ensemble.trees.size() ? ensemble.trees[t + 1]
                                                       : ensemble.nodes.size();
      if (Status status = CheckTree(ensemble, ensemble.trees[t], end);
          !status.ok()) {
        return status.WithContext(Concat({"ensemble ", i, ", tree ", t}));
      }
    }
  }
  if (in.remaining() != 0) return Damaged("expected its end after the trees");
  return table;
}

// Checks one tree of an ensemble, which consists of the nodes from `begin` to
// `end`.
Status TreeTable::CheckTree(const Ensemble& ensemble, size_t begin,
                            size_t end) {
  if (begin >= end || end > ensemble.nodes.size())
    return Damaged("expected a node or more");
  for (size_t i = begin; i < end; ++i) {
    const Node& node = ensemble.nodes[i];
    if (!std::isfinite(node.number)) return Damaged("expected finite numbers");
    if (node.feature == kLeaf) continue;
    if (node.feature >= kFeatureCount) {
      return Damaged(Concat({"expected a feature below ", kFeatureCount,
                             ", found ", node.feature}));
    }
    if (node.right < 2 || node.right >= end - i)
      return Damaged("expected children behind their parent, in the tree");
  }
  return OkStatus();
}

size_t TreeTable::tree_count() const {
  size_t count = 0;
  for (const Ensemble& ensemble : ensembles_) count += ensemble.trees.size();
  return count;
}

double TreeTable::Evaluate(size_t ensemble,
                           std::span<const float> features) const {
  EMBER_CHECK(features.size() == kFeatureCount);
  const Ensemble& trees = ensembles_[ensemble];
  double sum = 0;
  for (uint32_t root : trees.trees) {
    const Node* node = &trees.nodes[root];
    while (node->feature != kLeaf) {
      node += features[node->feature] < node->number ? 1 : node->right;
    }
    sum += static_cast<double>(node->number);
  }
  return sum;
}

}  // namespace ember::tune
