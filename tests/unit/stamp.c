/* The driver stamp, and what identities are made of. */

#include <stdlib.h>
#include <unistd.h>

#include "render/identity.h"
#include "render/stamp.h"
#include "test.h"
#include "util/buf.h"
#include "util/fs.h"
#include "util/proc.h"

static struct sha256 stamp(char *path, const char *device)
{
	struct sha256 sha;
	stamp_of(&path, 1, device, &sha);
	return sha;
}

static void test_stamp(void)
{
	char path[] = "stamp-library";
	struct err err = ERR_INIT;
	CHECK_INT(fs_write(path, "one", 3, 0, &err), 0);
	struct sha256 a = stamp(path, NULL), b = stamp(path, NULL);
	CHECK(sha256_equal(&a, &b));

	struct buf text = BUF_INIT;
	char *mapped[] = { path };
	stamp_text(mapped, 1, NULL, &text);
	CHECK(strstr(buf_str(&text), "file stamp-library 3 ") != NULL);
	CHECK(strstr(buf_str(&text), "\nfolder /usr/share/glvnd/egl_vendor.d ") ||
	    strncmp(buf_str(&text), "folder /usr/share/glvnd", 23) == 0);
	buf_release(&text);

	/* Each thing that it stands for. */
	b = stamp(path, "software");
	CHECK(!sha256_equal(&a, &b));
	CHECK_INT(fs_write(path, "three", 5, 0, &err), 0);
	b = stamp(path, NULL);
	CHECK(!sha256_equal(&a, &b));
	a = b;
	CHECK_INT(fs_remove(path, &err), 0);
	b = stamp(path, NULL);
	CHECK(!sha256_equal(&a, &b));
	a = b;
	setenv("MESA_GL_VERSION_OVERRIDE", "4.3", 1);
	b = stamp(path, NULL);
	CHECK(!sha256_equal(&a, &b));
	unsetenv("MESA_GL_VERSION_OVERRIDE");
	setenv("LP_NUM_THREADS", "3", 1);
	b = stamp(path, NULL);
	CHECK(sha256_equal(&a, &b));
	setenv("UNRELATED_MESA_", "3", 1);
	b = stamp(path, NULL);
	CHECK(sha256_equal(&a, &b));
	static const char *const counts[] = { "force_glsl_abs_sqrt", "mesa_glthread",
		"__GL_FSAA_MODE", "__GLX_VENDOR_LIBRARY_NAME", "INTEL_DEBUG", "NIR_DEBUG",
		"AMD_DEBUG", "SOME_NEW_DEBUG", "DRI_PRIME", "LD_PRELOAD",
		"VK_ICD_FILENAMES" };
	static const char *const counts_not[] = { "PATH", "HOME", "http_proxy",
		"npm_config_x", "LP_NUM_THREADS", "_", "DEBUG", "term", "LANG" };
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		CHECK(identity_reads(counts[i], strlen(counts[i])));
	for (size_t i = 0; i < sizeof counts_not / sizeof *counts_not; i++)
		CHECK(!identity_reads(counts_not[i], strlen(counts_not[i])));
	/* STBUILD_DEVICE is --device by another name. */
	setenv("STBUILD_DEVICE", "software", 1);
	b = stamp(path, NULL);
	CHECK(!sha256_equal(&a, &b));
	a = stamp(path, "software");
	CHECK(sha256_equal(&a, &b));
	unsetenv("STBUILD_DEVICE");
	err_release(&err);
}

static const char *find(const struct lines *l, const char *start)
{
	for (size_t i = 0; i < l->nline; i++)
		if (strncmp(l->line[i], start, strlen(start)) == 0)
			return l->line[i];
	return NULL;
}

static void test_identity(void)
{
	struct lines maps = { 0 }, none = { 0 }, out = { 0 };
	struct err err = ERR_INIT;
	identity_maps(&maps);
	CHECK(maps.nline > 0);
	int has_libc = 0;
	for (size_t i = 0; i < maps.nline; i++) {
		has_libc |= strstr(maps.line[i], "libc.so") ||
		    strstr(maps.line[i], "libc-") || strstr(maps.line[i], "ld-musl");
		CHECK(!strstr(maps.line[i], "tests/unit/stamp"));
	}
	CHECK(has_libc);
	CHECK(!identity_libraries(&none, &maps, &out, &err));
	CHECK_INT(out.nline, maps.nline);
	for (size_t i = 0; i < out.nline; i++)
		CHECK(strncmp(out.line[i], "lib.", 4) == 0 && strchr(out.line[i], ' '));
	lines_release(&out);
	/* Mapped before: no part of the driver, but libm. */
	CHECK(!identity_libraries(&maps, &maps, &out, &err));
	for (size_t i = 0; i < out.nline; i++)
		CHECK(strncmp(out.line[i], "lib.libm", 8) == 0);
	lines_release(&out);
	lines_release(&maps);

	setenv("LIBGL_TEST", "a\nb", 1);
	setenv("LP_NUM_THREADS", "7", 1);
	setenv("LP_NO_RAST", "0", 1);
	setenv("MY_DRI_PRIME", "0", 1);
	identity_environment(&out);
	CHECK_STR(find(&out, "env.LIBGL_TEST"), "env.LIBGL_TEST a b");
	CHECK_STR(find(&out, "env.LP_NO_RAST"), "env.LP_NO_RAST 0");
	CHECK(!find(&out, "env.LP_NUM_THREADS"));
	CHECK(!find(&out, "env.MY_DRI_PRIME"));
	lines_release(&out);
	identity_cpu(&out);
	CHECK_INT(out.nline, 2);
	CHECK(find(&out, "cpu.model ") && find(&out, "cpu.features "));
	lines_release(&out);
}

/* A hand-made ELF file of 64 bits with one note, whole and cut anywhere. */
static void test_build_id(void)
{
	unsigned char elf[64 + 56 + 24] = { 127, 'E', 'L', 'F', 2, 1, 1 };
	struct err err = ERR_INIT;
	elf[32] = 64; /* program headers' place */
	elf[54] = 56; /* their size */
	elf[56] = 1;  /* and number */
	unsigned char *ph = elf + 64, *note = ph + 56;
	ph[0] = 4;       /* PT_NOTE */
	ph[8] = 64 + 56; /* its place */
	ph[32] = 24;     /* its size */
	note[0] = 4;
	note[4] = 8;
	note[8] = 3;
	memcpy(note + 12, "GNU", 4);
	memcpy(note + 16, "\x01\x23\x45\x67\x89\xab\xcd\xef", 8);
	CHECK_INT(fs_write("stamp.elf", elf, sizeof elf, 0, &err), 0);
	char *id = elf_build_id("stamp.elf");
	CHECK_STR(id, "0123456789abcdef");
	free(id);
	for (size_t n = 0; n < sizeof elf; n++) {
		CHECK_INT(fs_write("stamp.elf", elf, n, 0, &err), 0);
		id = elf_build_id("stamp.elf");
		CHECK(id == NULL);
		free(id);
	}
	/* Sizes that point outside. */
	note[4] = 200;
	CHECK_INT(fs_write("stamp.elf", elf, sizeof elf, 0, &err), 0);
	CHECK(elf_build_id("stamp.elf") == NULL);
	memset(ph + 8, 0xff, 8);
	CHECK_INT(fs_write("stamp.elf", elf, sizeof elf, 0, &err), 0);
	CHECK(elf_build_id("stamp.elf") == NULL);
	CHECK(elf_build_id("absent.elf") == NULL);
	CHECK_INT(fs_remove("stamp.elf", &err), 0);
	err_release(&err);
}

int main(int argc, char **argv)
{
	(void)argc;
	proc_init(argv[0]);
	test_stamp();
	test_identity();
	test_build_id();
	return test_done();
}
