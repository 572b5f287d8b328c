#include "render/identity.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/err.h"
#include "util/fs.h"
#include "util/map.h"
#include "util/mem.h"
#include "util/sha256.h"

#define MAX_MAPS (16u << 20)
#define MAX_NOTE 65536

extern char **environ;

void lines_release(struct lines *lines)
{
	for (size_t i = 0; i < lines->nline; i++)
		free(lines->line[i]);
	free(lines->line);
	*lines = (struct lines){ 0 };
}

void lines_take(struct lines *lines, char *text)
{
	/* One value is one line. */
	for (char *p = text; *p; p++)
		if (*p == '\n' || *p == '\r')
			*p = ' ';
	lines->line = array_grow(lines->line, lines->nline, &lines->cap,
		sizeof *lines->line);
	lines->line[lines->nline++] = text;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void lines_sort(struct lines *lines)
{
	if (lines->nline)
		qsort(lines->line, lines->nline, sizeof *lines->line, by_text);
}

/* Libraries ---------------------------------------------------------------- */

void identity_maps(struct lines *out)
{
	struct buf maps = BUF_INIT;
	struct err err = ERR_INIT;
	struct map seen = MAP_INIT;
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	self[n > 0 ? n : 0] = '\0';
	if (fs_read("/proc/self/maps", MAX_MAPS, &maps, &err) < 0)
		goto out;
	/* "START-END PERMS OFFSET DEV INODE      PATH" */
	for (char *line = maps.data, *next; line && *line; line = next) {
		size_t len = strcspn(line, "\n");
		next = line + len + (line[len] == '\n');
		line[len] = '\0';
		char *perms = strchr(line, ' ');
		char *path = strchr(line, '/');
		if (!perms || strlen(perms) < 5 || perms[3] != 'x' || !path)
			continue;
		if (!strcmp(path, self) || !strncmp(path, "/dev/", 5) ||
		    !strncmp(path, "/memfd:", 7) || !strncmp(path, "/SYSV", 5))
			continue;
		if (map_puts(&seen, path, 1))
			lines_take(out, xstrdup(path));
	}
	lines_sort(out);
out:
	map_release(&seen);
	buf_release(&maps);
	err_release(&err);
}

static int read_at(int fd, void *data, size_t n, uint64_t at)
{
	return at <= INT64_MAX && pread(fd, data, n, (off_t)at) == (ssize_t)n ? 0 : -1;
}

static uint64_t word(const unsigned char *p, int is_64)
{
	return is_64 ? get_u64le(p) : get_u32le(p);
}

/*
 * ELF notes: u32 name size, u32 descriptor size, u32 type, then both, each
 * padded to 4 bytes. NT_GNU_BUILD_ID is type 3 of "GNU".
 */
static char *note_build_id(const unsigned char *p, size_t n)
{
	while (n >= 12) {
		size_t nname = get_u32le(p), ndesc = get_u32le(p + 4);
		uint32_t type = get_u32le(p + 8);
		if (nname > MAX_NOTE || ndesc > MAX_NOTE)
			return NULL;
		size_t at = 12 + (nname + 3) / 4 * 4;
		if (at + ndesc > n)
			return NULL;
		if (type == 3 && nname == 4 && !memcmp(p + 12, "GNU", 4) && ndesc) {
			struct buf hex = BUF_INIT;
			for (size_t i = 0; i < ndesc; i++)
				buf_addf(&hex, "%02x", p[at + i]);
			return buf_detach(&hex);
		}
		size_t all = at + (ndesc + 3) / 4 * 4;
		if (all > n)
			return NULL;
		p += all;
		n -= all;
	}
	return NULL;
}

char *elf_build_id(const char *path)
{
	unsigned char head[64], entry[56];
	char *id = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	/* Little-endian files of both classes; others go by their bytes. */
	if (fd < 0 || read_at(fd, head, sizeof head, 0) < 0 ||
	    memcmp(head, "\177ELF", 4) || head[5] != 1)
		goto out;
	int is_64 = head[4] == 2;
	uint64_t phoff = word(head + (is_64 ? 32 : 28), is_64);
	size_t phsize = get_u32le(head + (is_64 ? 54 : 42)) & 0xffff;
	size_t nph = get_u32le(head + (is_64 ? 56 : 44)) & 0xffff;
	size_t need = is_64 ? 56 : 32;
	for (size_t i = 0; i < nph && !id && phsize >= need; i++) {
		if (read_at(fd, entry, need, phoff + i * phsize) < 0)
			break;
		if (get_u32le(entry) != 4)	/* PT_NOTE */
			continue;
		uint64_t at = word(entry + (is_64 ? 8 : 4), is_64);
		uint64_t size = word(entry + (is_64 ? 32 : 16), is_64);
		if (!size || size > MAX_NOTE)
			continue;
		unsigned char *note = xmalloc((size_t)size);
		if (!read_at(fd, note, (size_t)size, at))
			id = note_build_id(note, (size_t)size);
		free(note);
	}
out:
	if (fd >= 0)
		close(fd);
	return id;
}

static char *file_identity(const char *path)
{
	char *id = elf_build_id(path);
	if (id)
		return id;
	struct err err = ERR_INIT;
	struct sha256 sha;
	char hex[SHA256_HEX + 1];
	struct stat st;
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		id = xstrdup("gone");
	else if (fs_hash(path, &sha, NULL, &err) < 0)
		id = xstrdup("unreadable");
	else
		id = xasprintf("sha256-%s", sha256_hex(&sha, hex));
	err_release(&err);
	return id;
}

void identity_libraries(const struct lines *before, const struct lines *after,
	struct lines *out)
{
	struct map had = MAP_INIT;
	for (size_t i = 0; i < before->nline; i++)
		map_puts(&had, before->line[i], 1);
	for (size_t i = 0; i < after->nline; i++) {
		const char *name = fs_basename(after->line[i]);
		if (map_gets(&had, after->line[i]) != MAP_NONE &&
		    strncmp(name, "libm.so", 7) && strncmp(name, "libm-", 5))
			continue;
		char *id = file_identity(after->line[i]);
		lines_take(out, xasprintf("lib.%s %s", name, id));
		free(id);
	}
	map_release(&had);
}

/* Processor ---------------------------------------------------------------- */

/* The value of the first "NAME : value" line, or null. Owned by the caller. */
static char *cpuinfo_value(const char *text, const char *name)
{
	size_t n = strlen(name);
	for (const char *line = text; *line; ) {
		size_t len = strcspn(line, "\n");
		if (len > n && !memcmp(line, name, n) && strspn(line + n, "\t :") &&
		    memchr(line, ':', len)) {
			const char *value = (const char *)memchr(line, ':', len) + 1;
			while (*value == ' ')
				value++;
			return xstrndup(value, value < line + len ?
				(size_t)(line + len - value) : 0);
		}
		line += len + (line[len] == '\n');
	}
	return NULL;
}

static int is_isa_flag(const char *flag, size_t n)
{
	static const char *const prefix[] = {
		"sse", "ssse", "pni", "avx", "fma", "f16c", "popcnt", "bmi", "abm",
		"xop", "tbm", "amx", "gfni", "vaes", "vpclmulqdq", "movbe", "adx"
	};
	for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++)
		if (strlen(prefix[i]) <= n && !memcmp(flag, prefix[i], strlen(prefix[i])))
			return 1;
	return 0;
}

void identity_cpu(struct lines *out)
{
	/* The first processors will do; whole, the file is long on big machines. */
	char text[16384];
	size_t n = 0;
	int fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && n < sizeof text - 1) {
		ssize_t got = read(fd, text + n, sizeof text - 1 - n);
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	if (fd >= 0)
		close(fd);
	text[n] = '\0';
	struct buf features = BUF_INIT;
	char *flags = cpuinfo_value(text, "flags");
	if (flags) {
		for (const char *p = flags; *p; ) {
			size_t len = strcspn(p, " ");
			if (is_isa_flag(p, len)) {
				buf_add(&features, p, len);
				buf_addch(&features, ' ');
			}
			p += len + strspn(p + len, " ");
		}
	} else {
		static const char *const field[] = {
			"Features", "CPU implementer", "CPU part", "isa", "cpu"
		};
		for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
			char *value = cpuinfo_value(text, field[i]);
			if (value)
				buf_addf(&features, "%s=%s ", field[i], value);
			free(value);
		}
	}
	char *model = cpuinfo_value(text, "model name");
	struct sha256 sha;
	char hex[SHA256_HEX + 1];
	sha256_of(buf_str(&features), features.len, &sha);
	lines_take(out, xasprintf("cpu.model %s", model ? model : "unknown"));
	lines_take(out, xasprintf("cpu.features %.16s", sha256_hex(&sha, hex)));
	free(model);
	free(flags);
	buf_release(&features);
}

/* Environment -------------------------------------------------------------- */

void identity_environment(struct lines *out)
{
	static const char *const prefix[] = {
		"MESA_", "LIBGL_", "GALLIUM_", "LP_", "EGL_", "__EGL_", "__NV_"
	};
	static const char *const whole[] = {
		"DRI_PRIME", "LD_LIBRARY_PATH", "LD_PRELOAD"
	};
	for (char **e = environ; e && *e; e++) {
		size_t n = strcspn(*e, "=");
		int is_read = 0;
		for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++)
			is_read |= !strncmp(*e, prefix[i], strlen(prefix[i]));
		for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
			is_read |= strlen(whole[i]) == n && !memcmp(*e, whole[i], n);
		/* How many threads draw changes the time it takes, not the picture. */
		if (!is_read || (n == 14 && !memcmp(*e, "LP_NUM_THREADS", n)))
			continue;
		lines_take(out, xasprintf("env.%.*s %s", (int)n, *e,
			(*e)[n] ? *e + n + 1 : ""));
	}
}
