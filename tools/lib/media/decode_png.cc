#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "tools/lib/media/decoders.h"

namespace ember::tools {
namespace {

// Frees what libpng holds for an image.
class PngImage {
 public:
  PngImage() {
    std::memset(&image_, 0, sizeof(image_));
    image_.version = PNG_IMAGE_VERSION;
  }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
  ~PngImage() { png_image_free(&image_); }
  png_image* get() { return &image_; }
  Status Error() const { return DataLossError(image_.message); }

 private:
  png_image image_;
};

}  // namespace

namespace internal {
namespace {

// The state of a decoder. libpng leaves by longjmp for each error, so no
// function between setjmp and longjmp owns anything with a destructor.
struct Decoder {
  png_structp png = nullptr;
  png_infop info = nullptr;
  const uint8_t* rest = nullptr;  // the bytes that have not been read
  size_t rest_size = 0;
  char message[200] = "";
};

[[noreturn]] void StopAtError(png_structp png, png_const_charp message) {
  Decoder& decoder = *static_cast<Decoder*>(png_get_error_ptr(png));
  std::snprintf(decoder.message, sizeof(decoder.message), "%s", message);
  png_longjmp(png, 1);
}

void DropWarning(png_structp, png_const_charp) {}

void ReadBytes(png_structp png, png_bytep to, size_t size) {
  Decoder& decoder = *static_cast<Decoder*>(png_get_io_ptr(png));
  if (size > decoder.rest_size) png_error(png, "unexpected end of the file");
  std::memcpy(to, decoder.rest, size);
  decoder.rest += size;
  decoder.rest_size -= size;
}

// Reads the header, and requests rows of 8-bit RGBA: colours as they are
// stored, without a conversion between colour spaces. Returns false after an
// error.
bool ReadHead(Decoder& decoder) {
  if (setjmp(png_jmpbuf(decoder.png)) != 0) return false;
  png_set_read_fn(decoder.png, &decoder, ReadBytes);
  // Profiles and texts are not used, and may be damaged.
  png_set_keep_unknown_chunks(decoder.png, PNG_HANDLE_CHUNK_NEVER, nullptr, 0);
  png_read_info(decoder.png, decoder.info);
  png_set_scale_16(decoder.png);
  png_set_expand(decoder.png);
  png_set_gray_to_rgb(decoder.png);
  png_set_add_alpha(decoder.png, 255, PNG_FILLER_AFTER);
  png_set_interlace_handling(decoder.png);
  png_read_update_info(decoder.png, decoder.info);
  return true;
}

// Reads all rows, and checks the end of the file. Returns false after an error.
bool ReadRows(Decoder& decoder, png_bytepp rows) {
  if (setjmp(png_jmpbuf(decoder.png)) != 0) return false;
  png_read_image(decoder.png, rows);
  png_read_end(decoder.png, nullptr);
  return true;
}

}  // namespace

StatusOr<Picture> DecodePng(std::span<const uint8_t> bytes,
                            const DecodeOptions& options) {
  struct Owner {
    ~Owner() { png_destroy_read_struct(&decoder.png, &decoder.info, nullptr); }
    Decoder decoder;
  } owner;
  Decoder& decoder = owner.decoder;
  decoder.rest = bytes.data();
  decoder.rest_size = bytes.size();
  decoder.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoder,
                                       StopAtError, DropWarning);
  if (decoder.png == nullptr)
    return ResourceExhaustedError("expected memory for a decoder");
  decoder.info = png_create_info_struct(decoder.png);
  const auto error = [&decoder] { return DataLossError(decoder.message); };
  if (decoder.info == nullptr || !ReadHead(decoder)) return error();
  const png_uint_32 width = png_get_image_width(decoder.png, decoder.info);
  const png_uint_32 height = png_get_image_height(decoder.png, decoder.info);
  EMBER_ASSIGN_OR_RETURN(Picture picture, NewPicture(width, height, options));
  std::vector<uint8_t> rgba(size_t{4} * width * height);
  std::vector<png_bytep> rows(height);
  for (size_t y = 0; y < rows.size(); ++y)
    rows[y] = rgba.data() + y * width * 4;
  if (!ReadRows(decoder, rows.data())) return error();
  for (size_t i = 0; i < rgba.size() / 4; ++i)
    StorePixel(&rgba[4 * i], options.on_white, &picture.pixels[3 * i]);
  return picture;
}

}  // namespace internal

StatusOr<std::string> EncodePng(const Picture& picture) {
  PngImage holder;
  png_image* image = holder.get();
  image->width = static_cast<png_uint_32>(picture.width);
  image->height = static_cast<png_uint_32>(picture.height);
  image->format = PNG_FORMAT_RGB;
  png_alloc_size_t size = 0;
  if (png_image_write_to_memory(image, nullptr, &size, 0, picture.pixels.data(),
                                0, nullptr) == 0)
    return holder.Error();
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(image, bytes.data(), &size, 0,
                                picture.pixels.data(), 0, nullptr) == 0)
    return holder.Error();
  bytes.resize(size);
  return bytes;
}

}  // namespace ember::tools
