#include "jit/loops/testing/random_statements.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "jit/loops/analysis/dot_product.h"

namespace ember::loops {

using tensor::Opcode;
using tensor::Update;

namespace {

// Sums of up to this number of SmallValues are exact in bf16.
constexpr int64_t kSmallSum = 16;
// Sums of up to this number of products of two SmallValues are exact in f32.
constexpr int64_t kSmallProductSum = 1000;

// True if sums of small values are exact in the type in every order. That is
// false for floats of 8 bits, which hold all integers only up to 16 or up to 8.
bool HasExactSums(DType type) {
  return !IsNarrowFloat(type) || DTypeByteSize(type) > 1;
}

}  // namespace

Update RandomStatements::AnyUpdate(DType type) {
  if (type == DType::kBool) {
    return static_cast<Update>(Chance(2) ? 0 : 3 + Below(2));
  }
  return static_cast<Update>(Below(5));
}

// Returns the dims that loops must run over to store to each element that
// belongs to the task. Sometimes one of them gets an invocation loop.
std::vector<RandomDim> RandomStatements::DimsOf(const RandomBuffer& buffer) {
  std::vector<RandomDim> dims;
  for (size_t i = buffer.own_rows; i < buffer.extents.size(); ++i) {
    dims.push_back({buffer.extents[i], IsRegister(buffer),
                    i + 1 == buffer.extents.size()});
  }
  if (buffer.per_invocation) {
    dims[0].in_invocations = true;
  } else if (!dims.empty() && !IsRegister(buffer) && Chance(3)) {
    const int chosen = Below(static_cast<int>(dims.size()));
    dims[static_cast<size_t>(chosen)].in_invocations = true;
  }
  return dims;
}

// Makes loops over the dims, whose body stores to the buffers `stored`. While
// it makes the body of an invocation loop, `readable` has neither buffers that
// other invocations store to, nor registers without contents there.
Block RandomStatements::Over(const std::vector<RandomDim>& dims,
                             const std::vector<RandomBuffer>& stored,
                             const RandomLoops::MakeBody& make_body) {
  const std::vector<RandomBuffer> outer = make_.readable;
  if (std::ranges::any_of(dims, &RandomDim::in_invocations)) {
    std::erase_if(make_.readable, [&](const RandomBuffer& buffer) {
      if (IsRegister(buffer)) return !buffer.per_invocation;
      return std::ranges::any_of(stored, [&](const RandomBuffer& other) {
        return other.number == buffer.number;
      });
    });
  }
  Block block = loops_.Over(dims, make_body);
  make_.readable = outer;
  return block;
}

Store RandomStatements::To(const RandomBuffer& buffer, const Indices& inner,
                           NodeId value, Update update) {
  Store store{buffer.number, {}, value, update};
  if (buffer.own_rows > 0) store.indices = make_.rows;
  store.indices.insert(
      store.indices.end(), inner.begin(),
      inner.begin() +
          static_cast<std::ptrdiff_t>(buffer.extents.size() - buffer.own_rows));
  return store;
}

Block RandomStatements::SumOfDots(const RandomBuffer& buffer) {
  return Over(DimsOf(buffer), {buffer}, [&](const Indices& indices) {
    const int64_t count = Chance(3) ? 2 : 4;
    std::vector<RandomBuffer> factors;
    for (const RandomBuffer& other : make_.readable) {
      const bool fits =
          other.number != buffer.number && !other.extents.empty() &&
          other.own_rows == 0 && other.extents.back().is_constant &&
          other.extents.back().value >= count && !IsRegister(other) &&
          IsDotProductType(count, other.type, DType::kI8, DType::kI32);
      if (fits) factors.push_back(other);
    }
    if (factors.empty()) return Block();
    const RandomExtent extent = make_.ConstantExtent(count);
    const uint64_t number = nest_.variables.size();
    nest_.variables.push_back("q" + std::to_string(number));
    Statement loop;
    loop.kind = Statement::Kind::kFor;
    loop.loop = LoopKind::kDot;
    loop.variable = nest_.pool.Intern(Opcode::kAxis, DType::kI64,
                                      {&extent.node, 1}, number, 1);
    std::vector<NodeId> casts;
    for (int i = 0; i < 2; ++i) {
      const NodeId load =
          make_.LoadAlong(make_.Pick(factors), loop.variable, count);
      casts.push_back(make_.Make(Opcode::kCast, DType::kI32, {load}));
    }
    const NodeId product =
        make_.Make(Opcode::kMultiply, DType::kI32, {casts[0], casts[1]});
    loop.body.push_back(
        StoreStatement({To(buffer, indices, product, Update::kAdd)}));
    return MaybeIf(make_.Guarded(std::move(loop)));
  });
}

Block RandomStatements::MaybeIf(Block block) {
  if (!Chance(5)) return block;
  return make_.Guarded(If(make_.Condition(2), std::move(block)));
}

Block RandomStatements::Map(const std::vector<RandomBuffer>& buffers,
                            Update update) {
  const bool initializes = update == Update::kAssign;
  return Over(DimsOf(buffers[0]), buffers, [&](const Indices& indices) {
    std::vector<Store> stores;
    for (const RandomBuffer& buffer : buffers) {
      NodeId value = make_.Value(buffer.type, options_.maximum_depth);
      // A value that is added to a float sum is no product, because a back end
      // may fuse the multiplication with the addition and so round differently.
      if (update == Update::kAdd && options_.exact && IsFloat(buffer.type)) {
        value = make_.Make(Opcode::kAbsolute, buffer.type, {value});
      }
      stores.push_back(To(buffer, indices, value, update));
    }
    if (!initializes) {
      return MaybeIf(make_.Guarded(StoreStatement(std::move(stores))));
    }
    Block block;
    if (make_.NeedsGuards()) {
      for (const RandomBuffer& buffer : buffers) {
        const NodeId value =
            make_.Make(Opcode::kCast, buffer.type, {Integer(1)});
        block.push_back(
            StoreStatement({To(buffer, indices, value, Update::kAssign)}));
      }
    }
    Append(block, make_.Guarded(StoreStatement(std::move(stores))));
    return block;
  });
}

Block RandomStatements::FillSmall(const RandomBuffer& buffer) {
  return Over(DimsOf(buffer), {buffer}, [&](const Indices& indices) {
    const NodeId value = make_.SmallValue(buffer.type);
    Block block;
    if (make_.NeedsGuards()) {
      const NodeId one = make_.Make(Opcode::kCast, buffer.type, {Integer(1)});
      block.push_back(
          StoreStatement({To(buffer, indices, one, Update::kAssign)}));
    }
    Append(block, make_.Guarded(StoreStatement(
                      {To(buffer, indices, value, Update::kAssign)})));
    return block;
  });
}

Block RandomStatements::Scatter(const RandomBuffer& buffer) {
  const Update update = AnyUpdate(buffer.type);
  if (update != Update::kAssign && IsFloat(buffer.type)) return {};
  std::vector<RandomDim> dims;
  const int count = 1 + Below(2);
  dims.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i)
    dims.push_back({make_.AnyExtent(6), false, false});
  const auto make_body = [&](const Indices&) {
    Indices indices;
    for (size_t i = buffer.own_rows; i < buffer.extents.size(); ++i) {
      indices.push_back(make_.Index(buffer.extents[i]));
    }
    const NodeId value = make_.Value(buffer.type, 2);
    return MaybeIf(
        make_.Guarded(StoreStatement({To(buffer, indices, value, update)})));
  };
  return update == Update::kAssign ? loops_.InOrder(dims, make_body)
                                   : loops_.Over(dims, make_body);
}

// Makes a combining loop, all of whose invocations update each element
// together.
Block RandomStatements::Combine(const RandomBuffer& buffer) {
  const DType type = buffer.type;
  const bool is_float = IsFloat(type);
  Update update = AnyUpdate(type);
  if (update == Update::kAssign || (is_float && update == Update::kMultiply) ||
      (update == Update::kAdd && !HasExactSums(type))) {
    update = Update::kMaximum;
  }
  std::vector<RandomDim> dims = DimsOf(buffer);
  for (RandomDim& dim : dims) dim.in_invocations = false;
  Block block;
  if (is_float) {
    // The elements begin at 1 and get only a few small values added, so float
    // sums are exact.
    block = loops_.Over(dims, [&](const Indices& indices) {
      const NodeId start = make_.Make(Opcode::kCast, type, {Integer(1)});
      return BlockOf(
          StoreStatement({To(buffer, indices, start, Update::kAssign)}));
    });
  }
  constexpr int64_t kSizes[] = {1, 2, 3, 7, 8, 12, 16};
  const RandomExtent extent = make_.ConstantExtent(kSizes[Below(7)]);
  Append(block, loops_.InOrder(dims, [&](const Indices& indices) {
    const std::vector<RandomBuffer> outer = make_.readable;
    std::erase_if(make_.readable, [&](const RandomBuffer& other) {
      return other.number == buffer.number ||
             (IsRegister(other) && !other.per_invocation);
    });
    Block loop =
        loops_.Loop(LoopKind::kInvocation, extent, [&](NodeId invocation) {
          NodeId value =
              is_float ? make_.SmallValue(type) : make_.Value(type, 2);
          // A combining loop may contain nothing but the update, so a value
          // that needs guards is replaced by the invocation's number.
          if (make_.NeedsGuards()) {
            make_.Guarded({});
            value = make_.Make(Opcode::kCast, type, {invocation});
          }
          return BlockOf(StoreStatement({To(buffer, indices, value, update)}));
        });
    make_.readable = outer;
    return MaybeIf(std::move(loop));
  }));
  return block;
}

Block RandomStatements::Reduce(const RandomBuffer& buffer) {
  if (!IsRegister(buffer) && Chance(3)) return Combine(buffer);
  std::vector<RandomDim> dims = DimsOf(buffer);
  int64_t steps = 1;
  const int count = 1 + Below(2);
  for (int i = 0; i < count; ++i) {
    dims.push_back({make_.AnyExtent(i == 0 ? 8 : 3), false, false});
    steps *= dims.back().extent.value;
  }
  if (!IsFloat(buffer.type)) {
    Update update = AnyUpdate(buffer.type);
    if (update == Update::kAssign) update = Update::kMaximum;
    return Over(dims, {buffer}, [&](const Indices& indices) {
      const NodeId value = make_.Value(buffer.type, 2);
      return MaybeIf(
          make_.Guarded(StoreStatement({To(buffer, indices, value, update)})));
    });
  }
  return ReduceExactly(buffer, dims, steps);
}

// Makes sums, minima or maxima of floats that are exact: each element begins at
// 1 and is updated with small integers.
Block RandomStatements::ReduceExactly(const RandomBuffer& buffer,
                                      const std::vector<RandomDim>& dims,
                                      int64_t steps) {
  const DType type = buffer.type;
  Update update = static_cast<Update>(1 + Below(4));
  const bool is_wide = type == DType::kF32 || type == DType::kF64;
  const bool multiplies = is_wide && steps <= kSmallProductSum && Chance(2);
  if (update == Update::kMultiply) update = Update::kAdd;
  if (update == Update::kAdd && !multiplies &&
      (steps > kSmallSum || !HasExactSums(type))) {
    update = Update::kMinimum;
  }
  Block block = Over(DimsOf(buffer), {buffer}, [&](const Indices& indices) {
    const NodeId start = make_.Make(Opcode::kCast, type, {Integer(1)});
    return BlockOf(
        StoreStatement({To(buffer, indices, start, Update::kAssign)}));
  });
  Append(block, Over(dims, {buffer}, [&](const Indices& indices) {
           NodeId value = make_.SmallValue(type);
           if (multiplies) {
             value = make_.Make(Opcode::kMultiply, type,
                                {value, make_.SmallValue(type)});
           }
           return MaybeIf(make_.Guarded(
               StoreStatement({To(buffer, indices, value, update)})));
         }));
  return block;
}

}  // namespace ember::loops
