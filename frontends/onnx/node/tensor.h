// Makes names of frontends/ops available to the importers of ONNX operators:
// ops::Tensor (a value of the graph under construction), its operators and
// formulas, and functions of dims.
#ifndef EMBER_FRONTENDS_ONNX_NODE_TENSOR_H_
#define EMBER_FRONTENDS_ONNX_NODE_TENSOR_H_

#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"
#include "frontends/ops/functions.h"
#include "frontends/ops/tensor.h"

namespace ember::onnx {

using ops::Dim;
using ops::kMaxRank;
using ops::Opcode;
using ops::Shape;
using ops::Tensor;

// ops/tensor.h
using ops::Absolute;
using ops::AlongAxis;
using ops::And;
using ops::Apply;
using ops::ApplyAll;
using ops::Binary;
using ops::Broadcast;
using ops::Cast;
using ops::Ceil;
using ops::ComputeType;
using ops::Concat;
using ops::Contract;
using ops::Cos;
using ops::Equal;
using ops::Erf;
using ops::Exp;
using ops::Expm1;
using ops::Floor;
using ops::Gather;
using ops::IotaVector;
using ops::IsInfinite;
using ops::Less;
using ops::LessEqual;
using ops::Log;
using ops::Log1p;
using ops::MatMul;
using ops::Maximum;
using ops::Mean;
using ops::Minimum;
using ops::Modulo;
using ops::Not;
using ops::NotEqual;
using ops::Or;
using ops::Pad;
using ops::Power;
using ops::Reduce;
using ops::Reshape;
using ops::Round;
using ops::Select;
using ops::Sin;
using ops::Slice;
using ops::SliceAxis;
using ops::Softmax;
using ops::Sqrt;
using ops::Squeeze;
using ops::Tanh;
using ops::TensorsOf;
using ops::Transpose;
using ops::Unary;
using ops::Unsqueeze;
using ops::ValuesOf;

// ops/compositions.h
using ops::DimScalar;
using ops::InclusiveScan;
using ops::LogSoftmax;
using ops::NormalizeIndices;
using ops::RepeatEach;
using ops::Reverse;
using ops::WithDim;

// ops/functions.h
using ops::Gelu;
using ops::Relu;
using ops::Sigmoid;
using ops::Softplus;
using ops::TanhGelu;

// ops/dims.h
using ops::AsConstants;
using ops::DimRange;
using ops::DivideElementCounts;
using ops::IsNonNegative;
using ops::LargerOf;
using ops::RangeOf;
using ops::SmallerOf;

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_NODE_TENSOR_H_
