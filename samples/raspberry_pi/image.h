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
  int channels;          /* 1: grey, 3: red, green, blue */
  unsigned char* pixels; /* row by row, channels together; the image's own */
} Image;

/* NULL, and the caller frees the image; or what is wrong with the file. */
const char* ReadImage(const char* path, Image* image);
void FreeImage(Image* image);

/* One pixel of the image resized to width x height, in [0, 1]: the mean of all
 * pixels that it covers. channel: 0 to 2 of red, green and blue (a grey image
 * has the same in each), or -1 for the brightness. */
float SampleImage(const Image* image, int width, int height, int y, int x,
                  int channel);

#endif /* EMBER_SAMPLES_RASPBERRY_PI_IMAGE_H_ */
