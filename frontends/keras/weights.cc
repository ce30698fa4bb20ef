#include "frontends/keras/weights.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/one_line.h"
#include "frontends/keras/layer_table.h"

namespace ember::keras {
namespace {

// Converts a class name to snake case, such as "BatchNormalization" to
// "batch_normalization", and "Conv2DTranspose" to "conv2d_transpose".
std::string ToSnakeCase(std::string_view name) {
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  std::string plain;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_')
      plain += c;
  std::string result;
  for (size_t i = 0; i < plain.size(); ++i) {
    const char c = plain[i];
    const bool begins_word = i + 1 < plain.size() && is_lower(plain[i + 1]);
    if (i > 0 && is_upper(c) && (begins_word || is_lower(plain[i - 1])))
      result += '_';
    result += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

std::vector<Role> If(bool there, std::vector<Role> roles) {
  return there ? std::move(roles) : std::vector<Role>();
}

void Append(std::vector<Role>& roles, const std::vector<Role>& more,
            const std::string& prefix, bool trainable) {
  for (const Role& role : more)
    roles.push_back({prefix + role.path, role.trainable && trainable});
}

StatusOr<std::vector<Role>> RolesWithin(const Layer& layer, int depth) {
  if (depth > kMaxNesting) {
    return ResourceExhaustedError("layer '" + OnOneLine(layer.name) +
                                  "': nested too deeply");
  }
  std::vector<Role> roles;
  const bool trainable =
      !layer.config.is_object() || layer.config.Flag("trainable", true);
  if (layer.network != nullptr) {
    const std::vector<std::string> names = StoredNames(*layer.network);
    for (size_t i = 0; i < layer.network->layers.size(); ++i) {
      EMBER_ASSIGN_OR_RETURN(const std::vector<Role> inner,
                             RolesWithin(layer.network->layers[i], depth + 1));
      Append(roles, inner, "layers/" + names[i] + "/", trainable);
    }
    return roles;
  }
  const LayerRow* row = FindRow(layer);
  if (row == nullptr) return roles;
  if (row->weights != nullptr)
    Append(roles, row->weights(layer.config), "", trainable);
  if (row->inner != nullptr) {
    EMBER_ASSIGN_OR_RETURN(const std::vector<InnerLayer> inner,
                           row->inner(layer.config));
    for (const InnerLayer& one : inner) {
      EMBER_ASSIGN_OR_RETURN(const std::vector<Role> more,
                             RolesWithin(*one.layer, depth + 1));
      Append(roles, more, one.attribute + "/", trainable);
    }
  }
  return roles;
}

std::string Listed(const std::vector<Role>& roles) {
  std::string text;
  for (const Role& role : roles) {
    if (text.size() > 200) return text + ", …";
    text += (text.empty() ? "" : ", ") + role.path;
  }
  return text.empty() ? "none" : text;
}

// Returns the names in an attribute. h5py splits long lists into
// "weight_names0", "weight_names1" …
StatusOr<std::vector<std::string>> NamesAttribute(const hdf5::Object& group,
                                                  const std::string& name) {
  EMBER_ASSIGN_OR_RETURN(auto whole, group.Strings(name));
  if (whole) return *std::move(whole);
  std::vector<std::string> all;
  for (int i = 0;; ++i) {
    EMBER_ASSIGN_OR_RETURN(const auto part,
                           group.Strings(name + std::to_string(i)));
    if (!part) return all;
    all.insert(all.end(), part->begin(), part->end());
  }
}

StatusOr<hdf5::Dataset> ReadWeight(const hdf5::Object& object) {
  EMBER_ASSIGN_OR_RETURN(hdf5::Dataset dataset, object.Read());
  // Keras 3 stores bfloat16 weights as 16-bit integers, with an attribute that
  // states the type.
  EMBER_ASSIGN_OR_RETURN(const bool is_bfloat16, [&]() -> StatusOr<bool> {
    if (DTypeByteSize(dataset.dtype) != 2) return false;
    EMBER_ASSIGN_OR_RETURN(const auto type, object.Strings("dtype"));
    return type && *type == std::vector<std::string>{"bfloat16"};
  }());
  if (is_bfloat16) dataset.dtype = DType::kBF16;
  return dataset;
}

}  // namespace

std::vector<Role> KernelAndBias(const Config& config) {
  std::vector<Role> roles = {{"kernel"}};
  if (config.Flag("use_bias", true)) roles.push_back({"bias"});
  return roles;
}

std::vector<Role> KernelAndBiasAxes(const Config& config) {
  std::vector<Role> roles = {{"kernel"}};
  if (!config.Text("bias_axes").empty()) roles.push_back({"bias"});
  return roles;
}

std::vector<Role> DepthwiseWeights(const Config& config) {
  // The role's name, under which importers ask for the weight, is that of Keras
  // 2 ("depthwise_kernel"); Keras 3 calls it "kernel". Files list weights by
  // number, so the name may be chosen.
  std::vector<Role> roles = {{"depthwise_kernel"}};
  if (config.Flag("use_bias", true)) roles.push_back({"bias"});
  return roles;
}

std::vector<Role> SeparableWeights(const Config& config) {
  std::vector<Role> roles = {{"depthwise_kernel"}, {"pointwise_kernel"}};
  if (config.Flag("use_bias", true)) roles.push_back({"bias"});
  return roles;
}

std::vector<Role> GammaAndBeta(const Config& config) {
  std::vector<Role> roles;
  if (config.Flag("scale", true)) roles.push_back({"gamma"});
  if (config.Flag("center", true)) roles.push_back({"beta"});
  return roles;
}

std::vector<Role> BatchNormalizationWeights(const Config& config) {
  std::vector<Role> roles = GammaAndBeta(config);
  roles.push_back({"moving_mean", false});
  roles.push_back({"moving_variance", false});
  return roles;
}

std::vector<Role> ScaleWeights(const Config&) { return {{"scale"}}; }
std::vector<Role> EmbeddingWeights(const Config&) { return {{"embeddings"}}; }
std::vector<Role> ReversibleEmbeddingWeights(const Config& config) {
  std::vector<Role> roles = {{"embeddings"}};
  if (!config.Flag("tie_weights", true))
    roles.push_back({"reverse_embeddings"});
  return roles;
}
std::vector<Role> AlphaWeights(const Config&) { return {{"alpha"}}; }
std::vector<Role> LayerScaleWeights(const Config&) { return {{"gamma"}}; }

namespace {

// Returns the weights of a single recurrent cell.
std::vector<Role> OwnCellWeights(const Config& config) {
  std::vector<Role> roles = {{"cell/kernel"}, {"cell/recurrent_kernel"}};
  if (config.Flag("use_bias", true)) roles.push_back({"cell/bias"});
  return roles;
}

}  // namespace

std::vector<Role> CellWeights(const Config& config) {
  // An RNN's configuration has one cell or several. Cells within cells are not
  // looked at: importing refuses all but the known cells.
  const Config cell = config.Entry("cell");
  if (cell.json() == nullptr) return OwnCellWeights(config);
  const Config inner = cell.Entry("config");
  std::vector<Role> roles;
  std::map<std::string, int> counts;
  for (const Config& one : inner.Items("cells")) {
    std::string name = ToSnakeCase(one.Text("class_name"));
    const int count = counts[name]++;
    if (count > 0) name += "_" + std::to_string(count);
    Append(roles, OwnCellWeights(one.Entry("config")),
           "cell/cells/" + name + "/", true);
  }
  for (Role& role : roles) {
    // In "cell/cells/lstm_cell/cell/kernel" the second "cell/" is dropped: here
    // the layers in the list are the cells themselves.
    const size_t at = role.path.rfind("cell/");
    role.path.erase(at, 5);
  }
  return roles.empty() ? OwnCellWeights(inner) : roles;
}

std::vector<Role> AttentionWeights(const Config& config) {
  std::vector<Role> roles;
  if (config.Flag("use_scale", false)) roles.push_back({"scale"});
  if (config.Text("score_mode", "dot") == "concat")
    roles.push_back({"concat_score_weight"});
  return roles;
}

std::vector<Role> AdditiveAttentionWeights(const Config& config) {
  return If(config.Flag("use_scale", true), {{"scale"}});
}

std::vector<Role> MultiHeadWeights(const Config& config) {
  std::vector<Role> roles;
  for (const char* part :
       {"query_dense/", "key_dense/", "value_dense/", "output_dense/"}) {
    roles.push_back({part + std::string("kernel")});
    if (config.Flag("use_bias", true))
      roles.push_back({part + std::string("bias")});
  }
  return roles;
}

std::vector<Role> NormalizationWeights(const Config& config) {
  // If the mean is in the configuration, the Normalization layer has no
  // weights.
  return If(!config.Has("mean"),
            {{"mean", false}, {"variance", false}, {"count", false}});
}

std::vector<Role> SpectralWeights(const Config&) {
  return {{"vector_u", false}};
}

StatusOr<std::vector<InnerLayer>> WrappedLayer(const Config& config) {
  EMBER_ASSIGN_OR_RETURN(Layer layer, ReadLayer(config.Entry("layer")));
  std::vector<InnerLayer> layers;
  layers.push_back({"layer", std::make_unique<Layer>(std::move(layer))});
  return layers;
}

StatusOr<std::vector<InnerLayer>> BidirectionalLayers(const Config& config) {
  std::vector<InnerLayer> layers;
  // Fails for a layer that wraps other layers. Bidirectional reads its layer
  // twice, so nested ones would take time exponential in their depth.
  const auto check = [](const Layer& layer) -> Status {
    const LayerRow* row = FindRow(layer);
    if (layer.network == nullptr && (row == nullptr || row->inner == nullptr))
      return OkStatus();
    return InvalidArgumentError("layer '" + OnOneLine(layer.name) +
                                "': expected a recurrent layer in a "
                                "Bidirectional, found " +
                                OnOneLine(layer.class_name));
  };
  EMBER_ASSIGN_OR_RETURN(Layer forward, ReadLayer(config.Entry("layer")));
  EMBER_RETURN_IF_ERROR(check(forward));
  // The backward layer is a copy of the forward one unless it is given.
  const bool given = config.Has("backward_layer");
  EMBER_ASSIGN_OR_RETURN(
      Layer backward,
      ReadLayer(config.Entry(given ? "backward_layer" : "layer")));
  EMBER_RETURN_IF_ERROR(check(backward));
  layers.push_back(
      {"forward_layer", std::make_unique<Layer>(std::move(forward))});
  layers.push_back(
      {"backward_layer", std::make_unique<Layer>(std::move(backward))});
  return layers;
}

std::vector<std::string> StoredNames(const Network& network) {
  std::map<std::string, int> counts;
  std::vector<std::string> names;
  for (const Layer& layer : network.layers) {
    std::string name = ToSnakeCase(layer.class_name);
    const int count = counts[name]++;
    if (count > 0) name += "_" + std::to_string(count);
    names.push_back(std::move(name));
  }
  return names;
}

StatusOr<std::vector<Role>> RolesOf(const Layer& layer) {
  return RolesWithin(layer, 0);
}

StatusOr<Weights> ReadListedWeights(const Network& network,
                                    const hdf5::Object& group) {
  Weights weights;
  const std::vector<std::string> names = StoredNames(network);
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    EMBER_ASSIGN_OR_RETURN(std::vector<Role> roles, RolesOf(layer));
    if (roles.empty()) continue;
    std::stable_partition(roles.begin(), roles.end(),
                          [](const Role& role) { return role.trainable; });
    const std::string what = "layer '" + OnOneLine(layer.name) + "'";
    EMBER_ASSIGN_OR_RETURN(const std::optional<hdf5::Object> own,
                           group.Find(layer.name));
    if (!own) {
      return DataLossError(what + ": expected weights (" + Listed(roles) +
                           "), found none in the file");
    }
    EMBER_ASSIGN_OR_RETURN(const std::vector<std::string> listed,
                           NamesAttribute(*own, "weight_names"));
    if (listed.size() != roles.size()) {
      return DataLossError(what + ": expected " + std::to_string(roles.size()) +
                           " weights (" + Listed(roles) + "), found " +
                           std::to_string(listed.size()));
    }
    for (size_t k = 0; k < roles.size(); ++k) {
      const std::string named =
          what + ": weight '" + OnOneLine(listed[k]) + "'";
      EMBER_ASSIGN_OR_RETURN(const std::optional<hdf5::Object> object,
                             own->Find(listed[k]));
      if (!object)
        return DataLossError(named + ": listed, but not in the file");
      StatusOr<hdf5::Dataset> dataset = ReadWeight(*object);
      if (!dataset.ok()) return dataset.status().WithContext(named);
      weights.emplace("layers/" + names[i] + "/" + roles[k].path,
                      *std::move(dataset));
    }
  }
  return weights;
}

namespace {

// Splits the name of a layer into its text and its number among the layers of
// its class: "conv2d_2" into "conv2d" and 2, "conv2d" into "conv2d" and 0.
std::pair<std::string_view, int> NumberedName(std::string_view name) {
  const size_t at = name.rfind('_');
  int number = 0;
  if (at == std::string_view::npos || at + 1 == name.size()) return {name, 0};
  const char* const end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + at + 1, end, number);
  if (read.ec != std::errc() || read.ptr != end) return {name, 0};
  return {name.substr(0, at), number};
}

// Returns the name in a container of Keras 2.12 and 2.13 for the layer that
// newer versions call `name`. These versions count a layer with weights twice,
// so that the numbers have gaps. The layers of a class are therefore matched in
// the order of their numbers.
StatusOr<std::string> OldStoredName(const hdf5::Object& container,
                                    std::string_view name) {
  EMBER_ASSIGN_OR_RETURN(const std::vector<std::string> stored,
                         container.Names());
  const auto [base, number] = NumberedName(name);
  std::map<int, std::string> of_class;
  for (const std::string& other : stored) {
    const auto [other_base, other_number] = NumberedName(other);
    if (other_base == base) of_class.emplace(other_number, other);
  }
  if (number < 0 || static_cast<size_t>(number) >= of_class.size())
    return std::string(name);
  return std::next(of_class.begin(), number)->second;
}

// Finds the variables at a path of attributes in a file of Keras 2.12 or 2.13,
// where models have "_layer_checkpoint_dependencies" instead of "layers".
// Returns nullopt if there are none.
StatusOr<std::optional<hdf5::Object>> FindOldVariables(const hdf5::Object& file,
                                                       std::string_view path) {
  constexpr std::string_view kLayers = "layers/";
  std::optional<hdf5::Object> object = file;
  while (object && !path.empty()) {
    if (!path.starts_with(kLayers)) {
      const size_t end = std::min(path.find('/'), path.size());
      EMBER_ASSIGN_OR_RETURN(object, object->Find(path.substr(0, end)));
      path.remove_prefix(std::min(end + 1, path.size()));
      continue;
    }
    EMBER_ASSIGN_OR_RETURN(object,
                           object->Find("_layer_checkpoint_dependencies"));
    if (!object) break;
    path.remove_prefix(kLayers.size());
    const size_t end = std::min(path.find('/'), path.size());
    EMBER_ASSIGN_OR_RETURN(const std::string name,
                           OldStoredName(*object, path.substr(0, end)));
    EMBER_ASSIGN_OR_RETURN(object, object->Find(name));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  if (!object) return object;
  return object->Find("vars");
}

// Returns an object's variables by a path of attributes. The attributes' names
// differ between versions: "query_dense" was "_query_dense".
StatusOr<std::optional<hdf5::Object>> FindVariables(const hdf5::Object& file,
                                                    const std::string& path) {
  const size_t slash = path.rfind('/');
  std::string hidden = path;
  hidden.insert(slash == std::string::npos ? 0 : slash + 1, "_");
  for (const std::string& name : {path, hidden}) {
    EMBER_ASSIGN_OR_RETURN(auto found, file.Find(name + "/vars"));
    if (found) return found;
    EMBER_ASSIGN_OR_RETURN(found, FindOldVariables(file, name));
    if (found) return found;
  }
  return std::optional<hdf5::Object>();
}

}  // namespace

StatusOr<Weights> ReadPathWeights(const Network& network,
                                  const hdf5::Object& file) {
  Weights weights;
  const std::vector<std::string> names = StoredNames(network);
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    EMBER_ASSIGN_OR_RETURN(const std::vector<Role> roles, RolesOf(layer));
    const std::string what = "layer '" + OnOneLine(layer.name) + "'";
    // Counts the weights of this layer at each path of attributes: the next one
    // has the number vars/COUNT there.
    std::map<std::string, int> counts;
    for (const Role& role : roles) {
      const std::string path = "layers/" + names[i] + "/" + role.path;
      const std::string owner = path.substr(0, path.rfind('/'));
      const int number = counts[owner]++;
      EMBER_ASSIGN_OR_RETURN(const auto variables, FindVariables(file, owner));
      std::optional<hdf5::Object> object;
      if (variables) {
        EMBER_ASSIGN_OR_RETURN(object, variables->Find(std::to_string(number)));
      }
      if (!object) {
        return DataLossError(what + ": expected weight '" +
                             OnOneLine(role.path) + "' as '" +
                             OnOneLine(owner) + "/vars/" +
                             std::to_string(number) + "', found none");
      }
      StatusOr<hdf5::Dataset> dataset = ReadWeight(*object);
      if (!dataset.ok()) {
        return dataset.status().WithContext(what + ": weight '" +
                                            OnOneLine(role.path) + "'");
      }
      weights.emplace(path, *std::move(dataset));
    }
  }
  return weights;
}

}  // namespace ember::keras
