#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/buf.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/sha256.h"
#include "test.h"

static struct err err;

/* Holds when rc says success; shows the error otherwise. */
static int works(int rc)
{
	if (rc < 0)
		fprintf(stderr, "\t%s\n", err.message);
	err_release(&err);
	return !rc;
}

static int fails(int rc, enum status status)
{
	int holds = rc < 0 && err.message && err.status == status;
	if (rc < 0 && !holds)
		fprintf(stderr, "\tstatus %d: %s\n", err.status, err.message);
	err_release(&err);
	return holds;
}

static void put(const char *path, const char *text)
{
	CHECK(works(fs_write(path, text, strlen(text), 0, &err)));
}

static void check_holds(const char *path, const char *want)
{
	struct buf b = BUF_INIT;
	if (CHECK(works(fs_read(path, 1000, &b, &err))))
		CHECK_STR(buf_str(&b), want);
	buf_release(&b);
}

static void check_owned(char *got, const char *want)
{
	CHECK_STR(got, want);
	free(got);
}

static void names(void)
{
	check_owned(fs_join("a", "b"), "a/b");
	check_owned(fs_join("a/", "b"), "a/b");
	check_owned(fs_join("/", "b"), "/b");
	check_owned(fs_join("", "b"), "b");
	check_owned(fs_join(".", "b"), "b");
	check_owned(fs_join("a", "/b"), "/b");
	check_owned(fs_dirname("a/b"), "a");
	check_owned(fs_dirname("a//b"), "a");
	check_owned(fs_dirname("a/b/"), "a");
	check_owned(fs_dirname("/a"), "/");
	check_owned(fs_dirname("//"), "/");
	check_owned(fs_dirname("a"), ".");
	check_owned(fs_dirname(""), ".");
	CHECK_STR(fs_basename("a/b"), "b");
	CHECK_STR(fs_basename("b"), "b");
	CHECK_STR(fs_basename("a/"), "");
}

static void reads(void)
{
	struct buf b = BUF_INIT;
	put("file", "0123456789");
	buf_addstr(&b, "<");
	CHECK(works(fs_read("file", 10, &b, &err)));
	CHECK_STR(buf_str(&b), "<0123456789");
	CHECK_INT(fs_read("file", 9, &b, &err), -1);
	CHECK_STR(err.message, "'file' has more than 9 bytes, the limit");
	CHECK(fails(-1, STATUS_INPUT));
	CHECK(fails(fs_read("file", 0, &b, &err), STATUS_INPUT));
	CHECK_STR(buf_str(&b), "<0123456789");
	CHECK_INT(fs_read("absent", 9, &b, &err), -1);
	CHECK_STR(err.message, "cannot read 'absent': No such file or directory");
	CHECK_STR(err.file, "absent");
	CHECK(fails(-1, STATUS_INPUT));
	CHECK(fails(fs_read("file/x", 9, &b, &err), STATUS_INPUT));
	CHECK(fails(fs_read(".", 9, &b, &err), STATUS_INPUT));
	CHECK_INT(mkfifo("fifo", 0600), 0);
	CHECK(fails(fs_read("fifo", 9, &b, &err), STATUS_INPUT));
	put("empty", "");
	CHECK(works(fs_read("empty", 0, &b, &err)));
	CHECK_STR(buf_str(&b), "<0123456789");
	buf_release(&b);

	/* More than a chunk, of odd size. */
	size_t n = 300001;
	char *big = xmalloc(n);
	for (size_t i = 0; i < n; i++)
		big[i] = (char)(i * 31 >> 3);
	CHECK(works(fs_write("big", big, n, 1, &err)));
	CHECK(works(fs_read("big", n, &b, &err)));
	CHECK(b.len == n && memcmp(b.data, big, n) == 0);
	CHECK(fails(fs_read("big", n - 1, &b, &err), STATUS_INPUT));
	buf_release(&b);
	struct sha256 want, got;
	uint64_t size = 0;
	sha256_of(big, n, &want);
	CHECK(works(fs_hash("big", &got, &size, &err)));
	CHECK(size == n && sha256_equal(&want, &got));
	CHECK(works(fs_hash("big", &got, NULL, &err)));
	CHECK(fails(fs_hash("absent", &got, &size, &err), STATUS_INPUT));
	CHECK(works(fs_copy("big", "copy", 1, &err)));
	CHECK(works(fs_hash("copy", &got, &size, &err)));
	CHECK(sha256_equal(&want, &got));
	free(big);
	CHECK(fails(fs_copy("absent", "copy2", 0, &err), STATUS_INPUT));
	CHECK(!fs_exists("copy2"));
	CHECK(fails(fs_copy("big", "no/copy", 0, &err), STATUS_MACHINE));
}

static void writes(void)
{
	struct fs_stamp before, after;
	put("w", "one");
	CHECK_INT(fs_stamp("w", &before), 0);
	CHECK(fs_stamp_equal(&before, &before));
	put("w", "two");
	check_holds("w", "two");
	CHECK_INT(fs_stamp("w", &after), 0);
	CHECK(before.ino != after.ino);
	CHECK(!fs_stamp_equal(&before, &after));
	CHECK_INT(after.size, 3);
	CHECK(after.mtime_ns > 1500000000LL * 1000000000LL);
	CHECK_INT(fs_stamp("absent", &after), -1);
	CHECK_INT(errno, ENOENT);
	CHECK(fails(fs_write("no/w", "x", 1, 0, &err), STATUS_MACHINE));
	/* A folder in the way: refused, and nothing is left behind. */
	CHECK(works(fs_mkdirs("d1", &err)));
	CHECK(fails(fs_write("d1", "x", 1, 0, &err), STATUS_MACHINE));
	CHECK(works(fs_sync_dir("d1", &err)));
	CHECK(fails(fs_sync_dir("absent", &err), STATUS_MACHINE));
	struct stat st;
	mode_t mask = umask(022);
	put("mode", "x");
	umask(mask);
	CHECK(!stat("mode", &st) && (st.st_mode & 0777) == 0644);
}

static void writes_in_pieces(void)
{
	struct fs_writer w;
	put("pieces", "old");
	CHECK(works(fs_begin("pieces", &w, &err)));
	CHECK(works(fs_add(&w, "new", 3, &err)));
	CHECK(works(fs_add(&w, "er", 2, &err)));
	check_holds("pieces", "old");
	CHECK(works(fs_end(&w, 1, &err)));
	check_holds("pieces", "newer");
	CHECK(works(fs_begin("pieces", &w, &err)));
	CHECK(works(fs_add(&w, "lost", 4, &err)));
	char *aside = xstrdup(w.aside);
	CHECK(fs_exists(aside));
	fs_abandon(&w);
	CHECK(!fs_exists(aside));
	free(aside);
	check_holds("pieces", "newer");
	CHECK(fails(fs_begin("no/pieces", &w, &err), STATUS_MACHINE));
	CHECK(works(fs_mkdirs("d2", &err)));
	CHECK(works(fs_begin("d2", &w, &err)));
	CHECK(fails(fs_end(&w, 0, &err), STATUS_MACHINE));
}

static void folders(void)
{
	CHECK(works(fs_mkdirs("m/a/b/c", &err)));
	CHECK(works(fs_mkdirs("m/a//b/c/", &err)));
	CHECK(works(fs_mkdirs(".", &err)));
	CHECK(works(fs_mkdirs("/", &err)));
	CHECK(fs_is_dir("m/a/b/c"));
	put("m/file", "x");
	CHECK(fails(fs_mkdirs("m/file/x", &err), STATUS_MACHINE));
	CHECK(fails(fs_mkdirs("m/file", &err), STATUS_MACHINE));
	/* Links are removed, not what they lead to. */
	CHECK(works(fs_mkdirs("keep", &err)));
	put("keep/file", "kept");
	CHECK_INT(symlink("../keep", "m/link"), 0);
	CHECK_INT(symlink("nowhere", "m/a/dangling"), 0);
	CHECK(works(fs_remove("m", &err)));
	CHECK(!fs_exists("m"));
	check_holds("keep/file", "kept");
	CHECK(works(fs_remove("m", &err)));
	CHECK_INT(symlink("keep", "link"), 0);
	CHECK(works(fs_remove("link", &err)));
	check_holds("keep/file", "kept");
	CHECK(works(fs_remove("keep/file", &err)));
	CHECK(!fs_exists("keep/file") && fs_is_dir("keep"));
	CHECK(fails(fs_remove("file/x", &err), STATUS_MACHINE));
}

static void exchanges(void)
{
	CHECK(works(fs_mkdirs("x/new", &err)));
	put("x/new/f", "1");
	CHECK(works(fs_exchange("x/new", "x/at", &err)));
	check_holds("x/at/f", "1");
	CHECK(!fs_exists("x/new"));
	CHECK(works(fs_mkdirs("x/new", &err)));
	put("x/new/f", "2");
	CHECK(works(fs_exchange("x/new", "x/at", &err)));
	check_holds("x/at/f", "2");
	CHECK(!fs_exists("x/new"));
	put("x/new", "file");
	CHECK(works(fs_exchange("x/new", "x/at", &err)));
	check_holds("x/at", "file");
	CHECK(fails(fs_exchange("x/absent", "x/at", &err), STATUS_MACHINE));
	check_holds("x/at", "file");
	CHECK(fails(fs_exchange("x/absent", "x/none", &err), STATUS_MACHINE));
	/* Nothing is left aside. */
	CHECK(works(fs_remove("x/at", &err)));
	CHECK_INT(rmdir("x"), 0);
}

static void shares_memory(void)
{
	int fd = fs_shm(10000, &err);
	if (!CHECK(fd >= 0))
		return;
	CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	unsigned char *p = mmap(NULL, 10000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (CHECK(p != MAP_FAILED)) {
		CHECK_INT(p[9999], 0);
		p[9999] = 7;
		unsigned char byte = 0;
		CHECK_INT(pread(fd, &byte, 1, 9999), 1);
		CHECK_INT(byte, 7);
		munmap(p, 10000);
	}
	close(fd);
	fd = fs_shm(0, &err);
	CHECK(fd >= 0);
	close(fd);
	CHECK(fails(fs_shm(SIZE_MAX, &err), STATUS_MACHINE));
}

int main(void)
{
	char dir[] = "/tmp/stbuild-fs-XXXXXX";
	if (!CHECK(mkdtemp(dir)) || !CHECK(!chdir(dir)))
		return 1;
	names();
	reads();
	writes();
	writes_in_pieces();
	folders();
	exchanges();
	shares_memory();
	CHECK(!chdir("/"));
	CHECK(works(fs_remove(dir, &err)));
	return test_done();
}
