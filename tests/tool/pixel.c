/*
 * pixel FILE.png X Y: prints "r g b a" of a picture, 0 to 255 each; (0, 0) is
 * at the top left, as in the file.
 *
 * pixel FILE.rgba32f W X Y: prints four floats of an intermediate that is W
 * wide; (0, 0) is at the bottom left, as in the file.
 *
 * Status 1: the file cannot be read, or the pixel is outside.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <png.h>

#include "util/mem.h"

static int print_png(const char *path, long x, long y)
{
	png_image image = { .version = PNG_IMAGE_VERSION };
	if (!png_image_begin_read_from_file(&image, path)) {
		fprintf(stderr, "%s: %s\n", path, image.message);
		return 1;
	}
	image.format = PNG_FORMAT_RGBA;
	if (x >= (long)image.width || y >= (long)image.height) {
		fprintf(stderr, "%s is %ux%u\n", path, image.width, image.height);
		png_image_free(&image);
		return 1;
	}
	uint8_t *pixel = xmalloc(PNG_IMAGE_SIZE(image));
	int ok = png_image_finish_read(&image, NULL, pixel, 0, NULL);
	if (ok) {
		const uint8_t *p = pixel + ((size_t)y * image.width + (size_t)x) * 4;
		printf("%d %d %d %d\n", p[0], p[1], p[2], p[3]);
	} else {
		fprintf(stderr, "%s: %s\n", path, image.message);
	}
	free(pixel);
	return !ok;
}

static int print_float(const char *path, long width, long x, long y)
{
	/* The file is little-endian, and so are all machines with GL that we know. */
	float texel[4];
	FILE *file = fopen(path, "rb");
	if (!file) {
		perror(path);
		return 1;
	}
	int ok = x < width && !fseek(file, (y * width + x) * 16, SEEK_SET) &&
	    fread(texel, sizeof texel, 1, file) == 1;
	fclose(file);
	if (!ok) {
		fprintf(stderr, "%s: no texel %ld %ld\n", path, x, y);
		return 1;
	}
	printf("%.9g %.9g %.9g %.9g\n", (double)texel[0], (double)texel[1],
	    (double)texel[2], (double)texel[3]);
	return 0;
}

int main(int argc, char **argv)
{
	long n[3] = { 0, 0, 0 };
	for (int i = 2; i < argc && i < 5; i++) {
		char *end;
		n[i - 2] = strtol(argv[i], &end, 10);
		if (end == argv[i] || *end || n[i - 2] < 0) {
			fprintf(stderr, "'%s' is no place\n", argv[i]);
			return 1;
		}
	}
	if (argc == 4)
		return print_png(argv[1], n[0], n[1]);
	if (argc == 5)
		return print_float(argv[1], n[0], n[1], n[2]);
	fputs("usage: pixel FILE.png X Y | pixel FILE.rgba32f W X Y\n", stderr);
	return 1;
}
