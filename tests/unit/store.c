#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "store/db.h"
#include "store/gc.h"
#include "util/buf.h"
#include "util/log.h"
#include "util/mem.h"
#include "test.h"

static struct err err;

/* Holds when rc says success; shows the error otherwise. */
static int works(int rc)
{
	if (rc < 0)
		fprintf(stderr, "\t%s\n", err.message);
	err_release(&err);
	return rc >= 0;
}

/* Holds for an error of the machine whose message has the words. */
static int fails(int rc, const char *words)
{
	int holds = rc < 0 && err.message && err.status == STATUS_MACHINE &&
	    strstr(err.message, words);
	if (!holds)
		fprintf(stderr, "\tret %d, status %d: %s\n", rc, err.status,
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

/* A hash for tests: of a number. */
static struct sha256 h(int i)
{
	struct sha256 sha;
	sha256_of(&i, sizeof i, &sha);
	return sha;
}

static int same(struct sha256 a, struct sha256 b)
{
	return sha256_equal(&a, &b);
}

/* Writes an object and its product. */
static struct product add_product(struct store *s, int key, int index, const char *text)
{
	struct product p = { .key = h(key), .index = index, .size = strlen(text) };
	CHECK(works(object_write(store_dir(s), text, strlen(text), &p.object, &err)));
	CHECK(works(store_add_product(s, &p, &err)));
	return p;
}

static int64_t number(struct store *s, const char *text)
{
	int64_t n = -1;
	CHECK(works(sql_number(s, text, &n, &err)));
	return n;
}

/* Runs SQL on the database file from outside. */
static void alter(const char *dir, const char *text)
{
	char *path = fs_join(dir, "stbuild.db"), *message = NULL;
	sqlite3 *db;
	CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
	if (!CHECK_INT(sqlite3_exec(db, text, NULL, NULL, &message), SQLITE_OK))
		fprintf(stderr, "\t%s\n", message);
	sqlite3_free(message);
	sqlite3_close(db);
	free(path);
}

static void copy_file(const char *path, int offset, const char *bytes)
{
	CHECK_INT(chmod(path, 0644), 0);
	int fd = open(path, O_WRONLY);
	CHECK(pwrite(fd, bytes, strlen(bytes), offset) == (ssize_t)strlen(bytes));
	close(fd);
}

/* The child's exit status, or -1. */
static int wait_for(pid_t pid)
{
	int status;
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* Lets a function run as somebody who may not write everywhere. */
static int as_nobody(int (*run)(void))
{
	pid_t pid = fork();
	if (!pid) {
		if (!getuid() && (setgid(65534) < 0 || setuid(65534) < 0))
			_exit(99);
		_exit(run());
	}
	return wait_for(pid);
}

static void empty_and_absent(void)
{
	struct product p;
	struct node_row node;
	struct sha256 key = h(1), sha;
	struct store_stats stats;
	char data[1];
	enum store_mode mode[] = { STORE_READ, STORE_EXCLUSIVE, STORE_TRY_EXCLUSIVE };
	for (int i = 0; i < 3; i++) {
		struct store *s = open_store("absent/store", mode[i]);
		CHECK_INT(store_product(s, &key, 0, &p), 0);
		CHECK_INT(store_node(s, &key, &node), 0);
		CHECK_INT(store_alias(s, &key, &sha), 0);
		CHECK_INT(store_cost(s, &key, 1), 0);
		CHECK_INT(object_read(s, &key, data, 1), 0);
		CHECK(works(store_stats(s, &stats, &err)));
		CHECK_INT(stats.nobject, 0);
		CHECK_INT(stats.db_bytes, 0);
		CHECK(works(store_each_bundle(s, NULL, NULL, &err)));
		CHECK(works(store_each_history(s, "a", -1, NULL, NULL, &err)));
		CHECK(works(store_touch(s, &key, &err)));
		CHECK(fails(store_add_alias(s, &key, &key, &err), "reading only"));
		CHECK(fails(store_begin(s, &err), "reading only"));
		store_rollback(s);
		store_close(s);
	}
	CHECK(!fs_exists("absent"));
	store_close(NULL);
}

static void creation(void)
{
	struct buf b = BUF_INIT;
	struct store *s = open_store("new/.stbuild", STORE_BUILD);
	CHECK_STR(store_dir(s), "new/.stbuild");
	CHECK(works(fs_read("new/.stbuild/.gitignore", 10, &b, &err)));
	CHECK_STR(buf_str(&b), "*\n");
	CHECK(fs_is_dir("new/.stbuild/objects"));
	CHECK(fs_is_dir("new/.stbuild/tmp"));
	CHECK_INT(number(s, "PRAGMA application_id"), STORE_APPLICATION_ID);
	CHECK_INT(number(s, "PRAGMA user_version"), schema_version);
	CHECK_INT(number(s, "PRAGMA foreign_keys"), 1);
	CHECK_INT(number(s, "PRAGMA synchronous"), 1);
	CHECK_INT(number(s, "PRAGMA auto_vacuum"), 2);
	CHECK_INT(number(s,
		      "SELECT count(*) FROM pragma_journal_mode"
		      " WHERE journal_mode = 'wal'"),
	    1);
	store_close(s);
	CHECK(!fs_exists("new/.stbuild/stbuild.db-wal"));
	s = open_store("new/.stbuild", STORE_BUILD);
	store_close(s);
	/* Opening what is current writes nothing. */
	struct fs_stamp before, after;
	CHECK_INT(fs_stamp("new/.stbuild/stbuild.db", &before), 0);
	s = open_store("new/.stbuild", STORE_BUILD);
	store_close(s);
	CHECK_INT(fs_stamp("new/.stbuild/stbuild.db", &after), 0);
	CHECK(fs_stamp_equal(&before, &after));
	buf_release(&b);
}

static void statements(void)
{
	static const struct {
		const char *name, *text;
		int is_scan; /* it reads a whole table */
	} sql[] = {
#define SQL(name, text) { #name, text, 0 },
#define SQL_SCAN(name, text) { #name, text, 1 },
#include "store/sql.def"
#undef SQL
#undef SQL_SCAN
	};
	struct store *s = open_store("new/.stbuild", STORE_BUILD);
	for (int i = 0; i < SQL_COUNT; i++) {
		sqlite3_stmt *stmt = NULL;
		if (!CHECK_INT(sqlite3_prepare_v2(s->db, sql[i].text, -1, &stmt, NULL),
			SQLITE_OK))
			fprintf(stderr, "\t%s: %s\n", sql[i].name, sqlite3_errmsg(s->db));
		sqlite3_finalize(stmt);
		if (sql[i].is_scan)
			continue;
		char *plan = xasprintf("EXPLAIN QUERY PLAN %s", sql[i].text);
		CHECK_INT(sqlite3_prepare_v2(s->db, plan, -1, &stmt, NULL), SQLITE_OK);
		while (sqlite3_step(stmt) == SQLITE_ROW) {
			const char *detail = (const char *)sqlite3_column_text(stmt, 3);
			if (!CHECK(!strstr(detail, "SCAN") ||
				strcmp(detail, "SCAN CONSTANT ROW") == 0))
				fprintf(stderr, "\t%s: %s\n", sql[i].name, detail);
		}
		sqlite3_finalize(stmt);
		free(plan);
	}
	/* The check can fail. */
	sqlite3_stmt *stmt = NULL;
	CHECK_INT(sqlite3_prepare_v2(s->db,
		      "EXPLAIN QUERY PLAN"
		      " SELECT * FROM object WHERE size = 1",
		      -1, &stmt, NULL),
	    SQLITE_OK);
	CHECK_INT(sqlite3_step(stmt), SQLITE_ROW);
	CHECK(strstr((const char *)sqlite3_column_text(stmt, 3), "SCAN"));
	sqlite3_finalize(stmt);
	store_close(s);
}

static void objects(void)
{
	struct store *s = open_store("objects", STORE_BUILD);
	struct sha256 sha, again;
	char data[8];
	CHECK_INT(object_write("objects", "abc", 3, &sha, &err), 0);
	/* It stands there, and nobody has looked into it. */
	CHECK_INT(object_write("objects", "abc", 3, &again, &err), 1);
	CHECK(same(sha, again));
	char *path = object_path(s, &sha);
	CHECK_STR(path,
	    "objects/objects/ba/7816bf8f01cfea414140de5dae2223b00361a3"
	    "96177a9cb410ff61f20015ad");
	CHECK_INT(object_has(s, &sha, 3), 1);
	CHECK_INT(object_has(s, &sha, 4), 0);
	CHECK_INT(object_read(s, &sha, data, 3), 1);
	CHECK(memcmp(data, "abc", 3) == 0);
	/* A wrong size is a miss and no reason to remove it. */
	CHECK_INT(object_read(s, &sha, data, 2), 0);
	CHECK_INT(object_read(s, &sha, data, 4), 0);
	CHECK_INT(object_has(s, &sha, 3), 1);
	/* Torn: same size, other bytes. */
	copy_file(path, 1, "x");
	CHECK_INT(object_read(s, &sha, data, 3), 0);
	CHECK(!fs_exists(path));
	CHECK_INT(object_read(s, &sha, data, 3), 0);
	/* Torn: cut off. It is written anew even without a read. */
	CHECK(works(object_write("objects", "abc", 3, &sha, &err)));
	CHECK_INT(truncate(path, 2), 0);
	CHECK_INT(object_has(s, &sha, 3), 0);
	CHECK(works(object_write("objects", "abc", 3, &sha, &err)));
	CHECK_INT(object_read(s, &sha, data, 3), 1);
	CHECK_INT(truncate(path, 0), 0);
	CHECK_INT(object_read(s, &sha, data, 3), 0);
	CHECK(!fs_exists(path));
	/* Links lead outside the store. */
	CHECK_INT(symlink("/etc/passwd", path), 0);
	CHECK_INT(object_has(s, &sha, 3), 0);
	CHECK_INT(object_read(s, &sha, data, 3), 0);
	CHECK(works(object_write("objects", "abc", 3, &sha, &err)));
	CHECK_INT(object_read(s, &sha, data, 3), 1);
	/* Empty. */
	CHECK(works(object_write("objects", "", 0, &sha, &err)));
	CHECK_INT(object_has(s, &sha, 0), 1);
	CHECK_INT(object_read(s, &sha, data, 0), 1);
	free(path);
	/* Folders that somebody removed come back. */
	CHECK(works(fs_remove("objects/objects", &err)));
	CHECK(works(fs_remove("objects/tmp", &err)));
	CHECK(works(object_write("objects", "abc", 3, &sha, &err)));
	CHECK_INT(object_read(s, &sha, data, 3), 1);
	CHECK(fails(object_write("nowhere", "abc", 3, &sha, &err),
	    "cannot write 'nowhere/"));
	store_close(s);
}

static void *write_many(void *data)
{
	struct err e = ERR_INIT;
	intptr_t failed = 0;
	struct sha256 sha;
	for (int i = 0; i < 200; i++)
		if (object_write(data, &i, sizeof i, &sha, &e) < 0)
			failed = 1;
	err_release(&e);
	return (void *)failed;
}

static void concurrent_writers(void)
{
	store_close(open_store("both", STORE_BUILD));
	pid_t pid[3];
	for (int i = 0; i < 3; i++) {
		pid[i] = fork();
		if (pid[i])
			continue;
		struct store *s = open_store("both", STORE_BUILD);
		pthread_t thread[2];
		void *failed[2];
		for (int t = 0; t < 2; t++)
			pthread_create(&thread[t], NULL, write_many, "both");
		for (int t = 0; t < 2; t++)
			pthread_join(thread[t], &failed[t]);
		CHECK(!failed[0] && !failed[1]);
		for (int k = 0; k < 100; k++) {
			struct product p = { .key = h(k),
				.size = sizeof k,
				.object = h(k) };
			CHECK(works(store_add_product(s, &p, &err)));
		}
		store_close(s);
		_exit(test_done());
	}
	for (int i = 0; i < 3; i++)
		CHECK_INT(wait_for(pid[i]), 0);
	struct store *s = open_store("both", STORE_READ);
	int nfound = 0;
	for (int i = 0; i < 200; i++) {
		struct sha256 sha = h(i);
		int back;
		nfound += object_read(s, &sha, &back, sizeof back) && back == i;
	}
	CHECK_INT(nfound, 200);
	CHECK_INT(number(s, "SELECT count(*) FROM product"), 100);
	CHECK_INT(number(s, "SELECT count(*) FROM object"), 100);
	store_close(s);
	/* Nothing is left in tmp. */
	CHECK_INT(rmdir("both/tmp"), 0);
}

static void products(void)
{
	struct store *s = open_store("rows", STORE_BUILD);
	struct product p, got;
	struct sha256 key = h(1);
	CHECK_INT(store_product(s, &key, 0, &got), 0);
	p = add_product(s, 1, 0, "one");
	add_product(s, 1, 3, "three");
	CHECK_INT(store_product(s, &key, 0, &got), 1);
	CHECK(same(got.key, key) && same(got.object, p.object));
	CHECK_INT(got.size, 3);
	CHECK_INT(got.index, 0);
	CHECK_INT(store_product(s, &key, 3, &got), 1);
	CHECK_INT(got.size, 5);
	CHECK_INT(got.index, 3);
	CHECK_INT(store_product(s, &key, 1, &got), 0);
	/* Again is fine; other content takes its place. */
	CHECK(works(store_add_product(s, &p, &err)));
	p = add_product(s, 1, 0, "other");
	CHECK_INT(store_product(s, &key, 0, &got), 1);
	CHECK(same(got.object, p.object));
	/* A dangling row is a miss until the object is back. */
	char *path = object_path(s, &p.object);
	CHECK_INT(unlink(path), 0);
	CHECK_INT(store_product(s, &key, 0, &got), 0);
	CHECK(works(object_write("rows", "other", 5, &p.object, &err)));
	CHECK_INT(store_product(s, &key, 0, &got), 1);
	/* A wrong size on record is put right. */
	CHECK(works(sql_exec(s, "UPDATE object SET size = 9", &err)));
	CHECK_INT(store_product(s, &key, 0, &got), 0);
	CHECK(works(store_add_product(s, &p, &err)));
	CHECK_INT(store_product(s, &key, 0, &got), 1);
	free(path);
	store_close(s);

	s = open_store("rows", STORE_READ);
	key = h(1);
	CHECK_INT(store_product(s, &key, 0, &got), 1);
	CHECK(fails(store_add_product(s, &p, &err), "reading only"));
	store_close(s);
}

static void nodes(void)
{
	struct store *s = open_store("rows", STORE_BUILD);
	struct node_row n = { .key = h(1),
		.pass = "buffer-a",
		.frame = 7,
		.shape = "8x8 r32f",
		.width = 16384,
		.height = 9,
		.gpu_ns = UINT64_MAX,
		.bytes = 123 },
			got;
	CHECK_INT(store_node(s, &n.key, &got), 0);
	CHECK(works(store_add_node(s, &n, &err)));
	CHECK(works(store_add_node(s, &n, &err)));
	/* Candidates: the same place, another key. */
	struct sha256 candidate[2];
	struct node_row place = n;
	CHECK_INT(store_candidates(s, &place, candidate, 2), 0);
	place.key = h(2);
	CHECK_INT(store_candidates(s, &place, candidate, 2), 1);
	CHECK(same(candidate[0], n.key));
	place.frame = 8;
	CHECK_INT(store_candidates(s, &place, candidate, 2), 0);
	place.frame = 7;
	place.shape = "8x8 rg32f";
	CHECK_INT(store_candidates(s, &place, candidate, 2), 0);
	if (CHECK_INT(store_node(s, &n.key, &got), 1)) {
		CHECK_STR(got.pass, "buffer-a");
		CHECK_INT(got.width, 16384);
		CHECK_INT(got.height, 9);
		CHECK(got.gpu_ns == UINT64_MAX);
		CHECK_INT(got.bytes, 123);
		CHECK(same(got.key, n.key));
	}
	struct sha256 a = h(10), b = h(11), c = h(12), out;
	CHECK_INT(store_alias(s, &a, &out), 0);
	CHECK(works(store_add_alias(s, &a, &b, &err)));
	CHECK_INT(store_alias(s, &a, &out), 1);
	CHECK(same(out, b));
	CHECK(works(store_add_alias(s, &a, &c, &err)));
	CHECK_INT(store_alias(s, &a, &out), 1);
	CHECK(same(out, c));

	/* Median of the last nine, by size. */
	CHECK_INT(store_cost(s, &a, 1280 * 720), 0);
	uint64_t time[] = { 5, 1, 9 };
	for (int i = 0; i < 3; i++)
		CHECK(works(store_add_cost(s, &a, 1280 * 720, time[i], &err)));
	CHECK_INT(store_cost(s, &a, 1280 * 720), 5);
	CHECK_INT(store_cost(s, &a, 1920 * 1080), 0);
	CHECK_INT(store_cost(s, &b, 1280 * 720), 0);
	for (int i = 0; i < 9; i++)
		CHECK(works(store_add_cost(s, &a, 1280 * 720, 100 + i, &err)));
	CHECK_INT(store_cost(s, &a, 1280 * 720), 104);
	CHECK(works(store_add_cost(s, &a, 0, 7, &err)));
	CHECK(works(store_add_cost(s, &a, UINT64_MAX, 8, &err)));
	CHECK_INT(store_cost(s, &a, 0), 7);
	CHECK_INT(store_cost(s, &a, 1), 0);
	CHECK_INT(store_cost(s, &a, UINT64_MAX), 8);
	store_close(s);
}

static void programs(void)
{
	struct store *s = open_store("rows", STORE_BUILD);
	struct program_row p = { .program_id = h(1),
		.driver = h(2),
		.ok = 1,
		.log = "0(3) : warning",
		.reflection = "a\0b",
		.nreflection = 3 },
			   got;
	CHECK_INT(store_program(s, &p.program_id, &p.driver, &got), 0);
	CHECK(works(store_add_program(s, &p, &err)));
	if (CHECK_INT(store_program(s, &p.program_id, &p.driver, &got), 1)) {
		CHECK_INT(got.ok, 1);
		CHECK_STR(got.log, p.log);
		CHECK_INT(got.nreflection, 3);
		CHECK(memcmp(got.reflection, "a\0b", 3) == 0);
		program_row_release(&got);
		CHECK(!got.log);
	}
	CHECK_INT(store_program(s, &p.driver, &p.driver, &got), 0);
	p.ok = 0;
	p.log = NULL;
	p.nreflection = 0;
	CHECK(works(store_add_program(s, &p, &err)));
	if (CHECK_INT(store_program(s, &p.program_id, &p.driver, &got), 1)) {
		CHECK_INT(got.ok, 0);
		CHECK_STR(got.log, "");
		CHECK(!got.reflection && !got.nreflection);
		program_row_release(&got);
	}
	program_row_release(NULL);

	struct driver_row d = { .identity = h(1),
		.identity_text = "id",
		.vendor = "v",
		.renderer = "r",
		.version = "4.5",
		.device = "dev",
		.glsl_version = "4.50",
		.gl_version = 45,
		.has_es3 = 1,
		.is_software = 1,
		.max_texture_size = 16384,
		.max_storage_bindings = 8,
		.max_storage_bytes = UINT64_C(1) << 40,
		.mapped = "/a\n/b",
		.stamp = h(9),
		.option = "" },
			  back;
	CHECK_INT(store_driver(s, "", &back), 0);
	CHECK(works(store_add_driver(s, &d, &err)));
	if (CHECK_INT(store_driver(s, "", &back), 1)) {
		CHECK(same(back.identity, d.identity) && same(back.stamp, d.stamp));
		CHECK_STR(back.identity_text, "id");
		CHECK_STR(back.vendor, "v");
		CHECK_STR(back.renderer, "r");
		CHECK_STR(back.version, "4.5");
		CHECK_STR(back.glsl_version, "4.50");
		CHECK_STR(back.device, "dev");
		CHECK_INT(back.gl_version, 45);
		CHECK_INT(back.has_es3, 1);
		CHECK_INT(back.is_software, 1);
		CHECK_INT(back.max_texture_size, 16384);
		CHECK_INT(back.max_storage_bindings, 8);
		CHECK(back.max_storage_bytes == UINT64_C(1) << 40);
		CHECK_STR(back.mapped, "/a\n/b");
		CHECK_STR(back.option, "");
		driver_row_release(&back);
	}
	/* The newest one of an option counts, also one that comes back. */
	d.identity = h(3);
	CHECK(works(store_add_driver(s, &d, &err)));
	CHECK_INT(store_driver(s, "", &back), 1);
	CHECK(same(back.identity, h(3)));
	driver_row_release(&back);
	d.identity = h(1);
	CHECK(works(store_add_driver(s, &d, &err)));
	CHECK_INT(store_driver(s, "", &back), 1);
	CHECK(same(back.identity, h(1)));
	driver_row_release(&back);
	CHECK_INT(store_driver(s, "software", &back), 0);
	driver_row_release(NULL);
	store_close(s);
}

static int64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void stats_cache(void)
{
	struct store *s = open_store("rows", STORE_BUILD);
	const struct tree_cache *c = store_stat_cache(s);
	int64_t old = now_ns() - INT64_C(5000000000), young = now_ns();
	struct fs_stamp a = { UINT64_MAX, 2, 3, old, old }, b = a;
	struct sha256 sha = h(1), got;
	CHECK_INT(c->get(c->data, &a, &got), -1);
	c->put(c->data, &a, &sha);
	CHECK_INT(c->get(c->data, &a, &got), 0);
	CHECK(same(got, sha));
	b.size++;
	CHECK_INT(c->get(c->data, &b, &got), -1);
	/* Either time young: hashed again. */
	struct fs_stamp m = { 1, 10, 3, young, old }, n = { 1, 11, 3, old, young };
	struct fs_stamp future = { 1, 12, 3, young * 2, old };
	c->put(c->data, &m, &sha);
	c->put(c->data, &n, &sha);
	c->put(c->data, &future, &sha);
	CHECK_INT(c->get(c->data, &m, &got), -1);
	CHECK_INT(c->get(c->data, &n, &got), -1);
	CHECK_INT(c->get(c->data, &future, &got), -1);
	CHECK_INT(number(s, "SELECT count(*) FROM stat"), 0);
	CHECK(works(store_begin(s, &err)));
	CHECK(works(store_commit(s, &err)));
	CHECK_INT(number(s, "SELECT count(*) FROM stat"), 4);
	struct fs_stamp late = { 1, 13, 3, old, old };
	c->put(c->data, &late, &sha);
	store_close(s);

	/* The next run knows them; time has passed for the young ones. */
	alter("rows", "UPDATE stat SET hashed_ns = hashed_ns - 3000000000");
	s = open_store("rows", STORE_BUILD);
	c = store_stat_cache(s);
	CHECK_INT(c->get(c->data, &a, &got), 0);
	CHECK(same(got, sha));
	CHECK_INT(c->get(c->data, &late, &got), 0);
	CHECK_INT(c->get(c->data, &m, &got), -1);
	c->put(c->data, &m, &sha);
	CHECK_INT(c->get(c->data, &m, &got), 0);
	c->put(c->data, &future, &sha);
	CHECK_INT(c->get(c->data, &future, &got), 0);
	/* Other bytes under the same stamp: distrust. */
	struct sha256 other = h(2);
	c->put(c->data, &n, &other);
	CHECK_INT(c->get(c->data, &n, &got), -1);
	/* A new stamp of the file takes the place of the old. */
	a.size = 77;
	c->put(c->data, &a, &other);
	store_close(s);
	s = open_store("rows", STORE_READ);
	c = store_stat_cache(s);
	CHECK_INT(c->get(c->data, &a, &got), 0);
	CHECK(same(got, other));
	CHECK_INT(number(s, "SELECT count(*) FROM stat"), 5);
	/* Reading remembers for its run only. */
	a.size = 78;
	c->put(c->data, &a, &sha);
	CHECK_INT(c->get(c->data, &a, &got), 0);
	store_close(s);
	s = open_store("rows", STORE_BUILD);
	c = store_stat_cache(s);
	CHECK_INT(c->get(c->data, &a, &got), -1);

	unsigned char oid[20] = "01234567890123456789";
	CHECK_INT(store_blob(s, oid, &got), 0);
	CHECK(works(store_add_blob(s, oid, &sha, &err)));
	CHECK_INT(store_blob(s, oid, &got), 1);
	CHECK(same(got, sha));
	oid[19] = 0;
	CHECK_INT(store_blob(s, oid, &got), 0);
	store_close(s);
}

static void memos(void)
{
	struct store *s = open_store("rows", STORE_BUILD);
	struct buf b = BUF_INIT;
	struct sha256 key = h(1), other = h(2);
	CHECK_INT(store_memo(s, "null", &key, &b), 0);
	CHECK(works(store_add_memo(s, "null", &key, "a\0b", 3, &err)));
	CHECK(works(store_add_memo(s, "why", &key, NULL, 0, &err)));
	buf_addstr(&b, "<");
	CHECK_INT(store_memo(s, "null", &key, &b), 1);
	CHECK_INT(b.len, 4);
	CHECK(memcmp(b.data, "<a\0b", 4) == 0);
	CHECK(works(store_add_memo(s, "null", &key, "c", 1, &err)));
	buf_reset(&b);
	CHECK_INT(store_memo(s, "null", &key, &b), 1);
	CHECK_STR(buf_str(&b), "c");
	buf_reset(&b);
	CHECK_INT(store_memo(s, "why", &key, &b), 1);
	CHECK_INT(b.len, 0);
	CHECK_INT(store_memo(s, "null", &other, &b), 0);
	buf_release(&b);
	store_close(s);
}

static struct bundle_row make_bundle(char *path, struct bundle_file *file, size_t nfile)
{
	return (struct bundle_row){ .path = path,
		.trace = "hero",
		.frame = 57,
		.variant = h(1),
		.stable_id = h(2),
		.content_id = h(3),
		.inputs_id = h(6),
		.commit = "0123456789012345678901234567890123456789",
		.dirty = 1,
		.file = file,
		.nfile = nfile };
}

struct seen {
	struct store *s;
	int n, stop_at, remove;
	char last[64];
	int is_sorted;
};

static int see_bundle(void *data, const struct bundle_row *row)
{
	struct seen *seen = data;
	struct bundle_row again;
	if (strcmp(seen->last, row->path) > 0)
		seen->is_sorted = 0;
	snprintf(seen->last, sizeof seen->last, "%s", row->path);
	/* Lookups and changes within the walk. */
	if (store_bundle(seen->s, row->path, &again))
		bundle_row_release(&again);
	else
		seen->is_sorted = 0;
	if (seen->remove)
		CHECK(works(store_remove_bundle(seen->s, row->path, &err)));
	return ++seen->n == seen->stop_at;
}

static void bundles(void)
{
	struct store *s = open_store("rows", STORE_BUILD);
	struct bundle_file file[2] = {
		{ .key = "trace",
		    .path = "trace.json",
		    .size = 10,
		    .sha = h(4),
		    .origin = h(6),
		    .stamp = { 1, 2, 10, -4, 5 } },
		{ .key = "pass:a:output:0:raw",
		    .path = "passes/a-output-0.rgba32f",
		    .size = UINT64_C(1) << 40,
		    .sha = h(5),
		    .origin = h(7),
		    .stamp = { UINT64_MAX, 7, 8, 9, INT64_MAX } },
	};
	struct bundle_row row = make_bundle("target/traces/hero@57.sttrace", file, 2),
			  got;
	CHECK_INT(store_bundle(s, row.path, &got), 0);
	CHECK(works(store_add_bundle(s, &row, &err)));
	if (CHECK_INT(store_bundle(s, row.path, &got), 1)) {
		CHECK_STR(got.path, row.path);
		CHECK_STR(got.trace, "hero");
		CHECK_INT(got.frame, 57);
		CHECK(same(got.variant, h(1)) && same(got.stable_id, h(2)) &&
		    same(got.content_id, h(3)) && same(got.inputs_id, h(6)));
		CHECK_STR(got.commit, row.commit);
		CHECK_INT(got.dirty, 1);
		CHECK_INT(got.nfile, 2);
		for (int i = 0; i < 2; i++) {
			CHECK_STR(got.file[i].key, file[i].key);
			CHECK_STR(got.file[i].path, file[i].path);
			CHECK(got.file[i].size == file[i].size);
			CHECK(same(got.file[i].sha, file[i].sha));
			CHECK(fs_stamp_equal(&got.file[i].stamp, &file[i].stamp));
		}
		bundle_row_release(&got);
	}
	row.commit[0] = '\0';
	row.nfile = 0;
	CHECK(works(store_add_bundle(s, &row, &err)));
	if (CHECK_INT(store_bundle(s, row.path, &got), 1)) {
		CHECK_STR(got.commit, "");
		CHECK_INT(got.nfile, 0);
		bundle_row_release(&got);
	}
	row.path = "a";
	CHECK(works(store_add_bundle(s, &row, &err)));
	row.path = "z";
	CHECK(works(store_add_bundle(s, &row, &err)));
	struct seen seen = { .s = s, .is_sorted = 1 };
	CHECK(works(store_each_bundle(s, see_bundle, &seen, &err)));
	CHECK_INT(seen.n, 3);
	CHECK_INT(seen.is_sorted, 1);
	seen = (struct seen){ .s = s, .is_sorted = 1, .stop_at = 2 };
	CHECK(works(store_each_bundle(s, see_bundle, &seen, &err)));
	CHECK_INT(seen.n, 2);

	/* Packed lists cut off anywhere, or lying about lengths, are misses. */
	struct buf b = BUF_INIT;
	row = make_bundle("cut", file, 2);
	CHECK(works(store_add_bundle(s, &row, &err)));
	sqlite3_stmt *stmt;
	CHECK_INT(sql_get(s, SQL_BUNDLE_GET, &stmt, "t", "cut"), 1);
	buf_add(&b, sqlite3_column_blob(stmt, 8), (size_t)sqlite3_column_bytes(stmt, 8));
	sql_end(stmt);
	size_t nsound = 0;
	for (size_t n = 0; n <= b.len; n++)
		nsound += !bundle_files_check(b.data, n);
	CHECK_INT(nsound, 3);
	memset(b.data, 0xff, 4);
	CHECK_INT(bundle_files_check(b.data, b.len), -1);
	CHECK(works(sql_exec(s,
	    "UPDATE bundle SET file = x'ffffffff'"
	    " WHERE path = 'cut'",
	    &err)));
	CHECK_INT(store_bundle(s, "cut", &got), 0);
	buf_release(&b);
	seen = (struct seen){ .s = s, .is_sorted = 1, .remove = 1 };
	CHECK(works(store_each_bundle(s, see_bundle, &seen, &err)));
	CHECK_INT(seen.n, 3);
	CHECK_INT(number(s, "SELECT count(*) FROM bundle"), 1);
	CHECK(works(store_remove_bundle(s, "cut", &err)));
	CHECK(works(store_remove_bundle(s, "never there", &err)));
	bundle_row_release(NULL);
	store_close(s);
}

static int see_history(void *data, const struct history_row *row)
{
	struct buf *b = data;
	buf_addf(b, "%s@%d %s %d %lld;", row->trace, row->frame, row->commit, row->dirty,
	    (long long)row->time);
	return 0;
}

static void history(void)
{
	struct store *s = open_store("rows", STORE_BUILD);
	struct history_row row = { .trace = "hero",
		.frame = 1,
		.variant = h(1),
		.content_id = h(2),
		.time = 200 };
	CHECK(works(store_add_history(s, &row, &err)));
	row.time = 300; /* seen before: the first time stays */
	CHECK(works(store_add_history(s, &row, &err)));
	strcpy(row.commit, "0123456789012345678901234567890123456789");
	row.time = 100;
	CHECK(works(store_add_history(s, &row, &err)));
	row.frame = 2;
	row.dirty = 1;
	row.time = 50;
	CHECK(works(store_add_history(s, &row, &err)));
	row.trace = "other";
	CHECK(works(store_add_history(s, &row, &err)));
	struct buf b = BUF_INIT;
	CHECK(works(store_each_history(s, "hero", -1, see_history, &b, &err)));
	CHECK_STR(buf_str(&b),
	    "hero@2 0123456789012345678901234567890123456789 1 50;"
	    "hero@1 0123456789012345678901234567890123456789 0 100;"
	    "hero@1  0 200;");
	buf_reset(&b);
	CHECK(works(store_each_history(s, "hero", 2, see_history, &b, &err)));
	CHECK_STR(buf_str(&b), "hero@2 0123456789012345678901234567890123456789 1 50;");
	buf_reset(&b);
	CHECK(works(store_each_history(s, NULL, -1, see_history, &b, &err)));
	CHECK(strstr(buf_str(&b), "other@2 ") && strstr(buf_str(&b), "hero@1 "));
	buf_release(&b);
	struct store_stats stats;
	CHECK(works(store_stats(s, &stats, &err)));
	CHECK_INT(stats.nhistory, 4);
	CHECK_INT(stats.nnode, 1);
	CHECK_INT(stats.nproduct, 2);
	CHECK_INT(stats.nobject, 3);
	CHECK(stats.object_bytes > 0);
	CHECK_INT(stats.nprogram, 1);
	CHECK_INT(stats.nbundle, 0);
	CHECK_INT(stats.nalias, 1);
	CHECK(stats.db_bytes > 0);
	store_close(s);
}

static void transactions(void)
{
	struct store *s = open_store("rows", STORE_BUILD);
	struct sha256 a = h(100), b = h(101), out;
	CHECK(works(store_begin(s, &err)));
	CHECK(works(store_begin(s, &err)));
	CHECK(works(store_add_alias(s, &a, &b, &err)));
	CHECK(works(store_commit(s, &err)));
	store_rollback(s);
	CHECK_INT(store_alias(s, &a, &out), 0);
	CHECK(works(store_begin(s, &err)));
	CHECK(works(store_begin(s, &err)));
	CHECK(works(store_add_alias(s, &a, &b, &err)));
	store_rollback(s);
	CHECK(fails(store_commit(s, &err), "had failed"));
	CHECK_INT(store_alias(s, &a, &out), 0);
	store_rollback(s);
	CHECK(works(store_begin(s, &err)));
	CHECK(works(store_add_alias(s, &a, &b, &err)));
	CHECK(works(store_commit(s, &err)));
	CHECK_INT(store_alias(s, &a, &out), 1);
	/* Closing in the middle keeps nothing of it. */
	CHECK(works(store_begin(s, &err)));
	CHECK(works(store_add_alias(s, &b, &a, &err)));
	store_close(s);
	s = open_store("rows", STORE_READ);
	CHECK_INT(store_alias(s, &a, &out), 1);
	CHECK_INT(store_alias(s, &b, &out), 0);
	store_close(s);
}

static void uses(void)
{
	struct store *s = open_store("uses", STORE_BUILD);
	struct product got;
	struct sha256 key = h(1), other = h(2);
	struct program_row program = { .program_id = h(1), .driver = h(1) };
	struct buf b = BUF_INIT;
	add_product(s, 1, 0, "one");
	add_product(s, 2, 0, "two");
	CHECK(works(store_add_program(s, &program, &err)));
	CHECK(works(store_add_memo(s, "m", &key, "x", 1, &err)));
	store_close(s);
	/* Fresh: a look leaves the file alone. */
	s = open_store("uses", STORE_BUILD);
	CHECK_INT(store_product(s, &key, 0, &got), 1);
	CHECK(works(store_touch(s, &other, &err)));
	CHECK_INT(s->ntouch, 0);
	store_close(s);
	alter("uses",
	    "UPDATE object SET used = 5; UPDATE program SET used = 5;"
	    " UPDATE memo SET used = 5");
	s = open_store("uses", STORE_READ);
	CHECK_INT(store_product(s, &key, 0, &got), 1);
	CHECK_INT(s->ntouch, 0);
	store_close(s);
	s = open_store("uses", STORE_BUILD);
	CHECK_INT(store_product(s, &key, 0, &got), 1);
	CHECK_INT(store_product(s, &key, 0, &got), 1);
	CHECK_INT(s->ntouch, 1);
	CHECK_INT(store_memo(s, "m", &key, &b), 1);
	CHECK_INT(store_program(s, &key, &key, &program), 1);
	program_row_release(&program);
	CHECK_INT(s->ntouch, 3);
	CHECK_INT(number(s, "SELECT count(*) FROM object WHERE used = 5"), 2);
	store_close(s);
	s = open_store("uses", STORE_BUILD);
	CHECK_INT(number(s, "SELECT count(*) FROM object WHERE used = 5"), 1);
	CHECK_INT(number(s, "SELECT count(*) FROM memo WHERE used = 5"), 0);
	CHECK_INT(number(s, "SELECT count(*) FROM program WHERE used = 5"), 0);
	CHECK(works(store_touch(s, &other, &err)));
	CHECK_INT(s->ntouch, 1);
	store_close(s);
	s = open_store("uses", STORE_READ);
	CHECK_INT(number(s, "SELECT count(*) FROM object WHERE used = 5"), 0);
	store_close(s);
	buf_release(&b);
}

/* Starts a child that holds the store until let_go. */
static pid_t hold(const char *dir, enum store_mode mode, int *release)
{
	int ready[2], go[2];
	char c;
	if (pipe(ready) < 0 || pipe(go) < 0)
		exit(1);
	pid_t pid = fork();
	if (!pid) {
		struct store *s;
		close(go[1]);
		if (store_open(dir, mode, "stbuild capture hero", &s, &err) < 0)
			_exit(1);
		if (write(ready[1], "", 1) != 1 || read(go[0], &c, 1) < 0)
			_exit(2);
		store_close(s);
		_exit(0);
	}
	close(ready[1]);
	close(go[0]);
	CHECK_INT(read(ready[0], &c, 1), 1);
	close(ready[0]);
	*release = go[1];
	return pid;
}

/* Other children have the pipe as well: closing it is not enough. */
static void let_go(int release)
{
	CHECK_INT(write(release, "", 1), 1);
	close(release);
}

/* What a child that opens the store says while it has to wait. */
static pid_t wait_at(const char *dir, enum store_mode mode, int *said)
{
	int fd[2];
	if (pipe(fd) < 0)
		exit(1);
	pid_t pid = fork();
	if (!pid) {
		struct store *s;
		dup2(fd[1], STDERR_FILENO);
		if (store_open(dir, mode, "stbuild gc", &s, &err) < 0)
			_exit(1);
		store_close(s);
		_exit(0);
	}
	close(fd[1]);
	*said = fd[0];
	return pid;
}

static void locks(void)
{
	int release, other, said;
	struct store *s;
	char text[400] = "", want[200];
	store_close(open_store("lock", STORE_BUILD));
	pid_t holder = hold("lock", STORE_BUILD, &release);
	/* Builders share, readers do not ask. */
	store_close(open_store("lock", STORE_BUILD));
	store_close(open_store("lock", STORE_READ));
	snprintf(want, sizeof want, "the store is in use by pid %ld on ", (long)holder);
	CHECK(
	    fails(store_open("lock", STORE_TRY_EXCLUSIVE, "stbuild gc", &s, &err), want));
	CHECK(!s);
	/* The exclusive one waits, and says for whom. */
	pid_t waiter = wait_at("lock", STORE_EXCLUSIVE, &said);
	CHECK(read(said, text, sizeof text - 1) > 0);
	snprintf(want, sizeof want, "stbuild: waiting for pid %ld on ", (long)holder);
	CHECK(strncmp(text, want, strlen(want)) == 0);
	CHECK(strstr(text, ": stbuild capture hero\n"));
	CHECK_INT(waitpid(waiter, NULL, WNOHANG), 0);
	/* New builders wait behind it; readers do not. */
	int said_too;
	pid_t late = wait_at("lock", STORE_BUILD, &said_too);
	CHECK(read(said_too, text, sizeof text - 1) > 0);
	store_close(open_store("lock", STORE_READ));
	let_go(release);
	CHECK_INT(wait_for(holder), 0);
	CHECK_INT(wait_for(waiter), 0);
	CHECK_INT(wait_for(late), 0);
	close(said);
	close(said_too);

	/* A builder waits for an exclusive one; what is killed lets go. */
	holder = hold("lock", STORE_EXCLUSIVE, &release);
	CHECK(fails(store_open("lock", STORE_TRY_EXCLUSIVE, "stbuild gc", &s, &err),
	    "in use by pid"));
	waiter = wait_at("lock", STORE_BUILD, &said);
	CHECK(read(said, text, sizeof text - 1) > 0);
	CHECK_INT(waitpid(waiter, NULL, WNOHANG), 0);
	kill(holder, SIGKILL);
	CHECK_INT(wait_for(holder), -1);
	CHECK_INT(wait_for(waiter), 0);
	close(said);
	close(release);
	store_close(open_store("lock", STORE_TRY_EXCLUSIVE));

	/* Two at once create one store. */
	holder = hold("race", STORE_BUILD, &release);
	waiter = hold("race", STORE_BUILD, &other);
	let_go(release);
	let_go(other);
	CHECK_INT(wait_for(holder), 0);
	CHECK_INT(wait_for(waiter), 0);
}

static void upgrades(void)
{
	/* A store of our version, and a program that knows two more. */
	static const char two[] =
	    "ALTER TABLE alias RENAME TO old;"
	    " CREATE TABLE alias (key BLOB PRIMARY KEY, earlier BLOB, used,"
	    " sum);"
	    " INSERT INTO alias SELECT * FROM old; DROP TABLE old";
	static const char three[] = "CREATE TABLE third (a)";
	static const char bad[] = "CREATE TABLE fourth (a); CREATE TABLE third (b)";
	const int v = schema_version;
	const char *list[16] = { 0 };
	for (int i = 0; i < v; i++)
		list[i] = schema_upgrade[i];
	list[v] = two;
	list[v + 1] = three;
	list[v + 2] = bad;
	char *copy = xasprintf("old/stbuild.db.v%d.bak", v);
	char *says = xasprintf("while upgrading the store from version %d", v + 2);
	char *newer = xasprintf("written by a newer stbuild (its version is %d", v + 2);
	struct sha256 a = h(1), b = h(2), out;
	enum schema_state state;
	int version;
	struct store *s = open_store("old", STORE_EXCLUSIVE);
	store_close(s);
	CHECK(works(fs_mkdirs("old/tmp", &err)));
	s = open_store("old", STORE_BUILD);
	CHECK(works(store_add_alias(s, &a, &b, &err)));
	CHECK(works(schema_check(s, v + 2, &state, &version, &err)));
	CHECK_INT(state, SCHEMA_OLD);
	CHECK_INT(version, v);
	sql_close_all(s);
	CHECK(works(schema_apply(s, list, v + 2, &err)));
	CHECK(works(schema_check(s, v + 2, &state, &version, &err)));
	CHECK_INT(state, SCHEMA_CURRENT);
	CHECK_INT(number(s, "SELECT count(*) FROM third"), 0);
	CHECK_INT(number(s, "PRAGMA foreign_keys"), 1);
	CHECK_INT(store_alias(s, &a, &out), 1);
	CHECK(same(out, b));
	CHECK(fs_exists(copy));
	/* Done already: nothing happens. */
	CHECK(works(schema_apply(s, list, v + 2, &err)));
	/* One that fails leaves all as it was. */
	sql_close_all(s);
	CHECK(fails(schema_apply(s, list, v + 3, &err), says));
	CHECK_INT(number(s, "PRAGMA user_version"), v + 2);
	CHECK_INT(number(s,
		      "SELECT count(*) FROM sqlite_master"
		      " WHERE name = 'fourth'"),
	    0);
	CHECK_INT(store_alias(s, &a, &out), 1);
	/* Newer than we: refused in every mode. */
	store_close(s);
	CHECK(fails(store_open("old", STORE_BUILD, "x", &s, &err), newer));
	CHECK(fails(store_open("old", STORE_READ, "x", &s, &err), "newer stbuild"));
	CHECK(fails(store_open("old", STORE_EXCLUSIVE, "x", &s, &err), "newer stbuild"));
	/* The copy is the old store. */
	CHECK_INT(rename(copy, "old/stbuild.db"), 0);
	s = open_store("old", STORE_READ);
	CHECK_INT(number(s, "PRAGMA user_version"), v);
	CHECK_INT(store_alias(s, &a, &out), 1);
	store_close(s);
	free(copy);
	free(says);
	free(newer);
}

static int cache_gets(struct store *s, const struct fs_stamp *stamp)
{
	const struct tree_cache *cache = store_stat_cache(s);
	struct sha256 sha;
	/* Old stamps of the clock's first second: trusted. */
	return cache->get(cache->data, stamp, &sha);
}

/* Bits that flip in a row: it is not found, and fsck counts and drops it. */
static void flipped_rows(void)
{
	static const char *const flip[] = {
		"UPDATE alias SET earlier = x'\
0000000000000000000000000000000000000000000000000000000000000001'",
		"UPDATE program SET reflection = x'ff00'",
		"UPDATE program SET ok = 0",
		"UPDATE node SET gpu_ns = gpu_ns + 1",
		"UPDATE memo SET data = x'00'",
		"UPDATE product SET object = (SELECT max(id) FROM object)"
		" WHERE object = (SELECT min(id) FROM object)",
		"UPDATE stat SET size = size + 1",
		"UPDATE blob SET sha = zeroblob(32)",
	};
	for (size_t i = 0; i < sizeof flip / sizeof *flip; i++) {
		struct store *s = open_store("flip", STORE_EXCLUSIVE);
		store_close(s);
		s = open_store("flip", STORE_BUILD);
		struct sha256 a = h(1), b = h(2);
		struct product p = { .key = a, .index = 0, .size = 3 };
		struct product q = { .key = b, .index = 0, .size = 3 };
		struct program_row program = { .program_id = a,
			.driver = b,
			.ok = 1,
			.log = "",
			.reflection = "xy",
			.nreflection = 2 };
		struct node_row node = { .key = a,
			.pass = "p",
			.shape = "s",
			.width = 1,
			.height = 1,
			.gpu_ns = 5,
			.bytes = 3 };
		struct fs_stamp stamp = { 1, 2, 3, 4, 5 };
		unsigned char oid[20] = { 7 };
		CHECK(object_write("flip", "abc", 3, &p.object, &err) >= 0);
		CHECK(object_write("flip", "abd", 3, &q.object, &err) >= 0);
		const struct tree_cache *cache = store_stat_cache(s);
		CHECK(works(store_begin(s, &err)));
		CHECK(works(store_add_product(s, &p, &err)));
		CHECK(works(store_add_product(s, &q, &err)));
		CHECK(works(store_add_alias(s, &a, &b, &err)));
		CHECK(works(store_add_program(s, &program, &err)));
		CHECK(works(store_add_node(s, &node, &err)));
		CHECK(works(store_add_memo(s, "kind", &a, "data", 4, &err)));
		CHECK(works(store_add_blob(s, oid, &a, &err)));
		cache->put(cache->data, &stamp, &a);
		CHECK(works(store_commit(s, &err)));
		store_close(s);
		s = open_store("flip", STORE_EXCLUSIVE);
		struct fsck_result r;
		CHECK(works(fsck_run(s, 0, &r, &err)));
		CHECK_INT(r.nbad_row, 0);
		CHECK(works(sql_exec(s, flip[i], &err)));
		struct buf memo = BUF_INIT;
		struct sha256 out;
		struct program_row known = { .ok = 0 };
		struct node_row seen;
		/* One of them all is not found any more. */
		int n = store_alias(s, &a, &out) + store_program(s, &a, &b, &known) +
		    store_node(s, &a, &seen) + store_memo(s, "kind", &a, &memo) +
		    store_product(s, &a, 0, &p) + store_blob(s, oid, &out) +
		    !cache_gets(s, &stamp);
		CHECK_INT(n, 6);
		buf_release(&memo);
		program_row_release(&known);
		CHECK(works(fsck_run(s, 0, &r, &err)));
		CHECK_INT(r.nbad_row, 1);
		CHECK(works(fsck_run(s, 1, &r, &err)));
		CHECK(works(fsck_run(s, 0, &r, &err)));
		CHECK_INT(r.nbad_row, 0);
		store_close(s);
		CHECK(works(fs_remove("flip", &err)));
	}
}

static void foreign_and_damaged(void)
{
	struct store *s;
	struct sha256 key = h(1), out;
	CHECK(works(fs_mkdirs("foreign", &err)));
	alter("foreign", "CREATE TABLE a (b); PRAGMA user_version = 1");
	CHECK(fails(store_open("foreign", STORE_BUILD, "x", &s, &err),
	    "'foreign/stbuild.db' is not a database of stbuild"));
	store_close(open_store("trigger", STORE_BUILD));
	alter("trigger",
	    "CREATE TRIGGER t AFTER INSERT ON alias BEGIN"
	    " DELETE FROM history; END");
	CHECK(fails(store_open("trigger", STORE_BUILD, "x", &s, &err),
	    "is not a database of stbuild"));

	store_close(open_store("damaged", STORE_BUILD));
	CHECK(works(fs_write("damaged/stbuild.db",
	    "This was a database. And now it is something else, of 100 bytes or"
	    " more, so that there is a header to look at, and a bit behind.",
	    128, 0, &err)));
	CHECK(fails(store_open("damaged", STORE_BUILD, "x", &s, &err),
	    "'stbuild clean --store' starts anew"));
	CHECK(fails(store_open("damaged", STORE_READ, "x", &s, &err),
	    "damaged/stbuild.db"));
	/* An empty file is one that was never filled. */
	CHECK(works(fs_write("damaged/stbuild.db", "", 0, 0, &err)));
	s = open_store("damaged", STORE_READ);
	CHECK_INT(store_alias(s, &key, &out), 0);
	store_close(s);
	s = open_store("damaged", STORE_BUILD);
	for (int i = 0; i < 2000; i++) {
		struct sha256 a = h(i);
		CHECK(works(store_add_alias(s, &a, &a, &err)));
	}
	store_close(s);
	/* Damage within: lookups are misses, writes are errors with a remedy. */
	struct stat st;
	CHECK_INT(stat("damaged/stbuild.db", &st), 0);
	char junk[4097];
	memset(junk, 'x', 4096);
	junk[4096] = '\0';
	for (off_t at = 40 * 4096; at + 4096 <= st.st_size; at += 4096)
		copy_file("damaged/stbuild.db", (int)at, junk);
	s = open_store("damaged", STORE_BUILD);
	int nmiss = 0, nfail = 0;
	for (int i = 0; i < 2000; i++) {
		struct sha256 a = h(i);
		nmiss += !store_alias(s, &a, &out);
		if (store_add_alias(s, &a, &a, &err) < 0)
			nfail += fails(-1, "stbuild fsck --repair");
	}
	CHECK(nmiss > 0);
	CHECK(nfail > 0);
	store_close(s);
	/* A row with a hash of another size is a miss. */
	s = open_store("short", STORE_BUILD);
	CHECK(works(store_add_alias(s, &key, &key, &err)));
	CHECK_INT(store_alias(s, &key, &out), 1);
	CHECK(works(sql_exec(s,
	    "PRAGMA ignore_check_constraints = ON;"
	    " UPDATE alias SET earlier = x'00'",
	    &err)));
	CHECK_INT(store_alias(s, &key, &out), 0);
	store_close(s);
}

static int in_read_only(void)
{
	struct store *s;
	struct sha256 key = h(1), sha;
	struct product p;
	/* What stands can be read. */
	CHECK(works(store_open("readonly", STORE_READ, "x", &s, &err)));
	CHECK_INT(store_product(s, &key, 0, &p), 1);
	store_close(s);
	CHECK(fails(store_open("readonly", STORE_BUILD, "x", &s, &err), "readonly/lock"));
	CHECK(fails(store_open("readonly/new", STORE_BUILD, "x", &s, &err),
	    "readonly/new"));
	CHECK(fails(object_write("readonly", "zzz", 3, &sha, &err),
	    "cannot write 'readonly/tmp/"));
	return test_done();
}

static void read_only(void)
{
	struct store *s = open_store("readonly", STORE_BUILD);
	add_product(s, 1, 0, "one");
	store_close(s);
	/* The tests' folder is mkdtemp's, closed for others. */
	CHECK_INT(chmod(".", 0755), 0);
	CHECK_INT(chmod("readonly/lock", 0444), 0);
	CHECK_INT(chmod("readonly/stbuild.db", 0444), 0);
	CHECK_INT(chmod("readonly/tmp", 0555), 0);
	CHECK_INT(chmod("readonly", 0555), 0);
	CHECK_INT(as_nobody(in_read_only), 0);
	CHECK_INT(chmod("readonly", 0755), 0);
}

/* Every write fails at some size: an error that says so, and no damage. */
static void full_disk(void)
{
	signal(SIGXFSZ, SIG_IGN);
	int nfailed = 0;
	for (rlim_t limit = 0; limit < 400 * 1024; limit += 6 * 1024 + 100) {
		CHECK(works(fs_remove("full", &err)));
		pid_t pid = fork();
		if (!pid) {
			struct rlimit r = { limit, RLIM_INFINITY };
			struct store *s = NULL;
			struct sha256 sha;
			char *big = xcalloc(1, 100 * 1024);
			setrlimit(RLIMIT_FSIZE, &r);
			int rc = store_open("full", STORE_BUILD, "x", &s, &err);
			if (!rc)
				rc = object_write("full", big, 100 * 1024, &sha, &err);
			if (!rc)
				rc = store_begin(s, &err);
			for (int i = 0; i < 3000 && !rc; i++) {
				struct sha256 a = h(i);
				rc = store_add_alias(s, &a, &a, &err);
			}
			if (!rc)
				rc = store_commit(s, &err);
			int is_right = !rc ||
			    (err.status == STATUS_MACHINE &&
				strstr(err.message, "full/"));
			if (!is_right)
				fprintf(stderr, "\t%s\n", err.message);
			store_close(s);
			_exit(!is_right ? 1 : rc ? 2 : 0);
		}
		int status = wait_for(pid);
		CHECK(status == 0 || status == 2);
		nfailed += status == 2;
		struct store *s = open_store("full", STORE_BUILD);
		int64_t n = number(s, "SELECT count(*) FROM alias");
		CHECK(n == (status ? 0 : 3000));
		struct sha256 a = h(1);
		CHECK(works(store_add_alias(s, &a, &a, &err)));
		store_close(s);
	}
	CHECK(nfailed > 5);
	signal(SIGXFSZ, SIG_DFL);
}

/* The budget: a node with two outputs takes at most 1 KB of database. */
static void budget(void)
{
	struct store *s = open_store("many", STORE_BUILD);
	int n = 5000;
	CHECK(works(store_begin(s, &err)));
	for (int i = 0; i < n; i++) {
		struct node_row node = { .key = h(i),
			.pass = "buffer-a",
			.frame = i,
			.shape = "1280x720 rgba32f",
			.width = 1280,
			.height = 720,
			.gpu_ns = 1000000 + i,
			.bytes = 14745600 };
		struct product p = { .key = h(i), .size = 7372800 };
		CHECK(works(store_add_node(s, &node, &err)));
		for (int k = 0; k < 2; k++) {
			p.index = k;
			p.object = h(1000000 + 2 * i + k);
			CHECK(works(store_add_product(s, &p, &err)));
		}
	}
	CHECK(works(store_commit(s, &err)));
	store_close(s);
	s = open_store("many", STORE_READ);
	struct store_stats stats;
	CHECK(works(store_stats(s, &stats, &err)));
	CHECK_INT(stats.nnode, n);
	CHECK(stats.db_bytes / (uint64_t)n <= 1024);
	store_close(s);
}

int main(void)
{
	char dir[] = "/tmp/stbuild-test-XXXXXX";
	if (!mkdtemp(dir) || chdir(dir) < 0)
		return 1;
	empty_and_absent();
	creation();
	statements();
	objects();
	concurrent_writers();
	products();
	nodes();
	programs();
	stats_cache();
	memos();
	bundles();
	history();
	transactions();
	uses();
	locks();
	upgrades();
	flipped_rows();
	foreign_and_damaged();
	read_only();
	full_disk();
	budget();
	CHECK_INT(chdir("/"), 0);
	CHECK(works(fs_remove(dir, &err)));
	return test_done();
}
