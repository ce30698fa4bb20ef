// The weights of a net, by layer: blobs that stay in the mapped caffemodel, or
// blobs from text.
//
//   EMBER_ASSIGN_OR_RETURN(Caffemodel file, ReadCaffemodel(bytes, owner));
//   const std::vector<Blob>* blobs = file.weights.Find("conv1");
//   graph::ConstantData data = (*blobs)[0].Data();   // as f32
//
// A caffemodel is a net with its weights inside. Reading one splits it, without
// parsing the weights, into the net and the places of the weights. Data() uses
// the file's memory where the numbers are aligned there, else it copies a blob
// once. Immutable; errors are one line.
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
  // Reads an encoded BlobProto, which `owner` keeps alive.
  static StatusOr<Blob> Read(std::span<const uint8_t> message,
                             std::shared_ptr<const void> owner);
  // Makes a blob from a BlobProto that was parsed from text.
  static StatusOr<Blob> FromProto(const BlobProto& proto);

  // The dims in the file; old files always have four. They are not negative,
  // and their product is count().
  const std::vector<int64_t>& dims() const { return dims_; }
  int64_t count() const { return count_; }
  // Returns the blob as count() numbers of type f32.
  graph::ConstantData Data() const;

 private:
  Status CheckCount();

  std::vector<int64_t> dims_;
  int64_t count_ = 0;
  // Type of the numbers in the file: f32, f64 or f16.
  DType dtype_ = DType::kF32;
  // The blob's numbers as they are in the file: one span per packed list, and
  // there is usually only one.
  std::vector<std::span<const uint8_t>> parts_;
  std::shared_ptr<const void> owner_;
};

class Weights {
 public:
  // Returns the blobs of a layer; null if the file has no layer of this name
  // with blobs.
  const std::vector<Blob>* Find(std::string_view layer) const;
  // Adds the blobs of a layer. If several layers have the same name, the blobs
  // of the first are kept.
  void Add(const std::string& layer, std::vector<Blob> blobs);
  bool empty() const { return layers_.empty(); }

 private:
  std::map<std::string, std::vector<Blob>, std::less<>> layers_;
};

struct Caffemodel {
  // The net of the caffemodel, without the blobs of its layers.
  NetParameter net;
  Weights weights;
};

StatusOr<Caffemodel> ReadCaffemodel(std::span<const uint8_t> bytes,
                                    const std::shared_ptr<const void>& owner);
// True if the contents can be a binary NetParameter: all of its fields are
// those of a net, and a layer has a name.
bool IsCaffemodel(std::string_view contents);

}  // namespace ember::caffe

#endif  // EMBER_FRONTENDS_CAFFE_WEIGHTS_H_
