// Builds a dispatch. Equal instructions are made once (hash-consing), constants
// fold, and integer index arithmetic is simplified as it is built, so
// definitions can be written naively.
//
//   DispatchBuilder b("scale_rows");
//   Scalar n = b.Parameter("N");
//   int x = b.AddBuffer("x", DType::kF32, BufferKind::kInput,
//                       {n, b.Index(64)});
//   int y = b.AddBuffer("y", DType::kF32, BufferKind::kOutput,
//                       {n, b.Index(64)});
//   StageBuilder& s = b.AddStage();
//   Scalar i = s.SpatialAxis("i", n), j = s.SpatialAxis("j", b.Index(64));
//   s.Yield(s.Load(x, {i, j}) * s.Float(2.0, DType::kF32), y, {i, j});
//   Dispatch dispatch = b.Finish();   // verified by a check: a wrong dispatch
//                                     // is our bug
//
// Buffers may be added in any order; Finish() sorts them into inputs, outputs,
// temporaries (stable) and drops unused instructions and unused parameters
// (find parameters by name afterwards). A value that depends on parameters and
// constants only is computed in the header, wherever it was written. Names are
// made unique identifiers: other characters become '_'. Only names of
// parameters must be identifiers from the start (IsPlainName of
// tensor/names.h). Not thread-safe.
#ifndef EMBER_TENSOR_BUILDER_BUILDER_H_
#define EMBER_TENSOR_BUILDER_BUILDER_H_

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/dispatch.h"

namespace ember::tensor {

class DispatchBuilder;
class StageBuilder;

// A value being built. It knows its stage (or the header), so that operators
// need no builder argument. Header scalars may be used in any stage. A
// default-constructed Scalar holds no value.
class Scalar {
 public:
  Scalar() = default;
  DType type() const { return type_; }
  bool valid() const { return builder_ != nullptr; }
  // Returns the value if it is an integer (or bool) constant.
  std::optional<int64_t> IntegerConstant() const;

  // Arithmetic on scalars. Operands must have one type. Integer literals take
  // the other operand's type.
  friend Scalar operator+(Scalar a, Scalar b);
  friend Scalar operator-(Scalar a, Scalar b);
  friend Scalar operator*(Scalar a, Scalar b);
  friend Scalar operator/(Scalar a, Scalar b);
  friend Scalar operator+(Scalar a, int64_t b);
  friend Scalar operator-(Scalar a, int64_t b);
  friend Scalar operator*(Scalar a, int64_t b);
  friend Scalar operator-(Scalar a);
  // Comparisons make bool scalars.
  friend Scalar operator<(Scalar a, Scalar b);
  friend Scalar operator<=(Scalar a, Scalar b);
  friend Scalar operator>(Scalar a, Scalar b) { return b < a; }
  friend Scalar operator>=(Scalar a, Scalar b) { return b <= a; }
  friend Scalar operator==(Scalar a, Scalar b);
  friend Scalar operator!=(Scalar a, Scalar b);

 private:
  friend class DispatchBuilder;
  friend class StageBuilder;
  friend Scalar ConstantLike(Scalar, int64_t);
  Scalar(DispatchBuilder* builder, int scope, uint32_t id, DType type)
      : builder_(builder), scope_(scope), id_(id), type_(type) {}
  DispatchBuilder* builder_ = nullptr;
  int scope_ = 0;  // 0 is the header, k is stage k - 1
  uint32_t id_ = 0;
  DType type_ = DType::kI64;
};

// Returns the integer as a constant of a's type.
Scalar ConstantLike(Scalar a, int64_t value);
// Makes any unary, classifying, binary or comparing instruction.
Scalar Unary(Opcode opcode, Scalar a);
Scalar Binary(Opcode opcode, Scalar a, Scalar b);
Scalar Select(Scalar condition, Scalar if_true, Scalar if_false);
Scalar Cast(Scalar a, DType type);
Scalar Bitcast(Scalar a, DType type);
Scalar FloorDivide(Scalar a, Scalar b);
Scalar FloorDivide(Scalar a, int64_t b);
Scalar Modulo(Scalar a, Scalar b);
Scalar Modulo(Scalar a, int64_t b);
Scalar Minimum(Scalar a, Scalar b);
Scalar Maximum(Scalar a, Scalar b);
Scalar And(Scalar a, Scalar b);
Scalar Or(Scalar a, Scalar b);
Scalar Not(Scalar a);
Scalar Exp(Scalar a);
Scalar Sqrt(Scalar a);

class StageBuilder {
 public:
  // Declares the next axis. All spatial axes come before all reduction axes.
  Scalar SpatialAxis(std::string_view name, Scalar extent);
  Scalar ReductionAxis(std::string_view name, Scalar extent);

  // Make constants. Index makes an i64. The others convert to `type` as the
  // Cast instruction does.
  Scalar Index(int64_t value);
  Scalar Value(double value, DType type);
  Scalar IntegerValue(int64_t value, DType type);

  Scalar Load(int buffer, std::span<const Scalar> indices);
  Scalar Load(int buffer, std::initializer_list<Scalar> indices);
  Scalar Pad(int buffer, std::span<const Scalar> indices, Scalar otherwise);

  // Ends the stage: stores value (combined over the reduction axes) at the
  // indices.
  void Yield(Scalar value, int buffer, std::span<const Scalar> indices,
             Combiner combiner = Combiner::kNone,
             Update update = Update::kAssign);
  // Yield stores one result. Without reduction axes the combiner has no effect:
  // the value is stored unchanged. YieldMore stores further results of a kNone
  // stage; call it after Yield.
  void YieldMore(Scalar value, int buffer, std::span<const Scalar> indices,
                 Update update = Update::kAssign);
  // A result of a fold, which YieldFold makes. combine(accumulators, elements)
  // returns the next accumulators. It may use only these, constants and header
  // values; pass anything else that it needs, such as an axis, as an element.
  // Result i stores the final accumulator i. A negative buffer number means
  // that the result is not stored; only trailing results may have one.
  struct FoldResult {
    Scalar value;
    Scalar initial;
    int buffer;
    std::vector<Scalar> indices;
  };
  using Combine = std::function<std::vector<Scalar>(
      std::span<const Scalar> accumulators, std::span<const Scalar> elements)>;
  void YieldFold(std::span<const FoldResult> results, const Combine& combine);

  int index() const { return scope_ - 1; }

 private:
  friend class DispatchBuilder;
  StageBuilder(DispatchBuilder* builder, int scope)
      : builder_(builder), scope_(scope) {}
  DispatchBuilder* builder_;
  int scope_;
};

class DispatchBuilder {
 public:
  // Makes an empty dispatch. simplify = false keeps every instruction as it is
  // written (equal ones are still made once), so that tests can compare.
  explicit DispatchBuilder(std::string_view name, bool simplify = true);
  ~DispatchBuilder();
  DispatchBuilder(const DispatchBuilder&) = delete;
  DispatchBuilder& operator=(const DispatchBuilder&) = delete;

  // Returns the value of a parameter. A second parameter of the same name is
  // the same parameter.
  Scalar Parameter(std::string_view name);
  Scalar Index(int64_t value);
  // Adds a buffer and returns its number for use with this builder (Finish may
  // renumber).
  int AddBuffer(std::string_view name, DType type, BufferKind kind,
                std::vector<Scalar> extents);
  DType BufferType(int buffer) const;
  std::span<const Scalar> BufferExtents(int buffer) const;
  // Adds a stage. References stay valid until Finish. Stages run in the order
  // in which they were added.
  StageBuilder& AddStage();

  // Returns the finished, verified dispatch, with instructions in canonical
  // order (post-order from the uses in the order extents, then per stage: store
  // indices, values, fold).
  Dispatch Finish();

 private:
  friend class Scalar;
  friend class StageBuilder;
  friend Scalar ConstantLike(Scalar, int64_t);
  friend Scalar Unary(Opcode, Scalar);
  friend Scalar Binary(Opcode, Scalar, Scalar);
  friend Scalar Select(Scalar, Scalar, Scalar);
  friend Scalar Cast(Scalar, DType);
  friend Scalar Bitcast(Scalar, DType);
  struct Implementation;
  static Scalar Apply(Opcode opcode, DType type,
                      std::initializer_list<Scalar> operands);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_BUILDER_BUILDER_H_
