#include "jit/gpu/ordering_barriers.h"

#include <algorithm>

#include "jit/loops/walk.h"

namespace ember::jit::gpu {

using loops::Block;
using loops::IsInvocationLoop;
using loops::Statement;

namespace {

class Marker {
 public:
  explicit Marker(const std::vector<bool>& has_panels)
      : has_panels_(has_panels) {}

  void Run(Block& body) { Follow(body, {}); }

 private:
  // The state of stores to panels after the statements of a path through the
  // phase.
  struct Path {
    // True if panels were stored to, and no fence has followed yet.
    bool is_dirty = false;
    // True if asynchronous stores were begun, and no await has followed yet.
    bool is_copying = false;

    void Join(const Path& other) {
      is_dirty |= other.is_dirty;
      is_copying |= other.is_copying;
    }
    bool operator==(const Path&) const = default;
  };

  void Stores(const Statement& statement, Path& path) const {
    if (statement.box != nullptr) return;
    for (const loops::Store& store : statement.stores) {
      if (!has_panels_[store.buffer]) continue;
      // An asynchronous store to panels makes the path dirty only at its await.
      // A device may execute it as an ordinary store, but no statement reads
      // the element before the await.
      (store.is_async ? path.is_copying : path.is_dirty) = true;
    }
    for (const Statement& inner : statement.body) Stores(inner, path);
  }

  Path Follow(Block& block, Path path) {
    for (Statement& statement : block) {
      if (statement.kind == Statement::Kind::kBarrier) {
        statement.orders_stores |= path.is_dirty;
        path.is_dirty = false;
      } else if (statement.kind == Statement::Kind::kAwait) {
        path.is_dirty |= path.is_copying;
        path.is_copying &= statement.groups > 0;
      } else if (statement.body.empty() || IsInvocationLoop(statement)) {
        Stores(statement, path);
      } else {
        path = FollowBody(statement, path);
      }
    }
    return path;
  }

  // Follows the body of a branch or a loop. The body may be skipped, and an
  // iteration begins with the state that the previous one left, so the body of
  // a loop is followed until the state no longer changes. States only gain
  // flags, so that ends.
  Path FollowBody(Statement& statement, Path path) {
    while (true) {
      Path after = path;
      after.Join(Follow(statement.body, path));
      if (statement.kind != Statement::Kind::kFor || after == path)
        return after;
      path = after;
    }
  }

  const std::vector<bool>& has_panels_;
};

}  // namespace

void MarkOrderingBarriers(const std::vector<bool>& has_panels, Block& body) {
  if (std::ranges::find(has_panels, true) == has_panels.end()) return;
  Marker(has_panels).Run(body);
}

}  // namespace ember::jit::gpu
