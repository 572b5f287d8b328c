/* Git repositories of all sorts, made by git itself, as vcs/repo.h sees them. */

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>

#include "test.h"
#include "util/buf.h"
#include "util/fs.h"
#include "util/map.h"
#include "util/mem.h"
#include "vcs/repo.h"

static char top[] = "/tmp/stbuild-repo-XXXXXX";

/* Runs a script in a folder of its own below top, stopping at failures. */
__attribute__((format(printf, 2, 3))) static int sh(const char *folder, const char *fmt,
    ...)
{
	char *text = NULL;
	struct buf script = BUF_INIT;
	va_list ap;
	buf_addf(&script, "set -e; mkdir -p '%s/%s'; cd '%s/%s'; ", top, folder, top,
	    folder);
	va_start(ap, fmt);
	buf_vaddf(&script, fmt, ap);
	va_end(ap);
	text = buf_detach(&script);
	int status = system(text);
	if (status)
		fprintf(stderr, "status %d: %s\n", status, text);
	free(text);
	return CHECK(status == 0);
}

/* First line that a script prints; owned by the caller. */
static char *ask(const char *folder, const char *script)
{
	char line[4096] = "";
	char *text = xasprintf("cd '%s/%s' && %s", top, folder, script);
	FILE *f = popen(text, "r");
	if (CHECK(f != NULL)) {
		if (!fgets(line, sizeof line, f))
			line[0] = '\0';
		CHECK(pclose(f) == 0);
	}
	free(text);
	line[strcspn(line, "\n")] = '\0';
	return xstrdup(line);
}

static char *path_of(const char *folder)
{
	return xasprintf("%s/%s", top, folder);
}

/* Names, kinds, modes, times and bytes of all that git keeps. */
static char *print_of(const char *folder)
{
	return ask(folder,
	    "( find . -path './*' -exec ls -dln --time-style=full-iso {} + | sort;"
	    " find . -type f -exec sha256sum {} + | sort ) | sha256sum");
}

static struct repo *open_at(const char *folder, const struct repo_cache *cache)
{
	struct err err = ERR_INIT;
	struct repo *r = NULL;
	char *path = path_of(folder);
	if (!CHECK(repo_open(path, cache, &r, &err) == 0))
		fprintf(stderr, "\t%s\n", err.message);
	CHECK(r != NULL);
	free(path);
	err_release(&err);
	return r;
}

/* Both ways to HEAD agree. */
static void check_peek(const char *folder, int found, int line)
{
	struct err err = ERR_INIT;
	char id[41] = "", same[41] = "";
	char *path = path_of(folder);
	test_int(repo_peek_id(path, id), found, folder, __FILE__, line);
	if (found) {
		struct repo *r = open_at(folder, NULL);
		test_int(repo_head_id(r, same, &err), 0, folder, __FILE__, line);
		test_str(id, same, __FILE__, line);
		repo_close(r);
	}
	err_release(&err);
	free(path);
}
#define CHECK_PEEK(folder, found) check_peek(folder, found, __LINE__)

static void refuse(const char *folder, const char *word)
{
	struct err err = ERR_INIT;
	struct repo *r = NULL;
	char *path = path_of(folder);
	if (!CHECK(repo_open(path, NULL, &r, &err) == -1))
		fprintf(stderr, "\t%s was opened\n", folder);
	CHECK(r == NULL);
	if (CHECK(err.message != NULL) && !CHECK(strstr(err.message, word)))
		fprintf(stderr, "\t'%s' is not in: %s\n", word, err.message);
	repo_close(r);
	free(path);
	err_release(&err);
}

static void check_error(struct err *err, const char *word, int line)
{
	if (!test_check(err->message && strstr(err->message, word), __FILE__, line,
		"the error has the words"))
		fprintf(stderr, "\t'%s' is not in: %s\n", word,
		    err->message ? err->message : "(none)");
	err_release(err);
}
#define CHECK_ERROR(err, word) check_error(err, word, __LINE__)

static struct tree *tree_at(struct repo *r, const char *rev)
{
	struct err err = ERR_INIT;
	struct repo_commit c;
	struct tree *tree = NULL;
	CHECK(repo_resolve(r, rev, &c, &err) == 0);
	if (!CHECK(repo_tree(r, c.id, &tree, &err) == 0))
		fprintf(stderr, "\t%s\n", err.message);
	repo_commit_release(&c);
	err_release(&err);
	return tree;
}

/* Kind of a path, and its resolved form ("-" when there is none). */
static void check_path(struct tree *tree, const char *path, enum tree_kind want,
    const char *resolved, int line)
{
	struct err err = ERR_INIT;
	enum tree_kind kind;
	char *got = NULL;
	test_int(tree_lookup(tree, path, &kind, &got, &err), 0, path, __FILE__, line);
	test_int(kind, want, path, __FILE__, line);
	test_str(got ? got : "-", resolved, __FILE__, line);
	free(got);
	err_release(&err);
}
#define CHECK_PATH(tree, path, kind, resolved) \
	check_path(tree, path, kind, resolved, __LINE__)

static void check_text(struct tree *tree, const char *path, const char *want, int line)
{
	struct err err = ERR_INIT;
	struct buf text = BUF_INIT;
	struct sha256 sha, same;
	test_int(tree_read(tree, path, 1000, &text, &err), 0, path, __FILE__, line);
	test_str(buf_str(&text), want, __FILE__, line);
	test_int(tree_hash(tree, path, &sha, &err), 0, path, __FILE__, line);
	sha256_of(want, strlen(want), &same);
	test_check(sha256_equal(&sha, &same), __FILE__, line, "hash is of the bytes");
	buf_release(&text);
	err_release(&err);
}
#define CHECK_TEXT(tree, path, want) check_text(tree, path, want, __LINE__)

/* text null: absent. */
static int dirty(struct repo *r, const char *path, const char *text)
{
	struct err err = ERR_INIT;
	struct input input = { .path = xstrdup(path), .is_absent = !text };
	if (text)
		sha256_of(text, strlen(text), &input.sha);
	int rc = repo_is_dirty(r, &input, &err);
	if (rc < 0)
		fprintf(stderr, "\t%s\n", err.message);
	free(input.path);
	err_release(&err);
	return rc;
}

static void add_line(void *data, const char *commit)
{
	buf_addf(data, "%s\n", commit);
}

/* Light and annotated, a tag of a tag, and those of what is no commit. */
static void test_tags(void)
{
	struct err err = ERR_INIT;
	struct buf got = BUF_INIT;

	sh("tags", "git init -q .; echo one >a; git add a; git commit -q -m one");
	struct repo *r = open_at("tags", NULL);
	CHECK_INT(repo_each_tag(r, add_line, &got, &err), 0);
	CHECK_STR(buf_str(&got), "");
	sh("tags",
	    "git tag -a -m x v1; git tag -a -m y y v1; echo two >a;"
	    "git commit -q -a -m two; git tag light; echo three >a;"
	    "git commit -q -a -m three; git tag blob HEAD:a; git tag tree HEAD:");
	CHECK_INT(repo_each_tag(r, add_line, &got, &err), 0);
	CHECK_INT(got.len, 3 * 41);
	const char *const rev[] = { "HEAD~2", "HEAD~1" };
	for (int i = 0; i < 2; i++) {
		char *ask_for = xasprintf("git rev-parse %s", rev[i]);
		char *id = ask("tags", ask_for);
		CHECK(strstr(buf_str(&got), id) != NULL);
		free(id);
		free(ask_for);
	}
	buf_release(&got);
	repo_close(r);
}

static void test_head(void)
{
	struct err err = ERR_INIT;
	struct repo_commit c;
	char id[41];

	sh("head", "git init -q -b trunk .; echo one >a");
	struct repo *r = open_at("head", NULL);
	CHECK_INT(repo_head(r, &c, &err), 0);
	CHECK_STR(c.id, "");
	CHECK_STR(c.branch, "trunk");
	CHECK(c.describe == NULL);
	repo_commit_release(&c);
	CHECK_INT(repo_head_id(r, id, &err), 0);
	CHECK_STR(id, "");
	CHECK_INT(dirty(r, "a", "one\n"), 1);
	CHECK_INT(dirty(r, "b", NULL), 0);
	CHECK_INT(repo_resolve(r, "HEAD", &c, &err), -1);
	CHECK_ERROR(&err, "no commits yet");

	CHECK_PEEK("head", 0);

	/* The same handle notices the first commit. */
	sh("head",
	    "git add a; GIT_COMMITTER_DATE='1709614028 -0130' git commit -q"
	    " -m 'First line\n\nbody'");
	CHECK_INT(repo_head(r, &c, &err), 0);
	char *want = ask("head", "git describe --tags --always");
	CHECK_STR(c.describe, want);
	free(want);
	want = ask("head", "git rev-parse HEAD");
	CHECK_STR(c.id, want);
	free(want);
	CHECK_STR(c.committed_at, "2024-03-05T03:17:08-01:30");
	CHECK_STR(c.branch, "trunk");
	CHECK_INT(dirty(r, "a", "one\n"), 0);
	repo_commit_release(&c);

	sh("head",
	    "git tag v1; echo two >a; git -c i18n.commitEncoding=latin1 commit -q -a"
	    " -F - <<'.'\ncaf\xe9 \xe2\x82\xac\n.\n"
	    "git branch -q side; echo 3 >a; git commit -q -a -m third");
	CHECK_INT(dirty(r, "a", "one\n"), 0); /* HEAD as it was */
	CHECK_INT(repo_head(r, &c, &err), 0);
	CHECK_INT(dirty(r, "a", "one\n"), 1);
	want = ask("head", "git describe --tags --always");
	CHECK(strncmp(want, "v1-2-g", 6) == 0);
	CHECK_STR(c.describe, want);
	free(want);
	CHECK_STR(c.summary, "third");
	repo_commit_release(&c);
	CHECK_INT(repo_resolve(r, "side", &c, &err), 0);
	CHECK(strncmp(c.summary, "caf\xef\xbf\xbd ", 7) == 0);
	CHECK(c.branch == NULL);
	repo_commit_release(&c);

	CHECK_INT(repo_resolve(r, "v1^{commit}", &c, &err), 0);
	CHECK_STR(c.describe, "v1");
	repo_commit_release(&c);
	CHECK_INT(repo_resolve(r, "HEAD:a", &c, &err), -1);
	CHECK_ERROR(&err, "'HEAD:a' names contents of a commit");
	CHECK_INT(repo_resolve(r, "v1..side", &c, &err), -1);
	CHECK_ERROR(&err, "'v1..side' is a range");
	CHECK_INT(repo_resolve(r, "nowhere", &c, &err), -1);
	CHECK_ERROR(&err, "unknown revision 'nowhere'");

	CHECK_PEEK("head", 1);
	sh("head", "git pack-refs --all");
	CHECK_PEEK("head", 1);
	sh("head", "git checkout -q v1");
	CHECK_PEEK("head", 1);
	CHECK_INT(repo_head(r, &c, &err), 0);
	CHECK(c.branch == NULL);
	CHECK_STR(c.describe, "v1");
	repo_commit_release(&c);
	struct tree *tree = NULL;
	CHECK_INT(repo_tree(r, "v1", &tree, &err), -1);
	CHECK_ERROR(&err, "not a commit id");
	CHECK_INT(repo_tree(r, "0123456789012345678901234567890123456789", &tree, &err),
	    -1);
	CHECK_ERROR(&err, "cannot read commit");
	repo_close(r);
}

struct memory {
	struct map map;
	struct sha256 sha[64];
	int nget, nhit;
};

static int memory_get(void *data, const unsigned char oid[20], struct sha256 *out)
{
	struct memory *m = data;
	size_t i = map_get(&m->map, oid, 20);
	m->nget++;
	if (i == MAP_NONE)
		return -1;
	m->nhit++;
	*out = m->sha[i];
	return 0;
}

static void memory_put(void *data, const unsigned char oid[20], const struct sha256 *sha)
{
	struct memory *m = data;
	size_t i = m->map.nentry;
	if (CHECK(i < 64 && map_put(&m->map, oid, 20, i)))
		m->sha[i] = *sha;
}

static void test_tree(void)
{
	static const char nowhere[] = "a symbolic link that leads nowhere";
	static const char module[] =
	    "a submodule or in one; its files are in another repository";
	struct err err = ERR_INIT;
	struct memory memory = { 0 };
	struct repo_cache cache = { memory_get, memory_put, &memory };

	sh("tree",
	    "git init -q .; mkdir -p shared proj/sub/deep; cd proj;"
	    " echo main >main.glsl; echo deep >sub/deep/d.glsl; echo out >../shared/o.glsl;"
	    " ln -s main.glsl link; ln -s sub/deep folder; ln -s ../shared/o.glsl escape;"
	    " ln -s ../shared shared; ln -s ../proj/main.glsl round; ln -s loop2 loop1;"
	    " ln -s loop1 loop2; ln -s /etc/passwd absolute; ln -s gone dangling;"
	    " ln -s ../link sub/up; printf 'x\\377y' >\"$(printf 'n\\351.glsl')\";"
	    " printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%%s\\nsize 8\\n'"
	    " \"$(printf 'pixels\\n!' | sha256sum | cut -d' ' -f1)\" >big.png;"
	    " git add -A ..; git update-index --add --cacheinfo"
	    " 160000,1234567890123456789012345678901234567890,proj/module;"
	    " git commit -q -m one");
	char *before = print_of("tree");
	struct repo *r = open_at("tree/proj", &cache);
	char *path = path_of("tree");
	CHECK_STR(repo_workdir(r), path);
	free(path);
	struct tree *t = tree_at(r, "HEAD");
	if (!t)
		return;
	CHECK_PATH(t, "", TREE_FOLDER, "");
	CHECK_PATH(t, "main.glsl", TREE_FILE, "main.glsl");
	CHECK_PATH(t, "./sub//deep/../../main.glsl", TREE_FILE, "main.glsl");
	CHECK_PATH(t, "sub/deep", TREE_FOLDER, "sub/deep");
	CHECK_PATH(t, "sub/deep/", TREE_FOLDER, "sub/deep");
	CHECK_PATH(t, "main.glsl/", TREE_ABSENT, "-");
	CHECK_PATH(t, "main.glsl/../main.glsl", TREE_ABSENT, "-");
	CHECK_PATH(t, "none", TREE_ABSENT, "-");
	CHECK_PATH(t, "none/x", TREE_ABSENT, "-");
	CHECK_PATH(t, "link", TREE_FILE, "main.glsl");
	CHECK_PATH(t, "folder/d.glsl", TREE_FILE, "sub/deep/d.glsl");
	CHECK_PATH(t, "folder/../up", TREE_FILE, "main.glsl");
	CHECK_PATH(t, "sub/up", TREE_FILE, "main.glsl");
	CHECK_PATH(t, "round", TREE_FILE, "main.glsl");
	CHECK_PATH(t, "escape", TREE_OUTSIDE, "-");
	CHECK_PATH(t, "shared", TREE_OUTSIDE, "-");
	CHECK_PATH(t, "shared/o.glsl", TREE_OUTSIDE, "-");
	CHECK_PATH(t, "../shared/o.glsl", TREE_OUTSIDE, "-");
	CHECK_PATH(t, "../../..", TREE_OUTSIDE, "-");
	CHECK_PATH(t, "..", TREE_OUTSIDE, "-");
	CHECK_PATH(t, "../proj/main.glsl", TREE_FILE, "main.glsl");
	CHECK_PATH(t, "absolute", TREE_OUTSIDE, "-");
	CHECK_PATH(t, "/etc/passwd", TREE_OUTSIDE, "-");
	CHECK_PATH(t, "dangling", TREE_OTHER, nowhere);
	CHECK_PATH(t, "dangling/x", TREE_ABSENT, "-");
	CHECK_PATH(t, "loop1", TREE_OTHER, nowhere);
	CHECK_PATH(t, "module", TREE_OTHER, module);
	CHECK_PATH(t, "module/x.glsl", TREE_OTHER, module);
	enum tree_kind kind;
	char *what;
	CHECK_INT(tree_lookup(t, "big.png", &kind, &what, &err), 0);
	CHECK_INT(kind, TREE_OTHER);
	CHECK(what && strstr(what, "git lfs"));
	free(what);
	CHECK_PATH(t, "n\xe9.glsl", TREE_FILE, "n\xe9.glsl");
	CHECK_TEXT(t, "main.glsl", "main\n");
	CHECK_TEXT(t, "n\xe9.glsl", "x\xffy");

	struct buf text = BUF_INIT;
	struct sha256 sha;
	CHECK_INT(tree_read(t, "big.png", 1000, &text, &err), -1);
	CHECK_ERROR(&err, "git lfs");
	CHECK_INT(tree_hash(t, "module/x.glsl", &sha, &err), -1);
	CHECK_ERROR(&err, "submodule");
	CHECK_INT(tree_read(t, "sub", 1000, &text, &err), -1);
	CHECK_ERROR(&err, "is a folder");
	CHECK_INT(tree_read(t, "loop2", 1000, &text, &err), -1);
	CHECK_ERROR(&err, "leads nowhere");
	CHECK_INT(tree_read(t, "escape", 1000, &text, &err), -1);
	CHECK_ERROR(&err, "out of the project");
	CHECK_INT(tree_read(t, "none", 1000, &text, &err), -1);
	CHECK_ERROR(&err, "has no 'none'");
	CHECK_INT(tree_read(t, "main.glsl", 4, &text, &err), -1);
	CHECK_ERROR(&err, "limit of 4 bytes");
	CHECK_INT(text.len, 0);
	tree_free(t);

	CHECK_INT(dirty(r, "main.glsl", "main\n"), 0);
	CHECK_INT(dirty(r, "main.glsl", "other\n"), 1);
	CHECK_INT(dirty(r, "main.glsl", NULL), 1);
	CHECK_INT(dirty(r, "link", "main\n"), 0);
	CHECK_INT(dirty(r, "untracked", "x"), 1);
	CHECK_INT(dirty(r, "untracked", NULL), 0);
	CHECK_INT(dirty(r, "big.png", "pixels\n!"), 0);
	CHECK_INT(dirty(r, "big.png", "pixels\n?"), 1);
	CHECK_INT(dirty(r, "module/x.glsl", "x"), 1);
	memory.nget = memory.nhit = 0;
	CHECK_INT(dirty(r, "sub/deep/d.glsl", "deep\n"), 0);
	CHECK_INT(memory.nhit, 0);
	CHECK_INT(dirty(r, "sub/deep/d.glsl", "deep\n"), 0);
	CHECK_INT(memory.nget, 2);
	CHECK_INT(memory.nhit, 1);

	repo_close(r);
	map_release(&memory.map);

	char *after = print_of("tree");
	CHECK_STR(after, before);
	free(after);
	free(before);

	/* A folder that a commit has not, or has as a file. */
	sh("tree",
	    "mkdir later; echo x >later/f; git add later; git commit -q -m two;"
	    " ln -s proj alias");
	r = open_at("tree/later", NULL);
	struct repo_commit c;
	CHECK_INT(repo_resolve(r, "HEAD~1", &c, &err), 0);
	CHECK_INT(repo_tree(r, c.id, &t, &err), -1);
	CHECK_ERROR(&err, "has no folder 'later'");
	repo_commit_release(&c);
	repo_close(r);
	CHECK_PEEK("tree/proj/sub", 1);
	r = open_at("tree/alias", NULL); /* by a link: the folder itself */
	CHECK_INT(dirty(r, "main.glsl", "main\n"), 0);
	repo_close(r);
}

static void test_filters(void)
{
	struct memory memory = { 0 };
	struct repo_cache cache = { memory_get, memory_put, &memory };

	/* Attributes of the commit count, not those of the work tree. */
	sh("crlf",
	    "git init -q .; git config core.safecrlf false; mkdir -p s/t;"
	    " printf 'a\\nb\\n' >s/t/x.glsl; cp s/t/x.glsl r.glsl;"
	    " printf '$Id$\\n' >id.glsl; git add .; git commit -q -m plain;"
	    " echo '*.glsl text eol=crlf' >s/.gitattributes;"
	    " echo 'id.* ident' >.gitattributes;"
	    " git add .; git commit -q -m crlf; git rm -q --cached s/.gitattributes;"
	    " rm s/.gitattributes; git commit -q -m lf;"
	    " echo '*.glsl text eol=crlf' >.gitattributes");
	char *before = print_of("crlf");
	char *ident = ask("crlf", "git rev-parse HEAD:id.glsl");
	char *expanded = xasprintf("$Id: %s $\n", ident);
	struct repo *r = open_at("crlf", &cache);
	for (int round = 0; round < 2; round++) {
		static const struct {
			const char *rev, *x;
		} row[] = {
			{ "HEAD~2", "a\nb\n" },
			{ "HEAD~1", "a\r\nb\r\n" },
			{ "HEAD", "a\nb\n" },
		};
		for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
			struct tree *t = tree_at(r, row[i].rev);
			CHECK_TEXT(t, "s/t/x.glsl", row[i].x);
			CHECK_TEXT(t, "r.glsl", "a\nb\n");
			CHECK_TEXT(t, "id.glsl", i ? expanded : "$Id$\n");
			tree_free(t);
		}
	}
	CHECK(memory.nhit > 9);
	CHECK_INT(dirty(r, "s/t/x.glsl", "a\nb\n"), 0);
	CHECK_INT(dirty(r, "s/t/x.glsl", "a\r\nb\r\n"), 1);
	CHECK_INT(dirty(r, "id.glsl", expanded), 0);
	repo_close(r);
	char *after = print_of("crlf");
	CHECK_STR(after, before);
	sh("crlf", "git checkout -q -f HEAD~1");
	r = open_at("crlf", NULL);
	CHECK_INT(dirty(r, "s/t/x.glsl", "a\r\nb\r\n"), 0);
	CHECK_INT(dirty(r, "s/t/x.glsl", "a\nb\n"), 0);
	CHECK_INT(dirty(r, "s/t/x.glsl", "a\nc\n"), 1);
	repo_close(r);
	free(after);
	free(before);
	free(ident);
	free(expanded);
	map_release(&memory.map);
}

static void test_kinds(void)
{
	struct err err = ERR_INIT;
	struct repo_commit c;
	struct repo *r = NULL;

	sh("main",
	    "git init -q -b main .; echo 1 >a; git add a; git commit -q -m one;"
	    " git tag -a -m note v2;"
	    " for i in 2 3 4; do echo $i >a; git commit -q -a -m $i; done");

	/* Linked work trees, with paths as newer gits write them. */
	sh("main",
	    "git worktree add -q -b wt ../wt; echo wt >../wt/a;"
	    " git -C ../wt commit -q -a -m wt;"
	    " cp .git/config config; git config core.repositoryformatversion 1;"
	    " printf '[extensions]\n\trelativeWorktrees = true\n\tworktreeConfig = true\n"
	    "\tpreciousObjects = true\n' >>.git/config;"
	    " echo 'gitdir: ../main/.git/worktrees/wt' >../wt/.git;"
	    " echo ../../../../wt/.git >.git/worktrees/wt/gitdir");
	CHECK_PEEK("wt", 1);
	CHECK_PEEK("main", 1);
	r = open_at("wt", NULL);
	char *path = path_of("wt");
	CHECK_STR(repo_workdir(r), path);
	free(path);
	CHECK_INT(repo_head(r, &c, &err), 0);
	CHECK_STR(c.branch, "wt");
	CHECK(strncmp(c.describe, "v2-4-g", 6) == 0);
	CHECK_INT(dirty(r, "a", "wt\n"), 0);
	repo_commit_release(&c);
	repo_close(r);
	r = open_at("main", NULL);
	CHECK_INT(dirty(r, "a", "4\n"), 0);
	repo_close(r);
	/* Shallow: the parent is named but not there. */
	sh("main",
	    "mv config .git/config; git clone -q --depth 2 \"file://$PWD\" ../shallow");
	r = open_at("shallow", NULL);
	CHECK_INT(repo_head(r, &c, &err), 0);
	CHECK_INT(strlen(c.describe), 7);
	CHECK(strncmp(c.describe, c.id, 7) == 0);
	repo_commit_release(&c);
	CHECK_INT(repo_resolve(r, "HEAD~1", &c, &err), 0);
	repo_commit_release(&c);
	CHECK_INT(repo_resolve(r, "HEAD~2", &c, &err), -1);
	CHECK_ERROR(&err, "shallow clone");
	struct tree *tree;
	path = ask("main", "git rev-parse HEAD~2");
	CHECK_INT(repo_tree(r, path, &tree, &err), -1);
	CHECK_ERROR(&err, "shallow clone");
	free(path);
	repo_close(r);

	/* Bare: itself or through .git, not from inside. */
	sh("main",
	    "git clone -q --bare \"$PWD\" ../bare.git; mkdir ../hub;"
	    " git clone -q --bare \"$PWD\" ../hub/.bare; echo 'gitdir: ./.bare' >../hub/.git");
	static const char *const bare[] = { "bare.git", "hub" };
	for (size_t i = 0; i < 2; i++) {
		r = open_at(bare[i], NULL);
		CHECK(repo_workdir(r) == NULL);
		CHECK_INT(repo_head(r, &c, &err), 0);
		CHECK_STR(c.branch, "main");
		repo_commit_release(&c);
		tree = tree_at(r, "HEAD~1");
		CHECK_TEXT(tree, "a", "3\n");
		tree_free(tree);
		repo_close(r);
	}
	path = path_of("bare.git/objects");
	CHECK_INT(repo_open(path, NULL, &r, &err), 0);
	CHECK(r == NULL);
	free(path);

	/* None, and what cannot be opened. */
	sh("none/sub", ":");
	path = path_of("none/sub");
	CHECK_INT(repo_open(path, NULL, &r, &err), 0);
	CHECK(r == NULL);
	free(path);
	path = path_of("not-there");
	CHECK_INT(repo_open(path, NULL, &r, &err), -1);
	CHECK_ERROR(&err, "cannot open");
	free(path);
	sh("broken/sub", "echo 'gitdir: /nowhere/.git/worktrees/x' >../.git");
	refuse("broken/sub", "does not lead to a git repository");
	CHECK_PEEK("broken/sub", 0);
	CHECK_PEEK("none/sub", 0);
	CHECK_PEEK("not-there", 0);
	sh("odd",
	    "git init -q .; git config core.repositoryformatversion 1;"
	    " git config extensions.fancy true");
	refuse("odd", "extension 'fancy'");
	sh("future", "git init -q .; git config core.repositoryformatversion 9");
	refuse("future", "version");
	if (system("git init -q --object-format=sha256 /tmp/stbuild-none-$$ 2>/dev/null"
		   " && rm -rf /tmp/stbuild-none-$$") == 0) {
		sh("sha256", "git init -q --object-format=sha256 .");
		refuse("sha256", "SHA-256");
		CHECK_PEEK("sha256", 0);
	}
	if (getuid() == 0) {
		sh("foreign", "git init -q .; chown -R 12345 .");
		refuse("foreign", "safe.directory");
		sh("foreign", "git config --global --add safe.directory \"$PWD\"");
		r = open_at("foreign", NULL);
		repo_close(r);
	}
	repo_close(NULL);
}

int main(void)
{
	if (system("git --version >/dev/null 2>&1") != 0) {
		puts("skipped: no git");
		return 77;
	}
	if (!mkdtemp(top)) {
		perror(top);
		return 1;
	}
	/* Nothing of the machine's own settings. */
	setenv("HOME", top, 1);
	setenv("XDG_CONFIG_HOME", top, 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	setenv("GIT_AUTHOR_NAME", "A", 1);
	setenv("GIT_AUTHOR_EMAIL", "a@example.org", 1);
	setenv("GIT_COMMITTER_NAME", "C", 1);
	setenv("GIT_COMMITTER_EMAIL", "c@example.org", 1);
	unsetenv("GIT_DIR");
	unsetenv("GIT_WORK_TREE");
	unsetenv("GIT_INDEX_FILE");
	test_head();
	test_tags();
	test_tree();
	test_filters();
	test_kinds();
	struct err err = ERR_INIT;
	CHECK(fs_remove(top, &err) == 0);
	err_release(&err);
	return test_done();
}
