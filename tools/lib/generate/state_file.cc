#include "tools/lib/generate/state_file.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/hash.h"

namespace ember::tools {
namespace {

constexpr std::string_view kMagic = "EMBSTAT1";

// The beginning of the file. The tokens and then the state follow.
struct Header {
  char magic[8] = {};
  vm::ModuleIdentity identity = {};
  uint64_t tokens = 0;
};

// Calls visit(begin, bytes) for each contiguous part of the state's memory that
// belongs to the first `tokens` positions: one for each head of a tensor with
// positions, and the whole tensor otherwise.
void ForEachPart(std::span<const vm::Tensor> state, int64_t tokens,
                 const std::function<void(char* begin, size_t bytes)>& visit) {
  for (const vm::Tensor& tensor : state) {
    auto* const data = static_cast<char*>(tensor.data);
    if (!LanguageModel::HasPositions(tensor)) {
      visit(data, static_cast<size_t>(tensor.byte_size));
      continue;
    }
    const int64_t rows = tensor.dims[0] * tensor.dims[1];
    const int64_t stride = rows == 0 ? 0 : tensor.byte_size / rows;
    const int64_t positions = tensor.dims[2];
    const int64_t part = positions == 0 ? 0 : stride / positions * tokens;
    for (int64_t row = 0; row < rows; ++row)
      visit(data + row * stride, static_cast<size_t>(part));
  }
}

Status Refuse(const std::string& path, const std::string& found) {
  return DataLossError(path +
                       ": expected a state that vm-generate saved, found " +
                       found + "; save it again");
}

// The parsed contents of a file. `state` refers to the file's bytes.
struct Fields {
  Header header;
  std::vector<int32_t> tokens;
  std::string_view state;
};

StatusOr<Fields> Read(const std::string& path, std::string_view file) {
  Fields fields;
  uint64_t hash = 0;
  if (file.size() < sizeof fields.header + sizeof hash ||
      !file.starts_with(kMagic))
    return Refuse(path, "another file");
  std::memcpy(&fields.header, file.data(), sizeof fields.header);
  std::memcpy(&hash, file.data() + file.size() - sizeof hash, sizeof hash);
  file.remove_suffix(sizeof hash);
  if (HashBytes(file.data(), file.size()) != hash)
    return Refuse(path, "a damaged one");
  file.remove_prefix(sizeof fields.header);
  if (fields.header.tokens > file.size() / sizeof(int32_t))
    return Refuse(path, "a damaged one");
  fields.tokens.resize(fields.header.tokens);
  const size_t bytes = fields.tokens.size() * sizeof(int32_t);
  std::memcpy(fields.tokens.data(), file.data(), bytes);
  fields.state = file.substr(bytes);
  return fields;
}

}  // namespace

Status SaveState(const LanguageModel& model, const vm::ModuleIdentity& identity,
                 const std::string& path) {
  Header header{.identity = identity,
                .tokens = static_cast<uint64_t>(model.past())};
  std::ranges::copy(kMagic, header.magic);
  std::string file(reinterpret_cast<const char*>(&header), sizeof header);
  const std::span<const int32_t> ids = model.ids();
  file.append(reinterpret_cast<const char*>(ids.data()), ids.size_bytes());
  ForEachPart(model.state(), model.past(),
              [&](char* begin, size_t bytes) { file.append(begin, bytes); });
  const uint64_t hash = HashBytes(file.data(), file.size());
  file.append(reinterpret_cast<const char*>(&hash), sizeof hash);
  return WriteFileAtomically(path, file);
}

Status RestoreState(const std::string& path, const vm::ModuleIdentity& identity,
                    LanguageModel& model) {
  EMBER_RETURN_IF_ERROR(model.Truncate(0));
  EMBER_ASSIGN_OR_RETURN(const std::string file, ReadFile(path));
  EMBER_ASSIGN_OR_RETURN(Fields fields, Read(path, file));
  if (fields.header.identity != identity) {
    return InvalidArgumentError(
        path + ": expected the state of this model, found that of " +
        vm::IdentityText(fields.header.identity) +
        "; run the model that saved it");
  }
  const auto tokens = static_cast<int64_t>(fields.tokens.size());
  EMBER_RETURN_IF_ERROR(model.CheckRoom(tokens).WithContext(path));
  EMBER_RETURN_IF_ERROR(model.Grow(std::max(tokens, model.context())));
  size_t expected = 0;
  ForEachPart(model.state(), tokens,
              [&](char*, size_t bytes) { expected += bytes; });
  if (expected != fields.state.size())
    return Refuse(path, "one of other sizes");
  ForEachPart(model.state(), tokens, [&](char* begin, size_t bytes) {
    std::memcpy(begin, fields.state.data(), bytes);
    fields.state.remove_prefix(bytes);
  });
  model.SetIds(std::move(fields.tokens));
  return OkStatus();
}

StatusOr<std::span<const int32_t>> ReuseTokens(std::span<const int32_t> prompt,
                                               LanguageModel& model) {
  const std::span<const int32_t> known = model.ids();
  const auto same = static_cast<size_t>(
      std::ranges::mismatch(known, prompt).in1 - known.begin());
  const size_t kept = prompt.empty() ? 0 : std::min(same, prompt.size() - 1);
  if (model.Truncate(static_cast<int64_t>(kept)).ok())
    return prompt.subspan(kept);
  EMBER_RETURN_IF_ERROR(model.Truncate(0));
  return prompt;
}

}  // namespace ember::tools
