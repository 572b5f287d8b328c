#include "render/stamp.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "render/identity.h"
#include "util/buf.h"
#include "util/err.h"
#include "util/fs.h"
#include "util/mem.h"

static void add_file(struct lines *out, const char *path)
{
	struct fs_stamp st;
	if (fs_stamp(path, &st) < 0) {
		lines_take(out, xasprintf("file %s absent", path));
		return;
	}
	lines_take(out,
	    xasprintf("file %s %llu %lld %llu", path, (unsigned long long)st.size,
		(long long)st.mtime_ns, (unsigned long long)st.ino));
}

static void add_folder(struct lines *out, const char *dir)
{
	struct lines entry = { 0 };
	lines_folder(dir, "", &entry);
	lines_take(out, xasprintf("folder %s %zu", dir, entry.nline));
	for (size_t i = 0; i < entry.nline; i++)
		add_file(out, entry.line[i]);
	lines_release(&entry);
}

/* First bytes of a small file of the kernel's, if it is there. */
static void add_text(struct lines *out, const char *path)
{
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	if (fs_exists(path) && !fs_read(path, 65536, &text, &err))
		lines_take(out, xasprintf("text %s %s", path, buf_str(&text)));
	buf_release(&text);
	err_release(&err);
}

/* glvnd's order: what the environment names, else the system's folders. */
static void add_vendors(struct lines *out)
{
	static const char *const folder[] = {
		"/etc/glvnd/egl_vendor.d",
		"/usr/share/glvnd/egl_vendor.d",
		"/usr/local/share/glvnd/egl_vendor.d",
	};
	static const char *const variable[] = {
		"__EGL_VENDOR_LIBRARY_DIRS",
		"__EGL_VENDOR_LIBRARY_FILENAMES",
	};
	for (size_t i = 0; i < sizeof folder / sizeof *folder; i++)
		add_folder(out, folder[i]);
	for (size_t i = 0; i < sizeof variable / sizeof *variable; i++) {
		const char *p = getenv(variable[i]);
		while (p && *p) {
			size_t n = strcspn(p, ":");
			char *path = xstrndup(p, n);
			if (n && fs_is_dir(path))
				add_folder(out, path);
			else if (n)
				add_file(out, path);
			free(path);
			p += n + (p[n] == ':');
		}
	}
}

/* Mesa's per-application options change what it compiles. */
static void add_options(struct lines *out)
{
	struct lines path = { 0 };
	identity_option_files(&path);
	for (size_t i = 0; i < path.nline; i++)
		add_file(out, path.line[i]);
	lines_release(&path);
	/* A file that is new there would be read. */
	add_file(out, "/usr/share/drirc.d");
}

/* What says which libraries are loaded, and what a library is looked for in. */
static void add_loader(struct lines *out)
{
	static const char *const variable[] = {
		"LD_LIBRARY_PATH",
		"LIBGL_DRIVERS_PATH",
		"GBM_BACKENDS_PATH",
	};
	add_file(out, "/etc/ld.so.cache");
	add_file(out, "/etc/ld.so.preload");
	add_folder(out, "/usr/share/vulkan/icd.d");
	add_folder(out, "/etc/vulkan/icd.d");
	for (size_t i = 0; i < sizeof variable / sizeof *variable; i++) {
		const char *p = getenv(variable[i]);
		while (p && *p) {
			size_t n = strcspn(p, ":;");
			char *path = xstrndup(p, n);
			add_file(out, n ? path : ".");
			free(path);
			p += n + (p[n] != '\0');
		}
	}
}

static void add_devices(struct lines *out)
{
	struct lines dev = { 0 };
	lines_folder("/dev/dri", "", &dev);
	lines_folder("/dev", "nvidia", &dev);
	for (size_t i = 0; i < dev.nline; i++)
		lines_take(out, xasprintf("device-file %s", dev.line[i]));
	if (dev.nline) {
		/* Drivers of the kernel's tree have the kernel's version. */
		struct utsname name;
		if (uname(&name) >= 0)
			lines_take(out,
			    xasprintf("kernel %s %s", name.release, name.version));
		add_text(out, "/proc/driver/nvidia/version");
	}
	lines_release(&dev);
	lines_folder("/sys/class/drm", "card", &dev);
	for (size_t i = 0; i < dev.nline; i++) {
		if (strchr(fs_basename(dev.line[i]), '-'))
			continue; /* a connector */
		static const char *const field[] = {
			"vendor",
			"device",
			"subsystem_vendor",
			"subsystem_device",
			"revision",
			"driver/module/version",
		};
		for (size_t k = 0; k < sizeof field / sizeof *field; k++) {
			char *path = xasprintf("%s/device/%s", dev.line[i], field[k]);
			add_text(out, path);
			free(path);
		}
	}
	lines_release(&dev);
}

void stamp_text(char *const *mapped, size_t nmapped, const char *device, struct buf *out)
{
	struct lines line = { 0 };
	for (size_t i = 0; i < nmapped; i++)
		add_file(&line, mapped[i]);
	add_vendors(&line);
	add_options(&line);
	add_loader(&line);
	add_devices(&line);
	/* Model and features in one short file, where x86 and arm have it. */
	if (fs_exists("/sys/devices/system/cpu/modalias"))
		add_text(&line, "/sys/devices/system/cpu/modalias");
	else
		identity_cpu(&line);
	identity_environment(&line);
	const char *chosen = device ? device : getenv("STBUILD_DEVICE");
	lines_take(&line, xasprintf("device %s", chosen && *chosen ? chosen : "best"));
	lines_sort(&line);
	for (size_t i = 0; i < line.nline; i++) {
		buf_addstr(out, line.line[i]);
		buf_addch(out, '\n');
	}
	lines_release(&line);
}

void stamp_of(char *const *mapped, size_t nmapped, const char *device, struct sha256 *out)
{
	struct buf text = BUF_INIT;
	stamp_text(mapped, nmapped, device, &text);
	sha256_of(buf_str(&text), text.len, out);
	buf_release(&text);
}
