// The weights of a net, by layer: what of a caffemodel stays in the mapped
// file, or blobs that stood in text.
//
//   EMBER_ASSIGN_OR_RETURN(Caffemodel file, ReadCaffemodel(bytes, owner));
//   const std::vector<Blob>* blobs = file.weights.Find("conv1");
//   graph::ConstantData data = (*blobs)[0].Data();   // as f32
//
// A caffemodel is a net with its weights inside. Reading one takes it apart
// without parsing the weights: the net without them, and where they lie.
// Data() uses the file's memory where the numbers are aligned there, and copies
// a blob once where they are not. Immutable; errors are one line.
#ifndef EMBER_FRONTENDS_CAFFE_WEIGHTS_H_
#define EMBER_FRONTENDS_CAFFE_WEIGHTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "compiler/graph/graph.h"
#include "third_party/caffe/caffe.pb.h"

namespace ember::caffe {

class Blob {
 public:
  // An encoded BlobProto, which `owner` keeps.
  static StatusOr<Blob> Read(std::span<const uint8_t> message,
                             std::shared_ptr<const void> owner);
  // Of text.
  static StatusOr<Blob> FromProto(const BlobProto& proto);

  // As the file says: four dims in old ones. Not negative, and their product is
  // count().
  const std::vector<int64_t>& dims() const { return dims_; }
  int64_t count() const { return count_; }
  // count() numbers, f32.
  graph::ConstantData Data() const;

 private:
  Status CheckCount();

  std::vector<int64_t> dims_;
  int64_t count_ = 0;
  // Of the file's numbers: f32, f64 or f16.
  DType dtype_ = DType::kF32;
  // Parts of packed numbers, usually one.
  std::vector<std::span<const uint8_t>> parts_;
  std::shared_ptr<const void> owner_;
};

class Weights {
 public:
  // Null: the file has no layer of this name with blobs.
  const std::vector<Blob>* Find(std::string_view layer) const;
  // Of layers of one name the first counts.
  void Add(const std::string& layer, std::vector<Blob> blobs);
  bool empty() const { return layers_.empty(); }

 private:
  std::map<std::string, std::vector<Blob>, std::less<>> layers_;
};

struct Caffemodel {
  NetParameter net;  // as the file says, without blobs
  Weights weights;
};

StatusOr<Caffemodel> ReadCaffemodel(std::span<const uint8_t> bytes,
                                    const std::shared_ptr<const void>& owner);
// Whether the whole of `contents` is made of a net's fields.
bool IsCaffemodel(std::string_view contents);

}  // namespace ember::caffe

#endif  // EMBER_FRONTENDS_CAFFE_WEIGHTS_H_
