#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/tree.h"
#include "util/buf.h"
#include "util/mem.h"
#include "test.h"

static void normal(const char *path, const char *want)
{
	char *got = path_normalise(path);
	CHECK_STR(got, want);
	free(got);
}

static void normalises(void)
{
	normal("a/./b/../c", "a/c");
	normal("a//b/", "a/b");
	normal("./a", "a");
	normal("", "");
	normal(".", "");
	normal("a/..", "");
	normal("a/../..", "..");
	normal("../../a", "../../a");
	normal("../a/../b", "../b");
	normal("a/../../b/..", "..");
	normal("/", "/");
	normal("/../a/..", "/");
	normal("/a/../../b", "/b");
	normal("...", "...");
	normal("a/..b/.c", "a/..b/.c");
}

static enum tree_kind look(struct tree *t, const char *path, char **resolved)
{
	struct err err = ERR_INIT;
	enum tree_kind kind = TREE_OTHER;
	CHECK_INT(tree_lookup(t, path, &kind, resolved, &err), 0);
	err_release(&err);
	return kind;
}

static void expect(struct tree *t, const char *path, enum tree_kind kind,
    const char *resolved)
{
	char *got = NULL;
	CHECK_INT(look(t, path, &got), kind);
	CHECK_STR(got, resolved);
	free(got);
}

static void put(const char *dir, const char *path, const char *text)
{
	char *full = xasprintf("%s/%s", dir, path);
	FILE *f = fopen(full, "w");
	if (CHECK(f != NULL)) {
		CHECK(fputs(text, f) >= 0);
		CHECK_INT(fclose(f), 0);
	}
	free(full);
}

static void link_to(const char *target, const char *dir, const char *path)
{
	char *full = xasprintf("%s/%s", dir, path);
	CHECK_INT(symlink(target, full), 0);
	free(full);
}

struct counts {
	int get, put;
	struct sha256 sha;
};

static int cache_get(void *data, const struct fs_stamp *stamp, struct sha256 *out)
{
	struct counts *c = data;
	c->get++;
	if (!c->put || !stamp->size)
		return -1;
	*out = c->sha;
	return 0;
}

static void cache_put(void *data, const struct fs_stamp *stamp, const struct sha256 *sha)
{
	struct counts *c = data;
	(void)stamp;
	c->put++;
	c->sha = *sha;
}

static void directory(void)
{
	char dir[] = "/tmp/stbuild-tree-XXXXXX";
	if (!CHECK(mkdtemp(dir) != NULL))
		return;
	char *root = xasprintf("%s/root", dir);
	char *sub = xasprintf("%s/root/sub", dir);
	char *sibling = xasprintf("%s/rootling", dir);
	CHECK_INT(mkdir(root, 0777), 0);
	CHECK_INT(mkdir(sub, 0777), 0);
	CHECK_INT(mkdir(sibling, 0777), 0);
	put(root, "a.glsl", "abc");
	put(root, "sub/b.glsl", "");
	put(dir, "secret", "s");
	put(sibling, "c.glsl", "c");
	link_to("sub/b.glsl", root, "in");
	link_to("../secret", root, "out");
	link_to("nowhere", root, "dangling");
	link_to("loop", root, "loop");
	link_to("sub", root, "folder");
	link_to(sibling, root, "sibling");

	struct counts counts = { 0 };
	struct tree_cache cache = { cache_get, cache_put, &counts };
	struct err err = ERR_INIT;
	struct tree *t = NULL;
	if (!CHECK(!tree_open_dir(root, &cache, &t, &err)))
		return;
	expect(t, "a.glsl", TREE_FILE, "a.glsl");
	expect(t, "./sub/../a.glsl", TREE_FILE, "a.glsl");
	expect(t, "../root/a.glsl", TREE_FILE, "a.glsl");
	expect(t, "sub", TREE_FOLDER, "sub");
	expect(t, "", TREE_FOLDER, "");
	expect(t, ".", TREE_FOLDER, "");
	expect(t, "in", TREE_FILE, "sub/b.glsl");
	expect(t, "folder/b.glsl", TREE_FILE, "sub/b.glsl");
	expect(t, "folder/../a.glsl", TREE_FILE, "a.glsl");
	expect(t, "out", TREE_OUTSIDE, NULL);
	expect(t, "../secret", TREE_OUTSIDE, NULL);
	expect(t, "..", TREE_OUTSIDE, NULL);
	expect(t, "/etc/passwd", TREE_OUTSIDE, NULL);
	expect(t, "../rootling/c.glsl", TREE_OUTSIDE, NULL);
	expect(t, "sibling/c.glsl", TREE_OUTSIDE, NULL);
	expect(t, "../nothing", TREE_ABSENT, NULL);
	expect(t, "nothing", TREE_ABSENT, NULL);
	expect(t, "a.glsl/x", TREE_ABSENT, NULL);
	expect(t, "dangling", TREE_OTHER, NULL);
	expect(t, "loop", TREE_OTHER, NULL);

	struct buf b = BUF_INIT;
	CHECK_INT(tree_read(t, "a.glsl", 3, &b, &err), 0);
	CHECK_STR(buf_str(&b), "abc");
	CHECK_INT(tree_read(t, "a.glsl", 2, &b, &err), -1);
	CHECK(err.message != NULL);
	err_release(&err);
	buf_release(&b);

	struct sha256 want, got;
	sha256_of("abc", 3, &want);
	CHECK_INT(tree_hash(t, "a.glsl", &got, &err), 0);
	CHECK(sha256_equal(&want, &got));
	CHECK_INT(counts.get, 1);
	CHECK_INT(counts.put, 1);
	memset(&got, 0, sizeof got);
	CHECK_INT(tree_hash(t, "a.glsl", &got, &err), 0);
	CHECK(sha256_equal(&want, &got));
	CHECK_INT(counts.get, 2);
	CHECK_INT(counts.put, 1);
	CHECK_INT(tree_hash(t, "nothing", &got, &err), -1);
	err_release(&err);
	tree_free(t);

	char *file = xasprintf("%s/secret", dir);
	CHECK_INT(tree_open_dir(file, NULL, &t, &err), -1);
	err_release(&err);
	CHECK(!t);
	CHECK_INT(fs_remove(dir, &err), 0);
	CHECK_INT(tree_open_dir(dir, NULL, &t, &err), -1);
	err_release(&err);
	free(file);
	free(root);
	free(sub);
	free(sibling);
}

static void memory(void)
{
	struct tree *t = tree_new_memory("test");
	struct err err = ERR_INIT;
	tree_memory_add(t, "a/b/c", "old", 3);
	tree_memory_add(t, "./d", "", 0);
	tree_memory_add(t, "a/x/../b/c", "newer", 5);
	expect(t, "a/b/c", TREE_FILE, "a/b/c");
	expect(t, "a/../d", TREE_FILE, "d");
	expect(t, "a", TREE_FOLDER, "a");
	expect(t, "a/b/", TREE_FOLDER, "a/b");
	expect(t, "", TREE_FOLDER, "");
	expect(t, "b", TREE_ABSENT, NULL);
	expect(t, "../d", TREE_OUTSIDE, NULL);
	expect(t, "/d", TREE_OUTSIDE, NULL);
	struct buf b = BUF_INIT;
	CHECK_INT(tree_read(t, "a/b/c", 5, &b, &err), 0);
	CHECK_STR(buf_str(&b), "newer");
	CHECK_INT(tree_read(t, "a/b/c", 4, &b, &err), -1);
	CHECK_INT(tree_read(t, "a", 4, &b, &err), -1);
	struct sha256 want, got;
	sha256_of("newer", 5, &want);
	CHECK_INT(tree_hash(t, "a/b/c", &got, &err), 0);
	CHECK(sha256_equal(&want, &got));
	const void *data;
	size_t n;
	CHECK_STR(tree_memory_file(t, 0, &data, &n), "a/b/c");
	CHECK_INT(n, 5);
	CHECK_STR(tree_memory_file(t, 1, &data, &n), "d");
	CHECK_INT(n, 0);
	CHECK_STR(tree_memory_file(t, 2, &data, &n), NULL);
	err_release(&err);
	buf_release(&b);
	tree_free(t);
}

static void remembers_inputs(void)
{
	struct inputs in = { 0 };
	struct sha256 sha;
	sha256_of("x", 1, &sha);
	inputs_add(&in, "a/../b", &sha);
	inputs_add(&in, "b", NULL);
	inputs_add(&in, "c", NULL);
	CHECK_INT(in.ninput, 2);
	CHECK_STR(in.input[0].path, "b");
	CHECK(!in.input[0].is_absent && sha256_equal(&in.input[0].sha, &sha));
	CHECK(in.input[1].is_absent && sha256_is_zero(&in.input[1].sha));
	for (int i = 0; i < 5000; i++) {
		char name[16];
		snprintf(name, sizeof name, "f%d", i % 2500);
		inputs_add(&in, name, &sha);
	}
	CHECK_INT(in.ninput, 2502);
	inputs_release(&in);
	CHECK(!in.input && !in.ninput);
	inputs_add(NULL, "ignored", NULL);
}

int main(void)
{
	normalises();
	directory();
	memory();
	remembers_inputs();
	return test_done();
}
