#include "jit/c_like/store_printer.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/concat.h"
#include "jit/c_like/form.h"
#include "jit/c_like/literals.h"
#include "jit/legalise/formula.h"
#include "jit/loops/walk.h"
#include "tensor/update.h"

namespace ember::jit::c_like {

using loops::Store;
using tensor::Opcode;

void StorePrinter::Print(const std::vector<Store>& stores) {
  expressions_.BeginStatement();
  if (expressions_.lanes()) return PrintLanes(stores);
  std::vector<Pending> all;
  for (const Store& store : stores) all.push_back(Prepare(store));
  for (const Pending& pending : all) Write(pending);
}

StorePrinter::Pending StorePrinter::Prepare(const Store& store) {
  return {.store = &store,
          .position = expressions_.Position(store.buffer, store.indices),
          .value = expressions_.Print(store.value)};
}

void StorePrinter::PrintLanes(const std::vector<Store>& stores) {
  if (IsApart(stores)) {
    return expressions_.ForEachLane([&] {
      for (const Store& store : stores) Write(Prepare(store));
    });
  }
  // Loads and stores are in separate loops over the lanes, and arrays keep the
  // loaded values in between. Values without loads are computed in the last
  // loop.
  std::vector<Pending> all(stores.size());
  const Language& language = expressions_.language();
  const std::string count = std::to_string(expressions_.lanes()->extent);
  const auto declare = [&](std::string_view type) {
    const std::string name = c_.NewName();
    c_.Line(Fill(language.declarations.array,
                 {{"type", type}, {"name", name}, {"count", count}}));
    return Concat({name, "[", expressions_.Lane(), "]"});
  };
  for (size_t i = 0; i < stores.size(); ++i) {
    all[i].store = &stores[i];
    if (expressions_.HasLoad(stores[i].value)) {
      const DType type = nest_.buffers[stores[i].buffer].type;
      // A value that is stored as an i64 which the language lacks has 32 bits.
      const std::string_view name = TypeOf(language, type);
      all[i].value = declare(name.empty() ? language.types.i32 : name);
    }
    if (PositionHasLoad(stores[i]))
      all[i].position = declare(language.types.size);
  }
  expressions_.ForEachLane([&] {
    for (const Pending& pending : all) {
      const Store& store = *pending.store;
      if (!pending.value.empty()) {
        c_.Line(Concat(
            {pending.value, " = ", expressions_.Print(store.value), ";"}));
      }
      if (!pending.position.empty()) {
        c_.Line(
            Concat({pending.position, " = ",
                    expressions_.Position(store.buffer, store.indices), ";"}));
      }
    }
  });
  // Each store has a loop over all lanes of its own, in the order of the
  // stores.
  for (Pending& pending : all) {
    expressions_.ForEachLane([&] {
      const Store& store = *pending.store;
      if (pending.value.empty())
        pending.value = expressions_.Print(store.value);
      if (pending.position.empty()) {
        pending.position = expressions_.Position(store.buffer, store.indices);
      }
      Write(pending);
    });
  }
}

bool StorePrinter::PositionHasLoad(const Store& store) {
  return std::ranges::any_of(store.indices, [&](loops::NodeId index) {
    return expressions_.HasLoad(index);
  });
}

bool StorePrinter::IsApart(const std::vector<Store>& stores) const {
  std::set<uint32_t> stored;
  std::vector<loops::NodeId> roots;
  for (const Store& store : stores) {
    if (!stored.insert(store.buffer).second) return false;
    roots.insert(roots.end(), store.indices.begin(), store.indices.end());
    roots.push_back(store.value);
  }
  return std::ranges::none_of(
      loops::NodesUnder(nest_.pool, roots), [&](loops::NodeId id) {
        const tensor::Node& node = nest_.pool[id];
        if (node.opcode != Opcode::kLoad && node.opcode != Opcode::kPad)
          return false;
        return std::ranges::any_of(stored, [&](uint32_t buffer) {
          return loops::AreMarkedAsShared(nest_, node.buffer, buffer);
        });
      });
}

void StorePrinter::Write(const Pending& pending) {
  const Store& store = *pending.store;
  const std::string value =
      store.update == tensor::Update::kAssign
          ? pending.value
          : Updated(store, expressions_.At(store.buffer, pending.position),
                    pending.value);
  c_.Line(expressions_.Assignment(store.buffer, pending.position, value));
}

std::string StorePrinter::Updated(const Store& store,
                                  const std::string& element,
                                  const std::string& value) {
  const DType type = nest_.buffers[store.buffer].type;
  const Language& language = expressions_.language();
  const legalise::Formula formula = legalise::MakeFormula(
      tensor::OpcodeOf(store.update), type, language.operations);
  const auto declare = [&](DType of, const std::string& text) {
    return c_.Declare(c_.depth(), Part::kEnd, TypeOf(language, of), text);
  };
  std::unordered_map<loops::NodeId, std::string> values = {
      {formula.a, declare(type, element)}, {formula.b, value}};
  for (const loops::NodeId id : formula.order) {
    const tensor::Node& node = formula.pool[id];
    if (node.opcode == Opcode::kConstant) {
      values[id] = LiteralOf(language, node.type, node.immediate);
      continue;
    }
    std::vector<std::string> operands;
    for (const loops::NodeId operand : node.operands)
      operands.push_back(values.at(operand));
    const std::string text =
        expressions_.arithmetic().PrintNode(formula.pool, node, operands);
    if (id == formula.result) return text;
    values[id] = declare(node.type, text);
  }
  return values.at(formula.result);
}

}  // namespace ember::jit::c_like
