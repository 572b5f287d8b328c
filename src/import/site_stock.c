#include "site.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "util/fs.h"
#include "util/mem.h"

#define A "/media/a/"
#define HASH 64 /* hex digits of a name there */

static const struct site_stock stock[] = {
	{ "4dXGRr", "keyboard", "/presets/tex00.jpg", 0 },
	{ "4dXGR8", "buffer", "/media/previz/buffer00.png", 0 },
	{ "XsXGR8", "buffer", "/media/previz/buffer01.png", 0 },
	{ "4sXGR8", "buffer", "/media/previz/buffer02.png", 0 },
	{ "XdfGR8", "buffer", "/media/previz/buffer03.png", 0 },
	{ "4dX3Rr", "cubemap", "/media/previz/cubemap00.png", 0 },
	{ "XsX3zn", "cubemap",
	    A "94284d43be78f00eb6b298e6d78656a1b34e2b91b34940d02f1ca8b22310e8a0.png", 0 },
	{ "4sX3zn", "cubemap",
	    A "0681c014f6c88c356cf9c0394ffe015acc94ec1474924855f45d22c3e70b5785.png", 0 },
	{ "XdX3zn", "cubemap",
	    A "488bd40303a2e2b9a71987e48c66ef41f5e937174bf316d3ed0e86410784b919.jpg", 0 },
	{ NULL, "cubemap",
	    A "550a8cce1bf403869fde66dddf6028dd171f1852f4a704a465e1b80d23955663.png", 0 },
	{ NULL, "cubemap",
	    A "585f9546c092f53ded45332b343144396c0b2d70d9965f585ebc172080d8aa58.jpg", 0 },
	{ NULL, "cubemap",
	    A "793a105653fbdadabdc1325ca08675e1ce48ae5f12e37973829c87bea4be3232.png", 0 },
	{ "4dX3zn", "cubemap", "4dX3zn", 0 },
	{ "XsfGzn", "cubemap", "XsfGzn", 0 },
	{ "4sfGzn", "cubemap", "4sfGzn", 0 },
	{ "4sfGRr", "volume",
	    A "27012b4eadd0c3ce12498b867058e4f717ce79e10a99568cca461682d84a4b04.bin", 0 },
	{ "XdX3Rr", "volume",
	    A "aea6b99da1d53055107966b59ac5444fc8bc7b3ce2d0bbb6a4a3cbae1d97f3aa.bin", 0 },
	/* Textures that the site uploads with one channel. */
	{ "Xdf3zn", "texture",
	    A "85a6d68622b36995ccb98a89bbb119edf167c914660e4450d313de049320005c.png", 1 },
	{ "4sf3Rn", "texture",
	    A "0a40562379b63dfb89227e6d172f39fdce9022cba76623f1054a2c83d6c0ba5d.png", 1 },
	{ "4dXGzn", "texture",
	    A "0c7bf5fe9462d5bffbd11126e82908e39be3ce56220d900f633d58fb432e56f5.png", 1 },
	{ "4sf3Rr", "texture",
	    A "ad56fba948dfba9ae698198c109e71f118a54d209c0ea50d77ea546abad89c57.png", 1 },
};

/* The first HASH characters of a path's last part, where they are hex digits. */
static const char *hash_in(const char *path)
{
	const char *base = fs_basename(path);
	size_t n = 0;
	while (isxdigit((unsigned char)base[n]))
		n++;
	return n == HASH ? base : NULL;
}

const struct site_stock *site_find_stock(const char *id, const char *path)
{
	for (size_t i = 0; id && i < sizeof stock / sizeof *stock; i++)
		if (stock[i].id && strcmp(stock[i].id, id) == 0)
			return &stock[i];
	const char *hash = path ? hash_in(path) : NULL;
	for (size_t i = 0; hash && i < sizeof stock / sizeof *stock; i++) {
		const char *other = hash_in(stock[i].path);
		if (other && strncasecmp(other, hash, HASH) == 0)
			return &stock[i];
	}
	return NULL;
}
