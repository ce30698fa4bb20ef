#include <openjpeg-2.5/openjpeg.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "tools/lib/media/decoders.h"

namespace ember::tools::internal {
namespace {

// A file in memory, as OpenJPEG reads it.
struct Source {
  std::span<const uint8_t> bytes;
  size_t position = 0;
};

constexpr OPJ_SIZE_T kEnd = static_cast<OPJ_SIZE_T>(-1);

OPJ_SIZE_T Read(void* to, OPJ_SIZE_T size, void* user) {
  Source& source = *static_cast<Source*>(user);
  const size_t count = std::min(size, source.bytes.size() - source.position);
  if (count == 0) return kEnd;
  std::memcpy(to, source.bytes.data() + source.position, count);
  source.position += count;
  return count;
}

OPJ_OFF_T Skip(OPJ_OFF_T count, void* user) {
  Source& source = *static_cast<Source*>(user);
  if (count < 0) return -1;
  const size_t rest = source.bytes.size() - source.position;
  const size_t skipped = std::min(static_cast<size_t>(count), rest);
  source.position += skipped;
  return static_cast<OPJ_OFF_T>(skipped);
}

OPJ_BOOL Seek(OPJ_OFF_T position, void* user) {
  Source& source = *static_cast<Source*>(user);
  if (position < 0 || static_cast<size_t>(position) > source.bytes.size())
    return OPJ_FALSE;
  source.position = static_cast<size_t>(position);
  return OPJ_TRUE;
}

void KeepError(const char* message, void* user) {
  std::string& error = *static_cast<std::string*>(user);
  if (!error.empty()) return;
  error = message;
  while (!error.empty() && error.back() == '\n') error.pop_back();
}

struct Free {
  void operator()(opj_codec_t* codec) const { opj_destroy_codec(codec); }
  void operator()(opj_image_t* image) const { opj_image_destroy(image); }
};
struct FreeStream {
  void operator()(opj_stream_t* stream) const { opj_stream_destroy(stream); }
};
using Codec = std::unique_ptr<opj_codec_t, Free>;
using Stream = std::unique_ptr<opj_stream_t, FreeStream>;
using Image = std::unique_ptr<opj_image_t, Free>;

// A component of an image whose samples become bytes.
class Channel {
 public:
  explicit Channel(const opj_image_comp_t& component) : c_(component) {}

  // Returns a sample between 0 and 255. Components with fewer samples than the
  // picture has pixels repeat theirs.
  int At(int x, int y) const {
    const auto column = std::min(static_cast<uint32_t>(x) / c_.dx, c_.w - 1);
    const auto row = std::min(static_cast<uint32_t>(y) / c_.dy, c_.h - 1);
    const int64_t offset = c_.sgnd != 0 ? int64_t{1} << (c_.prec - 1) : 0;
    const int64_t value = c_.data[size_t{row} * c_.w + column] + offset;
    const int64_t most = (int64_t{1} << c_.prec) - 1;
    return static_cast<int>(
        std::clamp<int64_t>((value * 255 + most / 2) / most, 0, 255));
  }

 private:
  const opj_image_comp_t& c_;
};

uint8_t ToByte(double value) {
  return static_cast<uint8_t>(std::clamp(value + 0.5, 0.0, 255.0));
}

// Converts luma and two chromas to RGB (JFIF's matrix, which sYCC uses).
void FromYcc(uint8_t* pixel) {
  const double y = pixel[0], blue = pixel[1] - 128.0, red = pixel[2] - 128.0;
  pixel[0] = ToByte(y + 1.402 * red);
  pixel[1] = ToByte(y - 0.344136 * blue - 0.714136 * red);
  pixel[2] = ToByte(y + 1.772 * blue);
}

// Converts four inks to RGB without a colour profile.
void FromCmyk(uint8_t* pixel) {
  for (int channel = 0; channel < 3; ++channel) {
    pixel[channel] = static_cast<uint8_t>(
        ((255 - pixel[channel]) * (255 - pixel[3]) + 127) / 255);
  }
  pixel[3] = 255;
}

Status CheckComponents(const opj_image_t& image) {
  if (image.numcomps < 1 || image.numcomps > 4) {
    return InvalidArgumentError("expected 1 to 4 components, found " +
                                std::to_string(image.numcomps));
  }
  for (uint32_t i = 0; i < image.numcomps; ++i) {
    const opj_image_comp_t& component = image.comps[i];
    if (component.prec < 1 || component.prec > 31 || component.dx < 1 ||
        component.dy < 1)
      return InvalidArgumentError("expected components of 1 to 31 bits");
  }
  return OkStatus();
}

}  // namespace

StatusOr<Picture> DecodeJpeg2000(std::span<const uint8_t> bytes,
                                 const DecodeOptions& options) {
  constexpr uint8_t kCodestream = 0xff;  // first byte of a bare codestream, a
                                         // file without the boxes of JP2
  const Codec codec(opj_create_decompress(
      bytes[0] == kCodestream ? OPJ_CODEC_J2K : OPJ_CODEC_JP2));
  std::string error;
  opj_set_error_handler(codec.get(), KeepError, &error);
  const auto failed = [&error](const char* expected) {
    return DataLossError(error.empty() ? expected : error);
  };
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  if (!opj_setup_decoder(codec.get(), &parameters) ||
      !opj_decoder_set_strict_mode(codec.get(), OPJ_TRUE))
    return failed("expected a decoder");

  Source source = {bytes};
  constexpr OPJ_SIZE_T kChunk = OPJ_SIZE_T{1} << 16;
  const Stream stream(opj_stream_create(kChunk, OPJ_TRUE));
  opj_stream_set_read_function(stream.get(), Read);
  opj_stream_set_skip_function(stream.get(), Skip);
  opj_stream_set_seek_function(stream.get(), Seek);
  opj_stream_set_user_data(stream.get(), &source, nullptr);
  opj_stream_set_user_data_length(stream.get(), bytes.size());

  opj_image_t* read = nullptr;
  const bool has_header =
      opj_read_header(stream.get(), codec.get(), &read) != 0;
  const Image image(read);
  if (!has_header) return failed("expected the header of a JPEG 2000 file");
  EMBER_RETURN_IF_ERROR(CheckComponents(*image));
  EMBER_ASSIGN_OR_RETURN(Picture picture,
                         NewPicture(int64_t{image->x1} - image->x0,
                                    int64_t{image->y1} - image->y0, options));
  if (!opj_decode(codec.get(), stream.get(), image.get()) ||
      !opj_end_decompress(codec.get(), stream.get()))
    return failed("expected the pixels of a JPEG 2000 file");
  EMBER_RETURN_IF_ERROR(CheckComponents(*image));
  for (uint32_t i = 0; i < image->numcomps; ++i) {
    if (image->comps[i].data == nullptr || image->comps[i].w == 0 ||
        image->comps[i].h == 0)
      return failed("expected samples of each component");
  }

  const bool is_grey = image->numcomps < 3;
  const bool has_alpha = image->numcomps % 2 == 0;
  // A codestream does not say its colours; smaller second and third components
  // are chromas.
  const bool is_ycc =
      !is_grey && (image->color_space == OPJ_CLRSPC_SYCC ||
                   (image->numcomps == 3 && image->comps[0].dx == 1 &&
                    image->comps[1].dx > 1 && image->comps[2].dx > 1));
  const bool is_cmyk =
      image->numcomps == 4 && image->color_space == OPJ_CLRSPC_CMYK;
  const Channel red(image->comps[0]);
  const Channel green(image->comps[is_grey ? 0 : 1]);
  const Channel blue(image->comps[is_grey ? 0 : 2]);
  const Channel opacity(image->comps[image->numcomps - 1]);
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      uint8_t pixel[4] = {
          static_cast<uint8_t>(red.At(x, y)),
          static_cast<uint8_t>(green.At(x, y)),
          static_cast<uint8_t>(blue.At(x, y)),
          static_cast<uint8_t>(has_alpha ? opacity.At(x, y) : 255)};
      if (is_ycc) FromYcc(pixel);
      if (is_cmyk) FromCmyk(pixel);
      StorePixel(pixel, options.on_white, picture.at(x, y));
    }
  }
  return picture;
}

}  // namespace ember::tools::internal
