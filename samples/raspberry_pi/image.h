/* Reads pictures and brings them into the form that a model takes.
 *
 *   Image image;
 *   const char* error = ReadImage("photo.ppm", &image);
 *   if (error != NULL) ...
 *   float plane = SampleImage(&image, 224, 224, y, x, channel);
 *   FreeImage(&image);
 *
 * Files are binary PPM (P6, colour) or PGM (P5, grey) with up to 255 shades:
 * the formats that need no library, and that every picture tool writes. */
#ifndef EMBER_SAMPLES_RASPBERRY_PI_IMAGE_H_
#define EMBER_SAMPLES_RASPBERRY_PI_IMAGE_H_

typedef struct Image {
  int width;
  int height;
  int channels;          /* 1 (grey) or 3 (red, green, blue) */
  unsigned char* pixels; /* [height, width, channels]; freed by FreeImage */
} Image;

/* Reads an image file. Returns NULL after success; the caller then frees the
 * image. Otherwise returns a text that says what is wrong with the file. */
const char* ReadImage(const char* path, Image* image);
void FreeImage(Image* image);

/* Returns a pixel, in [0, 1], of the image resized to width x height: the mean
 * of all pixels of the image that it covers. `channel` is 0, 1 or 2 for red,
 * green or blue (equal for a grey image), or -1 for the brightness. */
float SampleImage(const Image* image, int width, int height, int y, int x,
                  int channel);

#endif /* EMBER_SAMPLES_RASPBERRY_PI_IMAGE_H_ */
