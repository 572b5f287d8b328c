#include "project/image.h"

#include <string.h>

/* Where a format's bytes stand, of those that are known by them. */
static const struct {
	size_t at;
	const char *bytes;
	size_t n;
	const char *name;
} format[] = {
	{ 0, "\x89PNG\r\n\x1a\n", 8, "PNG" },
	{ 0, "\xff\xd8\xff", 3, "JPEG" },
	{ 8, "WEBP", 4, "WebP" },
	{ 0, "GIF8", 4, "GIF" },
	{ 4, "ftypavif", 8, "AVIF" },
	{ 4, "ftypavis", 8, "AVIF" },
	{ 4, "ftyphei", 7, "HEIC" },
	{ 4, "ftyphev", 7, "HEIC" },
	{ 4, "ftypmif1", 8, "HEIF" },
	{ 4, "ftypmsf1", 8, "HEIF" },
	{ 4, "ftyp", 4, "MP4" },
	{ 0, "\xff\x0a", 2, "JPEG XL" },
	{ 0, "\0\0\0\x0cJXL \r\n\x87\n", 12, "JPEG XL" },
	{ 0, "\0\0\0\x0cjP  ", 8, "JPEG 2000" },
	{ 0, "II*\0", 4, "TIFF" },
	{ 0, "MM\0*", 4, "TIFF" },
	{ 0, "DDS ", 4, "DDS" },
	{ 0, "\xabKTX ", 5, "KTX" },
	{ 0, "v/1\x01", 4, "OpenEXR" },
	{ 0, "#?RADIANCE", 10, "Radiance HDR" },
	{ 0, "8BPS", 4, "Photoshop" },
	{ 0, "qoif", 4, "QOI" },
	{ 0, "\0\0\1\0", 4, "ICO" },
	{ 0, "\x1a\x45\xdf\xa3", 4, "WebM" },
	{ 0, "OggS", 4, "Ogg" },
	{ 0, "BIN\0", 4, "volume" },
};

/* Whether a text begins with the word, whatever the case. */
static int begins(const char *text, size_t n, const char *word)
{
	size_t i = 0;
	for (; word[i]; i++) {
		char c = i < n ? text[i] : '\0';
		if ((c >= 'A' && c <= 'Z' ? (char)(c + 32) : c) != word[i])
			return 0;
	}
	return 1;
}

static int has(const char *text, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++)
		if (begins(text + i, n - i, word))
			return 1;
	return 0;
}

const char *image_content(const void *bytes, size_t n)
{
	const char *b = bytes;
	if (!n)
		return "empty";
	for (size_t i = 0; i < sizeof format / sizeof *format; i++)
		if (n >= format[i].at + format[i].n &&
		    memcmp(b + format[i].at, format[i].bytes, format[i].n) == 0)
			return format[i].name;
	/* "BM", a size, and four bytes of zero. */
	if (n >= 14 && memcmp(b, "BM", 2) == 0 && memcmp(b + 6, "\0\0\0\0", 4) == 0)
		return "BMP";
	static const char tga[] = "TRUEVISION-XFILE.";
	if (n >= 18 && memcmp(b + n - 18, tga, 18) == 0)
		return "TGA";
	if (n >= 3 && memcmp(b, "\xef\xbb\xbf", 3) == 0)
		b += 3, n -= 3;
	while (n && (*b == ' ' || *b == '\t' || *b == '\r' || *b == '\n'))
		b++, n--;
	size_t head = n < 1024 ? n : 1024;
	if (begins(b, n, "<!doctype html") || begins(b, n, "<html"))
		return "HTML";
	if (begins(b, n, "<svg") || (begins(b, n, "<") && has(b, head, "<svg")))
		return "SVG";
	if (begins(b, n, "<") && has(b, head, "<html"))
		return "HTML";
	return NULL;
}
