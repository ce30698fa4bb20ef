// Stores as C: all values and places of a statement are computed before the
// first element is stored, of all lanes in a vector loop.
//
//   StoreEmitter stores(nest, builder, expressions);
//   stores.Emit(statement.stores);
//
// In a vector loop that takes two loops over the lanes, with an array between
// them for what is loaded; one, where no store can change what the statement
// loads.
//
// Not thread-safe.
#ifndef EMBER_JIT_C_STORE_EMITTER_H_
#define EMBER_JIT_C_STORE_EMITTER_H_

#include <string>
#include <vector>

#include "jit/c/expression_emitter.h"
#include "jit/c/source_builder.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::c {

class StoreEmitter {
 public:
  StoreEmitter(const loops::LoopNest& nest, SourceBuilder& builder,
               ExpressionEmitter& expressions)
      : nest_(nest), c_(builder), expressions_(expressions) {}

  void Emit(const std::vector<loops::Store>& stores);

 private:
  // What is known of a store before anything is stored; arrays of lanes where a
  // text is that of an element of one.
  struct Pending {
    const loops::Store* store = nullptr;
    std::string position;
    std::string value;
  };

  Pending Prepare(const loops::Store& store);
  void EmitLanes(const std::vector<loops::Store>& stores);
  // Whether no store changes what the statement loads.
  bool IsApart(const std::vector<loops::Store>& stores) const;
  bool PositionHasLoad(const loops::Store& store);
  void Write(const Pending& pending);
  std::string Updated(const loops::Store& store, const std::string& element,
                      const std::string& value);

  const loops::LoopNest& nest_;
  SourceBuilder& c_;
  ExpressionEmitter& expressions_;
};

}  // namespace ember::jit::c

#endif  // EMBER_JIT_C_STORE_EMITTER_H_
