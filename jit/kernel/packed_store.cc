#include "jit/kernel/packed_store.h"

#include <utility>

#include "base/concat.h"
#include "base/dtype.h"
#include "jit/loops/text/text.h"

namespace ember::jit {

std::optional<PackedBuffers> PackedStore::Find(const std::string& key) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return std::nullopt;
  std::shared_ptr<const void> owner = found->second.owner.lock();
  if (owner == nullptr) {
    entries_.erase(found);
    return std::nullopt;
  }
  return PackedBuffers{found->second.contents, std::move(owner)};
}

void PackedStore::Add(const std::string& key, const PackedBuffers& packed) {
  std::lock_guard<std::mutex> lock(mutex_);
  entries_.insert_or_assign(key, Entry{packed.contents, packed.owner});
}

std::string PackingKey(const vm::KernelRequest& request,
                       const loops::LoopNest& nest, uintptr_t base) {
  if (nest.prologue.empty()) return "";
  // Only the prologue packs constants. The other phases depend on the shapes of
  // calls, so they are left out of the key.
  loops::LoopNest prologue = nest;
  prologue.phases.clear();
  const std::string text = loops::ToText(prologue);
  const std::string statements = text.substr(text.find("\n  prologue "));
  std::string key;
  for (size_t i = 0; i < nest.buffers.size(); ++i) {
    const loops::Buffer& buffer = nest.buffers[i];
    if (i < request.constant_data.size() && request.constant_inputs[i]) {
      const std::span<const uint8_t> data = request.constant_data[i];
      key += Concat({reinterpret_cast<uintptr_t>(data.data()) - base, "+",
                     data.size(), " "});
    } else if (statements.find(Concat({"%", buffer.name, "["})) ==
               std::string::npos) {
      continue;
    }
    key += Concat({loops::ToText(buffer.scope), " %", buffer.name, ": ",
                   DTypeName(buffer.type)});
    for (const tensor::NodeId extent : buffer.extents)
      key += Concat({" ", loops::ToText(nest, extent)});
    key += "\n";
  }
  return key + statements;
}

}  // namespace ember::jit
