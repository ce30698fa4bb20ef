// Runs one Caffe layer end to end: makes a net, imports, compiles and executes
// it, with bottoms and tops written as numbers.
//
//   ExpectNumbers(RunLayer(R"(type: "AbsVal")", {F32({2}, {-1, 2})}),
//                 {F32({2}, {1, 2})});
//
// A test aid; not thread-safe.
#ifndef EMBER_TESTS_CAFFE_ONE_LAYER_H_
#define EMBER_TESTS_CAFFE_ONE_LAYER_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "frontends/caffe/testing/sample_models.h"
#include "frontends/frontend.h"
#include "tests/formats/numbers.h"

namespace ember::tests {

using caffe::TestBlob;

// Runs a net on these inputs. Returns its results in the order of their names;
// new values of its state come last.
StatusOr<std::vector<Numbers>> RunNet(
    const std::string& prototxt, const std::string& caffemodel,
    const std::vector<Numbers>& inputs,
    const frontends::ImportOptions& options = {});

// Runs one layer. `layer` is the layer's type and parameters as text. Its
// bottoms are the inputs and its tops are y0, y1 …. State comes after the
// inputs.
StatusOr<std::vector<Numbers>> RunLayer(const std::string& layer,
                                        const std::vector<Numbers>& bottoms,
                                        const std::vector<TestBlob>& blobs = {},
                                        int tops = 1,
                                        const std::vector<Numbers>& state = {});

// Returns 0.25, -0.5, 0.75, …, so that a layer that mixes up its operands gives
// wrong results.
std::vector<double> Sequence(int64_t count);
Numbers SequenceOf(std::vector<int64_t> dims);
TestBlob BlobOf(std::vector<int64_t> dims);

double SigmoidOf(double x);

}  // namespace ember::tests

#endif  // EMBER_TESTS_CAFFE_ONE_LAYER_H_
