#include "render/identity.h"

#include <dirent.h>
#include <errno.h>
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
	lines->line =
	    array_grow(lines->line, lines->nline, &lines->cap, sizeof *lines->line);
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

void lines_folder(const char *dir, const char *prefix, struct lines *out)
{
	DIR *d = opendir(dir);
	if (!d)
		return;
	for (struct dirent *e; (e = readdir(d));)
		if (e->d_name[0] != '.' &&
		    strncmp(e->d_name, prefix, strlen(prefix)) == 0)
			lines_take(out, fs_join(dir, e->d_name));
	closedir(d);
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
		if (strcmp(path, self) == 0 || strncmp(path, "/dev/", 5) == 0 ||
		    strncmp(path, "/memfd:", 7) == 0 || strncmp(path, "/SYSV", 5) == 0)
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
		if (type == 3 && nname == 4 && memcmp(p + 12, "GNU", 4) == 0 && ndesc) {
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
	    memcmp(head, "\177ELF", 4) != 0 || head[5] != 1)
		goto out;
	int is_64 = head[4] == 2;
	uint64_t phoff = word(head + (is_64 ? 32 : 28), is_64);
	size_t phsize = get_u32le(head + (is_64 ? 54 : 42)) & 0xffff;
	size_t nph = get_u32le(head + (is_64 ? 56 : 44)) & 0xffff;
	size_t need = is_64 ? 56 : 32;
	for (size_t i = 0; i < nph && !id && phsize >= need; i++) {
		if (read_at(fd, entry, need, phoff + i * phsize) < 0)
			break;
		if (get_u32le(entry) != 4) /* PT_NOTE */
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

/*
 * Owned by the caller; null when the file cannot be read now, which must not
 * pass for another driver.
 */
static char *file_identity(const char *path, struct err *err)
{
	struct sha256 sha;
	char hex[SHA256_HEX + 1];
	struct stat st;
	if (stat(path, &st) < 0 && (errno == ENOENT || errno == ENOTDIR))
		return xstrdup("gone");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		err_errno(err, STATUS_MACHINE, "cannot read '%s'", path);
		return NULL;
	}
	close(fd);
	char *id = elf_build_id(path);
	if (!id && fs_hash(path, &sha, NULL, err) == 0)
		id = xasprintf("sha256-%s", sha256_hex(&sha, hex));
	if (err->message)
		err->status = STATUS_MACHINE;
	return id;
}

int identity_libraries(const struct lines *before, const struct lines *after,
    struct lines *out, struct err *err)
{
	struct map had = MAP_INIT;
	int rc = 0;
	for (size_t i = 0; i < before->nline; i++)
		map_puts(&had, before->line[i], 1);
	for (size_t i = 0; i < after->nline && !rc; i++) {
		const char *name = fs_basename(after->line[i]);
		if (map_gets(&had, after->line[i]) != MAP_NONE &&
		    strncmp(name, "libm.so", 7) != 0 && strncmp(name, "libm-", 5) != 0)
			continue;
		char *id = file_identity(after->line[i], err);
		if (id)
			lines_take(out, xasprintf("lib.%s %s", name, id));
		else
			rc = err_wrap(err, "while finding out which driver this is");
		free(id);
	}
	map_release(&had);
	return rc;
}

/* Processor ---------------------------------------------------------------- */

/* The value of the first "NAME : value" line, or null. Owned by the caller. */
static char *cpuinfo_value(const char *text, const char *name)
{
	size_t n = strlen(name);
	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n");
		if (len > n && memcmp(line, name, n) == 0 && strspn(line + n, "\t :") &&
		    memchr(line, ':', len)) {
			const char *value = (const char *)memchr(line, ':', len) + 1;
			while (*value == ' ')
				value++;
			return xstrndup(value,
			    value < line + len ? (size_t)(line + len - value) : 0);
		}
		line += len + (line[len] == '\n');
	}
	return NULL;
}

static int is_isa_flag(const char *flag, size_t n)
{
	static const char *const prefix[] = {
		"sse",
		"ssse",
		"pni",
		"avx",
		"fma",
		"f16c",
		"popcnt",
		"bmi",
		"abm",
		"xop",
		"tbm",
		"amx",
		"gfni",
		"vaes",
		"vpclmulqdq",
		"movbe",
		"adx",
	};
	for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++)
		if (strlen(prefix[i]) <= n &&
		    memcmp(flag, prefix[i], strlen(prefix[i])) == 0)
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
		for (const char *p = flags; *p;) {
			size_t len = strcspn(p, " ");
			if (is_isa_flag(p, len)) {
				buf_add(&features, p, len);
				buf_addch(&features, ' ');
			}
			p += len + strspn(p + len, " ");
		}
	} else {
		static const char *const field[] = {
			"Features",
			"CPU implementer",
			"CPU part",
			"isa",
			"cpu",
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

/*
 * What drivers and their loaders read by name. Mesa has a list for each driver,
 * NVIDIA's is not public: families count, not names.
 */
static const char *const family[] = {
	"MESA_",
	"LIBGL_",
	"GALLIUM_",
	"LP_",
	"LLVM",
	"EGL_",
	"__EGL_",
	"__NV_",
	"__GL",
	"__VK_",
	"NV_",
	"NVIDIA_",
	"NOUVEAU_",
	"NV50_",
	"NVC0_",
	"NVK_",
	"DRI_",
	"DRIRC_",
	"GBM_",
	"GLVND_",
	"OPENGL_",
	"GL_",
	"VK_",
	"ZINK_",
	"INTEL_",
	"IRIS_",
	"CROCUS_",
	"ANV_",
	"I915_",
	"HASVK_",
	"AMD_",
	"RADV_",
	"RADEON_",
	"RADEONSI_",
	"R300_",
	"R600_",
	"ACO_",
	"FD_",
	"IR3_",
	"TU_",
	"PAN_",
	"PANVK_",
	"LIMA_",
	"V3D_",
	"VC4_",
	"ETNA_",
	"VIRGL_",
	"VTEST_",
	"SVGA_",
	"D3D12_",
	"AGX_",
	"ASAHI_",
	"PVR_",
	"SOFTPIPE_",
	"SWR_",
	"DRAW_",
	"ST_",
	"NIR_",
	"SPIRV_",
	"TGSI_",
	"GLSL_",
};
static const char *const whole[] = {
	"LD_LIBRARY_PATH",
	"LD_PRELOAD",
	"LD_AUDIT",
	"LD_HWCAP_MASK",
	"GLIBC_TUNABLES",
};
/* What surely changes no picture, though a rule here would take it. */
static const char *const harmless[] = {
	"LP_NUM_THREADS",
	"container",
	"debian_chroot",
	"_",
	"NODE_DEBUG",
	"G_DEBUG",
	"RUNNER_DEBUG",
	"ACTIONS_STEP_DEBUG",
	"ACTIONS_RUNNER_DEBUG",
	"NVIDIA_VISIBLE_DEVICES",
	"vblank_mode",
};

static int is_listed(const char *name, size_t n, const char *const *list, size_t nlist)
{
	for (size_t i = 0; i < nlist; i++)
		if (strlen(list[i]) == n && memcmp(name, list[i], n) == 0)
			return 1;
	return 0;
}

static int ends_in(const char *name, size_t n, const char *end)
{
	size_t m = strlen(end);
	return n >= m && memcmp(name + n - m, end, m) == 0;
}

/*
 * Mesa takes each option of its drirc files from the environment, too, by its
 * own name: "force_glsl_abs_sqrt". They are hundreds, others every release, and
 * all of lower case, as little else is.
 */
static int is_option(const char *name, size_t n)
{
	size_t i = 0;
	while (i < n &&
	    ((name[i] >= 'a' && name[i] <= 'z') || (name[i] >= '0' && name[i] <= '9') ||
		name[i] == '_'))
		i++;
	return i == n && n && memchr(name, '_', n) && !ends_in(name, n, "_proxy") &&
	    strncmp(name, "npm_", 4) != 0 && strncmp(name, "conda_", 6);
}

int identity_reads(const char *name, size_t n)
{
	if (is_listed(name, n, harmless, sizeof harmless / sizeof *harmless))
		return 0;
	for (size_t i = 0; i < sizeof family / sizeof *family; i++) {
		size_t m = strlen(family[i]);
		if (n >= m && memcmp(name, family[i], m) == 0)
			return 1;
	}
	return is_listed(name, n, whole, sizeof whole / sizeof *whole) ||
	    ends_in(name, n, "_DEBUG") || is_option(name, n);
}

void identity_environment(struct lines *out)
{
	for (char **e = environ; e && *e; e++) {
		size_t n = strcspn(*e, "=");
		if (identity_reads(*e, n))
			lines_take(out,
			    xasprintf("env.%.*s %s", (int)n, *e,
				(*e)[n] ? *e + n + 1 : ""));
	}
}

/* Option files ------------------------------------------------------------- */

static void add_path(struct lines *out, const char *folder, const char *name)
{
	if (folder && *folder)
		lines_take(out, fs_join(folder, name));
}

void identity_option_files(struct lines *out)
{
	const char *dir = getenv("DRIRC_CONFIGDIR");
	struct lines entry = { 0 };
	lines_folder(dir && *dir ? dir : "/usr/share/drirc.d", "", &entry);
	lines_sort(&entry);
	for (size_t i = 0; i < entry.nline; i++)
		lines_take(out, xstrdup(entry.line[i]));
	lines_release(&entry);
	add_path(out, "/etc", "drirc");
	add_path(out, getenv("HOME"), ".drirc");
	add_path(out, getenv("HOME"), ".config/drirc");
	add_path(out, getenv("XDG_CONFIG_HOME"), "drirc");
}

void identity_options(struct lines *out)
{
	struct lines path = { 0 };
	struct sha256_ctx ctx;
	struct sha256 sha;
	char hex[SHA256_HEX + 1];
	identity_option_files(&path);
	sha256_init(&ctx);
	/* By their order, not by their places: homes have other names. */
	for (size_t i = 0; i < path.nline; i++) {
		struct err err = ERR_INIT;
		if (fs_exists(path.line[i]) &&
		    fs_hash(path.line[i], &sha, NULL, &err) == 0)
			sha256_update(&ctx, sha.byte, SHA256_SIZE);
		err_release(&err);
	}
	sha256_final(&ctx, &sha);
	lines_take(out, xasprintf("options %.16s", sha256_hex(&sha, hex)));
	lines_release(&path);
}
