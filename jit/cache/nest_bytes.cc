#include "jit/cache/nest_bytes.h"

#include <cstdint>
#include <span>
#include <unordered_map>

#include "jit/loops/walk.h"

namespace ember::jit {
namespace {

using loops::Statement;
using tensor::NodeId;
using tensor::Opcode;

// This function fails to compile if a record of the nest gets another field. If
// the code generator reads the new field, Writer must write it.
[[maybe_unused]] void AllFieldsAreKnown(const loops::LoopNest& nest,
                                        const loops::Phase& phase,
                                        const Statement& statement,
                                        const loops::Store& store,
                                        const loops::Buffer& buffer,
                                        const tensor::Node& node) {
  [[maybe_unused]] const auto& [nest1, nest2, nest3, nest4, nest5, nest6, nest7,
                                nest8, nest9] = nest;
  [[maybe_unused]] const auto& [phase1, phase2, phase3] = phase;
  [[maybe_unused]] const auto& [group1, group2, group3, group4, group5, group6,
                                group7, group8, group9, group10] =
      phase.workgroup;
  const loops::BufferStorage storage;
  [[maybe_unused]] const auto& [storage1, storage2, storage3, storage4,
                                storage5, storage6, storage7, storage8,
                                storage9, storage10] = storage;
  [[maybe_unused]] const auto& [statement1, statement2, statement3, statement4,
                                statement5, statement6, statement7, statement8,
                                statement9, statement10, statement11,
                                statement12, statement13, statement14,
                                statement15, statement16, statement17,
                                statement18, statement19, statement20] =
      statement;
  [[maybe_unused]] const auto& [store1, store2, store3, store4, store5, store6,
                                store7, store8] = store;
  [[maybe_unused]] const auto& [buffer1, buffer2, buffer3, buffer4, buffer5,
                                buffer6] = buffer;
  [[maybe_unused]] const auto& [node1, node2, node3, node4, node5, node6, node7,
                                node8, node9] = node;
}

// Writes the parts of a nest as bytes. A length precedes every list, and a tag
// every record, so that different nests never give the same bytes. Nodes are
// numbered in the order in which statements use them, independently of their
// order in the pool.
class Writer {
 public:
  explicit Writer(const loops::LoopNest& nest) : nest_(nest) {}

  std::string Run() {
    Number(nest_.parameters.size());
    Number(nest_.buffers.size());
    for (const loops::Buffer& buffer : nest_.buffers) {
      Define(buffer.extents);
      Tag('b');
      Number(static_cast<uint64_t>(buffer.type));
      Number(static_cast<uint64_t>(buffer.scope));
      References(buffer.extents);
      Number(static_cast<uint64_t>(buffer.is_shared));
      Number(buffer.shares.size());
      for (const uint32_t input : buffer.shares) Number(input);
    }
    Define(nest_.extents);
    Number(nest_.extents.size());
    References(nest_.extents);
    Phases(nest_.prologue);
    Phases(nest_.phases);
    return std::move(bytes_);
  }

 private:
  void Phases(const std::vector<loops::Phase>& phases) {
    Number(phases.size());
    for (const loops::Phase& phase : phases) {
      Loop(phase.task);
      Write(phase.workgroup);
      Body(phase.body);
    }
  }

  void Write(const loops::Workgroup& workgroup) {
    for (const int64_t number :
         {workgroup.invocations, static_cast<int64_t>(workgroup.mode),
          static_cast<int64_t>(workgroup.has_checks),
          static_cast<int64_t>(workgroup.has_producer), workgroup.shared_bytes,
          workgroup.slot_barriers, workgroup.most_workgroups,
          workgroup.iterations}) {
      Number(static_cast<uint64_t>(number));
    }
    Number(workgroup.rings.size());
    for (const loops::WorkgroupRing& ring : workgroup.rings) {
      Number(static_cast<uint64_t>(ring.slots));
      Number(static_cast<uint64_t>(ring.fill_bytes));
      Number(static_cast<uint64_t>(ring.subgroups));
      Number(static_cast<uint64_t>(ring.stays_in_flight));
    }
    Number(workgroup.storage.size());
    for (const loops::BufferStorage& storage : workgroup.storage) {
      for (const bool flag :
           {storage.is_read, storage.is_written, storage.is_coherent,
            storage.is_ordered, storage.of_invocation, storage.is_unsigned}) {
        Number(static_cast<uint64_t>(flag));
      }
      Number(static_cast<uint64_t>(storage.kind));
      Number(static_cast<uint64_t>(storage.form));
      Number(static_cast<uint64_t>(storage.panels.rows));
      Number(static_cast<uint64_t>(storage.panels.row_bytes));
      Number(static_cast<uint64_t>(storage.offset.value_or(-1)));
    }
  }

  void Write(const loops::CopiedBox* box) {
    Number(static_cast<uint64_t>(box != nullptr));
    if (box == nullptr) return;
    Number(box->ring);
    Number(static_cast<uint64_t>(box->ring_slot_bytes));
    Number(box->dims.size());
    for (const auto& dim : box->dims) Number(dim ? *dim + 1 : 0);
    for (const auto& numbers : {box->order, box->box}) {
      Number(numbers.size());
      for (const uint32_t number : numbers) Number(number);
    }
    Number(box->pieces.size());
    for (const loops::CopiedBox::Piece& piece : box->pieces) {
      Number(static_cast<uint64_t>(piece.position));
      Number(piece.offsets.size());
      for (const int64_t offset : piece.offsets)
        Number(static_cast<uint64_t>(offset));
    }
  }

  void Loop(NodeId variable) {
    const NodeId nodes[] = {loops::ExtentOf(nest_.pool, variable), variable};
    Define(nodes);
    Tag('l');
    References(nodes);
  }

  void Body(const loops::Block& body) {
    Number(body.size());
    for (const Statement& statement : body) Write(statement);
  }

  void Write(const Statement& statement) {
    const std::vector<NodeId> roots = loops::RootsOf(nest_.pool, statement);
    Define(roots);
    Tag('s');
    Number(static_cast<uint64_t>(statement.kind));
    Number(static_cast<uint64_t>(statement.of_producer));
    References(roots);
    switch (statement.kind) {
      case Statement::Kind::kFor:
        Number(static_cast<uint64_t>(statement.loop));
        Number(static_cast<uint64_t>(statement.stays_in_flight));
        Write(statement.box.get());
        Number(static_cast<uint64_t>(statement.subgroup_size));
        if (statement.subgroup_size != 0) Loop(statement.subgroup);
        Loop(statement.variable);
        Body(statement.body);
        return;
      case Statement::Kind::kIf:
      case Statement::Kind::kFirst:
        Body(statement.body);
        return;
      case Statement::Kind::kSlot:
        Number(static_cast<uint64_t>(statement.step));
        Number(statement.slot.ring);
        return;
      case Statement::Kind::kCheck:
        Number(statement.buffer);
        Number(statement.dim);
        Number(static_cast<uint64_t>(statement.test));
        return;
      case Statement::Kind::kPrefetch:
        Number(statement.buffer);
        return;
      case Statement::Kind::kAwait:
        Number(static_cast<uint64_t>(statement.groups));
        return;
      case Statement::Kind::kBarrier:
        Number(static_cast<uint64_t>(statement.orders_stores));
        return;
      case Statement::Kind::kStore:
        break;
    }
    Number(statement.stores.size());
    for (const loops::Store& store : statement.stores) {
      Number(store.buffer);
      Number(store.indices.size());
      Number(static_cast<uint64_t>(store.update));
      Number(static_cast<uint64_t>(store.is_async));
      Number(static_cast<uint64_t>(store.combining));
      Number(store.vector);
      Number(static_cast<uint64_t>(store.rounds_once));
    }
  }

  // Writes a record of each node in the expressions of the roots, unless it was
  // written before.
  void Define(std::span<const NodeId> roots) {
    for (const NodeId id : loops::NodesUnder(nest_.pool, roots)) {
      if (!numbers_.emplace(id, numbers_.size()).second) continue;
      const tensor::Node& node = nest_.pool[id];
      Tag('n');
      Number(static_cast<uint64_t>(node.opcode));
      Number(static_cast<uint64_t>(node.type));
      Number(node.buffer);
      // The number of an axis's node identifies the axis. Its immediate is the
      // number of a name, and names are left out.
      Number(node.opcode == Opcode::kAxis ? 0 : node.immediate);
      Number(static_cast<uint64_t>(node.range.low));
      Number(static_cast<uint64_t>(node.range.high));
      Number(static_cast<uint64_t>(loops::IsWide(nest_, id)));
      References(loops::OperandsOf(nest_.pool, id));
    }
  }

  void References(std::span<const NodeId> nodes) {
    Number(nodes.size());
    for (const NodeId id : nodes) Number(numbers_.at(id));
  }

  void Tag(char tag) { bytes_ += tag; }

  // Writes a number with seven bits per byte, lowest first. The highest bit of
  // a byte is set if more bytes follow.
  void Number(uint64_t value) {
    for (; value > 127; value >>= 7)
      bytes_ += static_cast<char>((value & 127) | 128);
    bytes_ += static_cast<char>(value);
  }

  const loops::LoopNest& nest_;
  std::unordered_map<NodeId, uint64_t> numbers_;
  std::string bytes_;
};

}  // namespace

std::string NestBytes(const loops::LoopNest& nest) {
  return Writer(nest).Run();
}

}  // namespace ember::jit
