#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/db.h"
#include "store/gc.h"
#include "util/buf.h"
#include "util/log.h"
#include "util/mem.h"
#include "test.h"

static struct err err;

static int works(int rc)
{
	if (rc < 0)
		fprintf(stderr, "\t%s\n", err.message);
	err_release(&err);
	return rc >= 0;
}

static int fails(int rc, const char *words)
{
	int holds = rc < 0 && err.message && err.status == STATUS_MACHINE &&
	    strstr(err.message, words);
	if (!holds)
		fprintf(stderr, "\tret %d: %s\n", rc,
		    err.message ? err.message : "(no message)");
	err_release(&err);
	return holds;
}

static struct store *open_store(const char *dir, enum store_mode mode)
{
	struct store *s = NULL;
	if (!CHECK(works(store_open(dir, mode, "stbuild test", &s, &err))))
		exit(test_done());
	return s;
}

static struct sha256 h(int i)
{
	struct sha256 sha;
	sha256_of(&i, sizeof i, &sha);
	return sha;
}

static int64_t number(struct store *s, const char *text)
{
	int64_t n = -1;
	CHECK(works(sql_number(s, text, &n, &err)));
	return n;
}

static void change(struct store *s, const char *text)
{
	CHECK(works(sql_exec(s, text, &err)));
}

#define SIZE 1000

/* The object of key i: SIZE bytes that depend on i. */
static struct sha256 object(struct store *s, int i)
{
	struct sha256 sha;
	char data[SIZE] = "";
	snprintf(data, sizeof data, "object %d", i);
	CHECK(works(object_write(store_dir(s), data, SIZE, &sha, &err)));
	return sha;
}

/* Its name alone. */
static struct sha256 name_of(int i)
{
	struct sha256 sha;
	char data[SIZE] = "";
	snprintf(data, sizeof data, "object %d", i);
	sha256_of(data, SIZE, &sha);
	return sha;
}

/* Keys 0 to n - 1, used at 1000 + i seconds, key 0 also under two others. */
static struct store *fill(const char *dir, int n)
{
	struct store *s = open_store(dir, STORE_BUILD);
	for (int i = 0; i < n; i++) {
		struct product p = { .key = h(i), .size = SIZE, .object = object(s, i) };
		CHECK(works(store_add_product(s, &p, &err)));
		if (i)
			continue;
		p.index = 1;
		CHECK(works(store_add_product(s, &p, &err)));
	}
	change(s, "UPDATE object SET used = 999 + id");
	store_close(s);
	return open_store(dir, STORE_EXCLUSIVE);
}

/* Which of the first 10 keys have their product: a digit each. */
static const char *stored(struct store *s)
{
	static char text[11];
	int n = 0;
	for (int i = 0; i < 10; i++) {
		struct product p;
		struct sha256 key = h(i);
		if (store_product(s, &key, 0, &p))
			text[n++] = (char)('0' + i);
	}
	text[n] = '\0';
	return text;
}

static int keep(void *data, const struct sha256 *sha)
{
	return sha256_equal(data, sha);
}

static void by_size(void)
{
	struct store *s = fill("size", 6);
	struct gc_options o = { .max_bytes = 10 * SIZE };
	struct gc_result r;
	CHECK(works(gc_run(s, &o, &r, &err)));
	CHECK_INT(r.nremoved, 0);
	CHECK_INT(r.nkept, 6);
	CHECK_INT(r.kept_bytes, 6 * SIZE);
	CHECK_INT(r.is_complete, 1);

	/* One byte too many costs the oldest one. */
	o.max_bytes = 6 * SIZE - 1;
	o.dry_run = 1;
	CHECK(works(gc_run(s, &o, &r, &err)));
	CHECK_INT(r.nremoved, 1);
	CHECK_STR(stored(s), "012345");
	o.dry_run = 0;
	CHECK(works(gc_run(s, &o, &r, &err)));
	CHECK_INT(r.nremoved, 1);
	CHECK_INT(r.removed_bytes, SIZE);
	CHECK_INT(r.nkept, 5);
	CHECK_INT(r.kept_bytes, 5 * SIZE);
	CHECK_STR(stored(s), "12345");
	/* With it went every row that led to it. */
	CHECK_INT(number(s, "SELECT count(*) FROM product"), 5);
	struct sha256 sha = name_of(0);
	CHECK_INT(object_has(s, &sha, SIZE), 0);

	/* What is kept stays though older. */
	sha = name_of(1);
	o = (struct gc_options){ .max_bytes = 2 * SIZE, .is_kept = keep, .data = &sha };
	CHECK(works(gc_run(s, &o, &r, &err)));
	CHECK_STR(stored(s), "15");
	CHECK_INT(r.nremoved, 3);
	CHECK_INT(r.nkept, 2);
	/* And when nothing else is left, the limit gives way. */
	o.max_bytes = 1;
	CHECK(works(gc_run(s, &o, &r, &err)));
	CHECK_STR(stored(s), "1");
	CHECK_INT(r.is_complete, 1);
	store_close(s);
}

static void by_age(void)
{
	struct store *s = fill("age", 6);
	struct gc_options o = { .max_age_s = 5 * STORE_DAY };
	struct gc_result r;
	char *text = xasprintf("UPDATE object SET used = %lld"
			       " - (id - 1) * 2 * 86400",
	    (long long)store_now());
	change(s, text);
	free(text);
	CHECK(works(gc_run(s, &o, &r, &err)));
	CHECK_INT(r.nremoved, 3);
	CHECK_STR(stored(s), "012");
	/* Without any limit nothing goes. */
	o = (struct gc_options){ 0 };
	CHECK(works(gc_run(s, &o, &r, &err)));
	CHECK_INT(r.nremoved, 0);
	CHECK_STR(stored(s), "012");
	store_close(s);
}

static void by_use(void)
{
	/* Looking something up makes it young. */
	store_close(fill("use", 4));
	struct store *s = open_store("use", STORE_BUILD);
	struct product p;
	struct sha256 key = h(0);
	CHECK_INT(store_product(s, &key, 0, &p), 1);
	key = h(2);
	CHECK(works(store_touch(s, &key, &err)));
	store_close(s);
	s = open_store("use", STORE_TRY_EXCLUSIVE);
	struct gc_options o = { .max_bytes = 2 * SIZE };
	struct gc_result r;
	CHECK(works(gc_run(s, &o, &r, &err)));
	CHECK_STR(stored(s), "02");
	store_close(s);
}

/* More than a batch; time that is up at once stops it, the rest follows. */
static void many_and_late(void)
{
	int n = 600;
	struct store *s = fill("late", n);
	struct gc_options o = { .max_bytes = 1, .time_limit_s = 1e-9 };
	struct gc_result r;
	CHECK(works(gc_run(s, &o, &r, &err)));
	CHECK_INT(r.is_complete, 0);
	CHECK_INT(r.nremoved, 0);
	CHECK_INT(r.nkept, n);
	o.time_limit_s = 60;
	o.max_bytes = 10 * SIZE;
	CHECK(works(gc_run(s, &o, &r, &err)));
	CHECK_INT(r.is_complete, 1);
	CHECK_INT(r.nremoved, n - 10);
	CHECK_INT(number(s, "SELECT min(id) FROM object"), n - 9);
	store_close(s);
}

static void leftovers(void)
{
	struct store *s = fill("left", 2);
	const char *name[] = { "left/tmp/123-4", "left/tmp/upgrade-v1", "left/tmp/notes",
		"left/tmp/12-x", "left/objects/00/notes" };
	CHECK(works(fs_mkdirs("left/objects/00", &err)));
	for (int i = 0; i < 5; i++)
		CHECK(works(fs_write(name[i], "x", 1, 0, &err)));
	struct sha256 orphan = object(s, 50), kept = object(s, 51);
	struct gc_options o = { .is_kept = keep, .data = &kept, .dry_run = 1 };
	struct gc_result r;
	CHECK(works(gc_run(s, &o, &r, &err)));
	CHECK_INT(r.nremoved, 1);
	CHECK_INT(object_has(s, &orphan, SIZE), 1);
	CHECK(fs_exists(name[0]));
	o.dry_run = 0;
	CHECK(works(gc_run(s, &o, &r, &err)));
	CHECK_INT(r.nremoved, 1);
	CHECK_INT(r.removed_bytes, SIZE);
	CHECK_INT(object_has(s, &orphan, SIZE), 0);
	CHECK_INT(object_has(s, &kept, SIZE), 1);
	CHECK_STR(stored(s), "01");
	/* Ours go, others' stay. */
	for (int i = 0; i < 5; i++)
		CHECK_INT(fs_exists(name[i]), i >= 2);
	/* With a time limit, once a day. */
	object(s, 50);
	o.time_limit_s = 60;
	CHECK(works(gc_run(s, &o, &r, &err)));
	CHECK_INT(object_has(s, &orphan, SIZE), 1);
	change(s, "UPDATE counter SET value = value - 86401");
	CHECK(works(gc_run(s, &o, &r, &err)));
	CHECK_INT(object_has(s, &orphan, SIZE), 0);
	store_close(s);
}

static void old_rows(void)
{
	struct store *s = fill("rows", 2);
	struct sha256 a = h(0), b = h(70), c = h(71), d = h(72), out;
	struct node_row node = { .pass = "image" };
	struct program_row program = { .program_id = b, .driver = c };
	struct history_row history = { .trace = "t", .variant = b, .content_id = b };
	unsigned char oid[20] = "x";
	const struct fs_stamp stamp = { 1, 2, 3, 4, 5 };
	const struct tree_cache *cache = store_stat_cache(s);
	node.key = a;
	CHECK(works(store_add_node(s, &node, &err)));
	node.key = b;
	CHECK(works(store_add_node(s, &node, &err)));
	CHECK(works(store_add_alias(s, &c, &a, &err)));
	CHECK(works(store_add_alias(s, &d, &b, &err)));
	CHECK(works(store_add_cost(s, &b, 1, 1, &err)));
	CHECK(works(store_add_program(s, &program, &err)));
	CHECK(works(store_add_blob(s, oid, &b, &err)));
	CHECK(works(store_add_memo(s, "m", &b, "x", 1, &err)));
	CHECK(works(store_add_history(s, &history, &err)));
	cache->put(cache->data, &stamp, &b);
	CHECK(works(store_begin(s, &err)));
	CHECK(works(store_commit(s, &err)));

	static const char all[] =
	    "SELECT (SELECT count(*) FROM node)"
	    " + (SELECT count(*) FROM alias)"
	    " + (SELECT count(*) FROM cost) + (SELECT count(*) FROM program)"
	    " + (SELECT count(*) FROM blob) + (SELECT count(*) FROM memo)"
	    " + (SELECT count(*) FROM stat)";
	struct gc_options o = { 0 };
	struct gc_result r;
	CHECK_INT(number(s, all), 9);
	CHECK(works(gc_run(s, &o, &r, &err)));
	CHECK_INT(number(s, all), 9);
	const char *table[] = { "node", "alias", "cost", "program", "blob", "memo" };
	for (int i = 0; i < 6; i++) {
		char *text = xasprintf("UPDATE %s SET used = 1", table[i]);
		change(s, text);
		free(text);
	}
	change(s, "UPDATE stat SET hashed_ns = 1");
	CHECK(works(gc_run(s, &o, &r, &err)));
	/* What leads to something stored stays, and history. */
	CHECK_INT(number(s, all), 2);
	CHECK_INT(store_node(s, &a, &node), 1);
	CHECK_INT(store_alias(s, &c, &out), 1);
	CHECK_INT(number(s, "SELECT count(*) FROM history"), 1);
	CHECK_STR(stored(s), "01");
	store_close(s);
}

/* Overwrites one byte of an object. */
static void tear(struct store *s, int i)
{
	struct sha256 sha = name_of(i);
	char *path = object_path(s, &sha);
	CHECK_INT(chmod(path, 0644), 0);
	int fd = open(path, O_WRONLY);
	CHECK_INT(pwrite(fd, "X", 1, 500), 1);
	close(fd);
	free(path);
}

static void check(void)
{
	struct store *s = fill("check", 8);
	struct fsck_result r;
	CHECK(works(fsck_run(s, 0, &r, &err)));
	CHECK_INT(r.nobject, 8);
	CHECK_INT(r.ntorn + r.nmissing + r.norphan + r.nbad_row, 0);
	/* 0 torn, 1 cut off, 2 gone, 3 of a wrong size on record. */
	struct sha256 sha = name_of(1);
	char *path = object_path(s, &sha);
	tear(s, 0);
	CHECK_INT(truncate(path, 3), 0);
	free(path);
	sha = name_of(2);
	path = object_path(s, &sha);
	CHECK_INT(unlink(path), 0);
	free(path);
	change(s, "UPDATE object SET size = 5 WHERE id = 4");
	object(s, 60);
	change(s,
	    "PRAGMA foreign_keys = OFF; INSERT INTO product"
	    " VALUES (zeroblob(32), 0, 12345, 0); PRAGMA foreign_keys = ON");
	struct bundle_row bundle = { .path = "p" };
	CHECK(works(store_add_bundle(s, &bundle, &err)));
	change(s, "UPDATE bundle SET file = x'0102'");
	store_close(s);

	/* Looking needs no lock and changes nothing. */
	for (int i = 0; i < 2; i++) {
		s = open_store("check", STORE_READ);
		CHECK(works(fsck_run(s, 0, &r, &err)));
		CHECK_INT(r.nobject, 8);
		CHECK_INT(r.ntorn, 2);
		CHECK_INT(r.nmissing, 1);
		CHECK_INT(r.norphan, 1);
		CHECK_INT(r.nbad_row, 3);
		store_close(s);
	}
	s = open_store("check", STORE_EXCLUSIVE);
	CHECK(works(fsck_run(s, 1, &r, &err)));
	CHECK_INT(r.ntorn, 2);
	CHECK_INT(r.nmissing, 1);
	CHECK_INT(r.norphan, 1);
	CHECK_INT(r.nbad_row, 3);
	CHECK(works(fsck_run(s, 0, &r, &err)));
	CHECK_INT(r.ntorn + r.nmissing + r.nbad_row, 0);
	/* The one that had a wrong row lost it, and is an orphan now. */
	CHECK_INT(r.norphan, 1);
	CHECK_INT(r.nobject, 5);
	CHECK_STR(stored(s), "4567");
	CHECK_INT(number(s, "SELECT count(*) FROM bundle"), 0);
	store_close(s);
}

static void absent(void)
{
	struct fsck_result r;
	struct gc_result g;
	struct gc_options o = { .max_bytes = 1 };
	struct store *s = open_store("absent", STORE_EXCLUSIVE);
	CHECK(works(fsck_run(s, 1, &r, &err)));
	CHECK_INT(r.nobject + r.nbad_row, 0);
	CHECK(works(gc_run(s, &o, &g, &err)));
	CHECK_INT(g.nkept, 0);
	CHECK_INT(g.is_complete, 1);
	store_close(s);
	CHECK(!fs_exists("absent"));
}

static int count_history(void *data, const struct history_row *row)
{
	(void)row;
	++*(int *)data;
	return 0;
}

static void add_history(struct store *s, int n)
{
	CHECK(works(store_begin(s, &err)));
	for (int i = 0; i < n; i++) {
		struct history_row row = { .trace = "t",
			.frame = i,
			.variant = h(i),
			.content_id = h(i),
			.time = i };
		CHECK(works(store_add_history(s, &row, &err)));
	}
	CHECK(works(store_commit(s, &err)));
}

static void damaged_database(void)
{
	struct fsck_result r;
	struct gc_result g;
	struct gc_options o = { .max_bytes = 1 };
	struct stat st;
	struct store *s = fill("damaged", 3);
	int n = 0;
	add_history(s, 2000);
	struct bundle_file file = { .key = "trace", .path = "trace.json" };
	struct bundle_row bundle = { .path = "p",
		.trace = "t",
		.frame = 7,
		.content_id = h(5),
		.file = &file,
		.nfile = 1 };
	CHECK(works(store_add_bundle(s, &bundle, &err)));
	/* A page of the history's middle. */
	int64_t page = number(s,
	    "SELECT rootpage FROM sqlite_master"
	    " WHERE name = 'history'");
	store_close(s);
	CHECK_INT(stat("damaged/stbuild.db", &st), 0);
	char *junk = xcalloc(1, 4096);
	memset(junk, 'x', 4096);
	int fd = open("damaged/stbuild.db", O_RDWR);
	/* The last cell pointers of the root name pages of its leaves. */
	unsigned char root[4096];
	CHECK_INT(pread(fd, root, 4096, (page - 1) * 4096), 4096);
	int ncell = root[3] << 8 | root[4];
	CHECK_INT(root[0], 5); /* interior page of a table */
	CHECK(ncell > 4);
	const unsigned char *pointer = root + 12 + 2 * (ncell / 2);
	const unsigned char *cell = root + (pointer[0] << 8 | pointer[1]);
	int64_t leaf = (int64_t)cell[0] << 24 | cell[1] << 16 | cell[2] << 8 | cell[3];
	CHECK_INT(pwrite(fd, junk, 4096, (leaf - 1) * 4096), 4096);
	close(fd);
	free(junk);

	s = open_store("damaged", STORE_READ);
	CHECK(works(fsck_run(s, 0, &r, &err)));
	CHECK(r.nbad_row > 0);
	CHECK_INT(r.nobject, 3);
	CHECK(fails(store_each_history(s, "t", -1, count_history, &n, &err),
	    "stbuild fsck --repair"));
	store_close(s);
	s = open_store("damaged", STORE_EXCLUSIVE);
	CHECK(works(fsck_run(s, 1, &r, &err)));
	CHECK(r.nbad_row > 0);
	/* Both sides of the gap are there. */
	n = 0;
	CHECK(works(store_each_history(s, "t", -1, count_history, &n, &err)));
	CHECK(n > 1900 && n < 2000);
	n = 0;
	CHECK(works(store_each_history(s, "t", 0, count_history, &n, &err)));
	CHECK(works(store_each_history(s, "t", 1999, count_history, &n, &err)));
	CHECK_INT(n, 2);
	struct bundle_row got;
	if (CHECK_INT(store_bundle(s, "p", &got), 1)) {
		CHECK_INT(got.frame, 7);
		CHECK_STR(got.trace, "t");
		CHECK(sha256_equal(&got.content_id, &bundle.content_id));
		CHECK_INT(got.nfile, 1);
		bundle_row_release(&got);
	}
	CHECK(works(fsck_run(s, 0, &r, &err)));
	CHECK_INT(r.nbad_row + r.nobject, 0);
	CHECK(fs_exists("damaged/stbuild.db.damaged"));
	store_close(s);
	store_close(fill("damaged", 3));

	/* No database at all: an exclusive store opens, to be mended. */
	CHECK(works(fs_write("damaged/stbuild.db",
	    "not a database, but longer"
	    " than the header of one, which has a hundred bytes at the front"
	    " and then some",
	    104, 0, &err)));
	CHECK(fails(store_open("damaged", STORE_BUILD, "x", &s, &err),
	    "stbuild fsck --repair"));
	s = open_store("damaged", STORE_EXCLUSIVE);
	CHECK_STR(stored(s), "");
	CHECK(fails(gc_run(s, &o, &g, &err), "is damaged"));
	CHECK(works(fsck_run(s, 0, &r, &err)));
	CHECK_INT(r.nbad_row, 1);
	CHECK_INT(r.nobject, 3);
	CHECK(works(fsck_run(s, 1, &r, &err)));
	CHECK_INT(r.norphan, 3);
	CHECK(works(fsck_run(s, 0, &r, &err)));
	CHECK_INT(r.nbad_row + r.nobject, 0);
	store_close(s);
	s = fill("damaged", 2);
	CHECK_STR(stored(s), "01");
	store_close(s);
}

/*
 * The folder cannot be changed: errors that name the file. Rows go first, so
 * that files are left over and never missing.
 */
static void unwritable(void)
{
	store_close(fill("locked", 3));
	struct sha256 sha = name_of(0);
	char hex[SHA256_HEX + 1];
	char *dir = xasprintf("locked/objects/%.2s", sha256_hex(&sha, hex));
	CHECK_INT(chmod(".", 0755), 0);
	const char *open_for_all[] = { "locked", "locked/tmp", "locked/lock",
		"locked/stbuild.db" };
	for (int i = 0; i < 4; i++)
		CHECK_INT(chmod(open_for_all[i], 0777), 0);
	CHECK_INT(chmod(dir, 0555), 0);
	free(dir);
	pid_t pid = fork();
	if (!pid) {
		struct gc_options o = { .max_bytes = 1 };
		struct gc_result r;
		if (!getuid() && (setgid(65534) < 0 || setuid(65534) < 0))
			_exit(99);
		struct store *s = open_store("locked", STORE_EXCLUSIVE);
		CHECK(fails(gc_run(s, &o, &r, &err), "cannot remove 'locked/"));
		CHECK_STR(stored(s), "");
		struct fsck_result f;
		CHECK(works(fsck_run(s, 0, &f, &err)));
		CHECK_INT(f.nmissing, 0);
		store_close(s);
		_exit(test_done());
	}
	int status;
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
}

static void see_object(void *data, const struct sha256 *sha)
{
	struct buf *b = data;
	buf_add(b, sha->byte, SHA256_SIZE);
}

/* Contents name the objects of their keys, until those are dropped. */
static void contents(void)
{
	struct store *s = fill("contents", 3);
	struct sha256 content = h(50), key = h(0), none = h(77);
	struct buf b = BUF_INIT;
	for (int i = 0; i < 2; i++)
		CHECK(works(store_add_content(s, &content, &key, &err)));
	CHECK(works(store_add_content(s, &content, &none, &err)));
	key = h(2);
	CHECK(works(store_add_content(s, &content, &key, &err)));
	CHECK(works(store_each_content_object(s, &content, see_object, &b, &err)));
	struct sha256 want[2] = { name_of(0), name_of(2) };
	CHECK_INT(b.len, sizeof want);
	CHECK(b.len == sizeof want && memcmp(b.data, want, sizeof want) == 0);
	buf_reset(&b);
	CHECK(works(store_each_content_object(s, &none, see_object, &b, &err)));
	CHECK_INT(b.len, 0);

	struct gc_options o = { .max_bytes = 1,
		.is_kept = keep,
		.data = &want[1],
		.dry_run = 1 };
	struct gc_result r;
	uint64_t size;
	store_close(s);
	/* A dry run needs no lock. */
	s = open_store("contents", STORE_READ);
	CHECK(works(gc_run(s, &o, &r, &err)));
	CHECK_INT(r.nremoved, 2);
	CHECK(works(gc_size(s, &size, &err)));
	CHECK_INT(size, 3 * SIZE);
	store_close(s);
	s = open_store("contents", STORE_EXCLUSIVE);
	o.dry_run = 0;
	CHECK(works(gc_run(s, &o, &r, &err)));
	CHECK_INT(r.nremoved, 2);
	CHECK(works(store_each_content_object(s, &content, see_object, &b, &err)));
	CHECK_INT(b.len, SHA256_SIZE);
	CHECK(b.len == SHA256_SIZE && memcmp(b.data, &want[1], SHA256_SIZE) == 0);
	CHECK(works(gc_size(s, &size, &err)));
	CHECK_INT(size, SIZE);
	buf_release(&b);
	store_close(s);
}

int main(void)
{
	char dir[] = "/tmp/stbuild-test-XXXXXX";
	if (!mkdtemp(dir) || chdir(dir) < 0)
		return 1;
	by_size();
	by_age();
	by_use();
	many_and_late();
	leftovers();
	old_rows();
	check();
	absent();
	contents();
	damaged_database();
	unwritable();
	CHECK_INT(chdir("/"), 0);
	CHECK(works(fs_remove(dir, &err)));
	return test_done();
}
