/* Walks against git rev-list; the search for a bad commit against all of them. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "util/buf.h"
#include "util/mem.h"
#include "util/tree.h"
#include "vcs/paths.h"
#include "vcs/walk.h"

static char top[] = "/tmp/stbuild-walk-XXXXXX";
static unsigned long long state = 1;

static unsigned random_below(unsigned n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(state >> 33) % n;
}

__attribute__((format(printf, 1, 2))) static int sh(const char *fmt, ...)
{
	struct buf script = BUF_INIT;
	va_list ap;
	buf_addf(&script, "set -e; export GIT_CONFIG_GLOBAL=/dev/null; cd '%s'; ", top);
	va_start(ap, fmt);
	buf_vaddf(&script, fmt, ap);
	va_end(ap);
	int status = system(buf_str(&script));
	if (status)
		fprintf(stderr, "status %d: %s\n", status, buf_str(&script));
	buf_release(&script);
	return CHECK(status == 0);
}

/* A graph of n commits with some merges and clocks that are not always right. */
static void make_history(int n)
{
	char *path = xasprintf("%s/stream", top);
	FILE *f = fopen(path, "w");
	if (!CHECK(f != NULL))
		exit(1);
	for (int i = 1; i <= n; i++) {
		int parent = i > 1 ? i - 1 - (int)random_below(i > 6 ? 5 : 1) : 0;
		int other =
		    i > 8 && random_below(4) == 0 ? i - 1 - (int)random_below(7) : 0;
		fprintf(f,
		    "commit refs/heads/c%d\nmark :%d\ncommitter A <a@b> %d "
		    "+0000\ndata 1\nx\n",
		    i, i, 1700000000 + i * 60 - (int)random_below(300));
		if (parent)
			fprintf(f, "from :%d\n", parent);
		if (other && other != parent)
			fprintf(f, "merge :%d\n", other);
		fprintf(f, "M 100644 inline n\ndata <<E\n%d\nE\n\n", i);
	}
	fclose(f);
	free(path);
	sh("git init -q -b c%d r; cd r; git fast-import --quiet <../stream", n);
}

static struct repo *open_repo(const char *name)
{
	struct err err = ERR_INIT;
	struct repo *r = NULL;
	char *path = xasprintf("%s/%s", top, name);
	if (!CHECK(repo_open(path, NULL, &r, &err) == 0 && r))
		exit(1);
	free(path);
	return r;
}

/* Index of a commit, or -1. */
static int index_of(const struct walk *w, const char *id)
{
	for (size_t i = 0; i < w->ncommit; i++)
		if (strcmp(w->commit[i].id, id) == 0)
			return (int)i;
	return -1;
}

/* The same commits in the same order as git gives, with the same parents. */
static void check_walk(const char *repo, const char *range, int first_parent, size_t max)
{
	struct err err = ERR_INIT;
	struct walk walk;
	struct walk_options o = { range, first_parent, max };
	struct repo *r = open_repo(repo);
	char *command = NULL, *limit = max ? xasprintf("-n %zu", max) : xstrdup("");
	char line[8192];
	size_t n = 0;

	if (!CHECK(walk_open(r, &o, &walk, &err) == 0))
		fprintf(stderr, "\t%s\n", err.message);
	command = xasprintf("cd '%s/%s' && git rev-list --date-order --parents %s %s %s",
	    top, repo, first_parent ? "--first-parent" : "", limit, range);
	FILE *f = popen(command, "r");
	while (f && fgets(line, sizeof line, f)) {
		char *save = NULL, *id = strtok_r(line, " \n", &save), *parent;
		if (!CHECK(n < walk.ncommit))
			break;
		const struct walk_commit *c = &walk.commit[n++];
		CHECK_STR(c->id, id);
		CHECK_INT(index_of(&walk, id), n - 1);
		/* Of parents we have those in the walk. */
		size_t k = 0, nth = 0;
		while ((parent = strtok_r(NULL, " \n", &save))) {
			if (nth++ == 0)
				CHECK_STR(c->before, parent);
			if (first_parent && nth > 1)
				break;
			if (index_of(&walk, parent) < 0)
				continue;
			CHECK(k < c->nparent);
			CHECK_STR(walk.commit[walk.parent[c->parent + k]].id, parent);
			k++;
		}
		CHECK_INT(k, c->nparent);
	}
	CHECK(f && pclose(f) == 0);
	CHECK_INT(n, walk.ncommit);
	walk_release(&walk);
	repo_close(r);
	err_release(&err);
	free(command);
	free(limit);
}

/* Commits behind one, itself included. */
static void mark_behind(const struct walk *w, size_t at, unsigned char *mark)
{
	memset(mark, 0, w->ncommit);
	mark[at] = 1;
	for (size_t i = at; i < w->ncommit; i++)
		for (size_t k = 0; mark[i] && k < w->commit[i].nparent; k++)
			mark[w->parent[w->commit[i].parent + k]] = 1;
}

/*
 * Looks for first, with every skip_each-th class that cannot be judged. Returns
 * how many judgements it took.
 */
static int check_search(const struct walk *w, const int *class, size_t nclass,
    size_t first, int skip_each)
{
	struct bisect b;
	unsigned char *behind = xcalloc(w->ncommit, 1);
	int i, n = 0;
	bisect_init(&b, w, class, nclass);
	int limit = bisect_left(&b) + 3;
	while ((i = bisect_next(&b)) >= 0 && n < 10000) {
		enum verdict v = VERDICT_GOOD;
		CHECK(b.is_suspect[i] && i != b.bad);
		mark_behind(w, (size_t)i, behind);
		if (behind[first])
			v = VERDICT_BAD;
		if (skip_each && class[i] % skip_each == 1)
			v = VERDICT_SKIP;
		bisect_judge(&b, class[i], v);
		n++;
	}
	CHECK(b.is_suspect[first]);
	if (skip_each) {
		/* What is left but the bad one are skips. */
		for (size_t k = 0; k < w->ncommit; k++)
			CHECK(!b.is_suspect[k] || (int)k == b.bad ||
			    class[k] % skip_each == 1);
	} else {
		CHECK_INT(b.nsuspect, 1);
		CHECK_INT(b.bad, first);
		CHECK(n <= limit);
	}
	bisect_release(&b);
	free(behind);
	return n;
}

static void test_search(const char *range)
{
	struct err err = ERR_INIT;
	struct walk w;
	struct walk_options o = { .range = range };
	struct repo *r = open_repo("r");
	CHECK(walk_open(r, &o, &w, &err) == 0);
	int *class = xcalloc(w.ncommit, sizeof *class);
	for (size_t i = 0; i < w.ncommit; i++)
		class[i] = (int)i;
	for (size_t first = 0; first < w.ncommit; first++) {
		check_search(&w, class, w.ncommit, first, 0);
		check_search(&w, class, w.ncommit, first, 5);
	}
	free(class);
	walk_release(&w);
	repo_close(r);
}

/* A line of n commits whose classes are blocks: a class costs one judgement. */
static void test_classes(void)
{
	enum { N = 1000, BLOCK = 100 };
	struct walk w = { .ncommit = N };
	int class[N];
	w.commit = xcalloc(N, sizeof *w.commit);
	w.parent = xcalloc(N, sizeof *w.parent);
	for (int i = 0; i < N; i++) {
		w.commit[i].parent = (size_t)i;
		w.commit[i].nparent = i < N - 1;
		w.parent[i] = i + 1;
		class[i] = (N - 1 - i) / BLOCK;
	}
	for (int block = 1; block < N / BLOCK; block++)
		CHECK(check_search(&w, class, N / BLOCK, (size_t)(N - 1 - block * BLOCK),
			  0) <= 4);
	/* A class met again behind its end is judged with the rest of it. */
	for (int i = 0; i < N; i++)
		class[i] = i % 2 ? 1 : i < 500 ? 0 : 2;
	struct bisect b;
	bisect_init(&b, &w, class, 3);
	bisect_judge(&b, 1, VERDICT_GOOD);
	CHECK_INT(b.nsuspect, 1);
	CHECK_INT(b.bad, 0);
	bisect_release(&b);
	walk_release(&w);
}

static void test_faults(void)
{
	static const char *const wrong[] = { "nothing", "c1..nothing", "c1...c9",
		"c1..c2..c3" };
	struct repo *r = open_repo("r");
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct err err = ERR_INIT;
		struct walk w;
		struct walk_options o = { .range = wrong[i] };
		CHECK(walk_open(r, &o, &w, &err) < 0);
		CHECK_INT(err.status, STATUS_INPUT);
		err_release(&err);
		walk_release(&w);
	}
	repo_close(r);
}

static void test_shallow(void)
{
	struct err err = ERR_INIT;
	struct walk w;
	struct walk_options o = { .range = NULL };
	sh("git clone -q --depth 3 file://$PWD/r shallow");
	struct repo *r = open_repo("shallow");
	CHECK(walk_open(r, &o, &w, &err) == 0);
	CHECK(w.is_cut);
	CHECK(w.ncommit >= 3);
	walk_release(&w);
	repo_close(r);
	/* At any depth, and where only the file says that history ends. */
	for (int depth = 1; depth < 30; depth += 4) {
		sh("git clone -q --depth %d file://$PWD/r deep%d", depth, depth);
		char *name = xasprintf("deep%d", depth);
		check_walk(name, "HEAD", 0, 0);
		check_walk(name, "HEAD", 1, 0);
		free(name);
	}
	sh("git clone -q r cut; cd cut; git rev-parse HEAD~3 >.git/shallow");
	check_walk("cut", "HEAD", 0, 0);
	check_walk("cut", "HEAD~2..HEAD", 0, 0);
}

/* The bases that git finds, as a sorted list; ours to compare. */
static void check_bases(const char *repo, const char *a, const char *b)
{
	struct err err = ERR_INIT;
	struct repo_commit one, two;
	struct merge_bases bases;
	struct repo *r = open_repo(repo);
	char line[64];
	size_t n = 0;
	CHECK(repo_resolve(r, a, &one, &err) == 0);
	CHECK(repo_resolve(r, b, &two, &err) == 0);
	CHECK(walk_merge_bases(r, one.id, two.id, &bases, &err) == 0);
	char *command =
	    xasprintf("cd '%s/%s' && git merge-base --all %s %s || :", top, repo, a, b);
	FILE *f = popen(command, "r");
	while (f && fgets(line, sizeof line, f)) {
		size_t i = 0;
		line[strcspn(line, "\n")] = '\0';
		while (i < bases.nid && strcmp(bases.id[i], line) != 0)
			i++;
		CHECK(i < bases.nid);
		n++;
	}
	CHECK(f && pclose(f) == 0);
	CHECK_INT(bases.nid, n);
	merge_bases_release(&bases);
	repo_commit_release(&one);
	repo_commit_release(&two);
	repo_close(r);
	free(command);
}

static void test_bases(void)
{
	for (int i = 0; i < 40; i++) {
		char *a = xasprintf("c%u", 60 + random_below(60));
		char *b = xasprintf("c%u", 60 + random_below(60));
		check_bases("r", a, b);
		free(a);
		free(b);
	}
	/* Each side merges the other's first commit. */
	sh("git init -q -b main cross; cd cross; git config user.name a;"
	   " git config user.email a@b; c() { git commit -q --allow-empty -m $1;"
	   " git tag $1; }; c root; c m1; git checkout -qb side root; c s1;"
	   " git checkout -q main; git merge -q -m m2 s1; c m3;"
	   " git checkout -q side; git merge -q -m s2 m1; c s3");
	check_bases("cross", "m3", "s3");
	check_bases("cross", "m3", "m1");
	sh("cd cross; git checkout -q --orphan other; git commit -q --allow-empty"
	   " -m other");
	check_bases("cross", "other", "main");
}

/* git replace: another history, and other files, under the same ids. */
static void test_replaced(void)
{
	struct err err = ERR_INIT;
	struct tree *tree;
	struct repo_commit c;
	struct sha256 sha, want;
	sh("git init -q -b main rep; cd rep; git config user.name a; git config"
	   " user.email a@b; for i in 1 2 3 4 5; do echo $i >f; git add f;"
	   " git commit -qm $i; done; git replace --graft HEAD~1 HEAD~3;"
	   " git replace HEAD:f HEAD~4:f");
	check_walk("rep", "HEAD", 0, 0);
	check_bases("rep", "HEAD", "HEAD~1");
	struct repo *r = open_repo("rep");
	CHECK(repo_resolve(r, "HEAD", &c, &err) == 0);
	CHECK(repo_tree(r, c.id, &tree, &err) == 0);
	CHECK(tree_hash(tree, "f", &sha, &err) == 0);
	sha256_of("1\n", 2, &want);
	CHECK(sha256_equal(&sha, &want));
	tree_free(tree);
	repo_commit_release(&c);
	repo_close(r);
	/* Where git is told not to, neither do we. */
	sh("cd rep; git config core.useReplaceRefs false");
	check_walk("rep", "HEAD", 0, 0);
}

static int same(struct paths *p, const char *a, const char *b, struct repo *r)
{
	struct err err = ERR_INIT;
	struct repo_commit one, two;
	struct sha256 x, y;
	CHECK(repo_resolve(r, a, &one, &err) == 0);
	CHECK(repo_resolve(r, b, &two, &err) == 0);
	CHECK(paths_hash(p, one.id, &x, &err) == 0);
	CHECK(paths_hash(p, two.id, &y, &err) == 0);
	repo_commit_release(&one);
	repo_commit_release(&two);
	return sha256_equal(&x, &y);
}

static void test_paths(void)
{
	static const char *const path[] = { "a.frag", "lib/b.glsl", "absent", "link/c" };
	sh("git init -q -b main p; cd p; git config user.name a; git config user.email"
	   " a@b; mkdir -p s/lib s/real; cd s; echo 1 >a.frag; echo 1 >lib/b.glsl;"
	   " echo 1 >real/c; ln -s real link;"
	   " c() { git add -A ..; git commit -qm \"$1\"; git tag \"$1\"; };"
	   " c start; echo 1 >doc; echo 2 >lib/doc; c doc;"
	   " echo 2 >lib/b.glsl; c lib; echo 1 >absent; c absent;"
	   " echo 2 >real/c; c link; echo '* text' >../.gitattributes; c attributes;"
	   " git rm -q absent; echo 1 >lib/b.glsl; echo 1 >real/c;"
	   " git rm -q ../.gitattributes; c back");
	struct repo *r = open_repo("p/s");
	struct paths *p = paths_new(r, path, 4);
	CHECK(same(p, "start", "doc", r));
	CHECK(!same(p, "doc", "lib", r));
	CHECK(!same(p, "lib", "absent", r));
	CHECK(!same(p, "absent", "link", r));
	CHECK(!same(p, "link", "attributes", r));
	CHECK(same(p, "start", "back", r));
	paths_free(p);
	/* The whole folder, documents included. */
	static const char *const all[] = { "" };
	p = paths_new(r, all, 1);
	CHECK(!same(p, "start", "doc", r));
	CHECK(same(p, "doc", "doc", r));
	paths_free(p);
	repo_close(r);
}

/* Each of many paths counts. */
static void test_many_paths(void)
{
	enum { N = 40 };
	char *path[N];
	sh("git init -q -b main m; cd m; git config user.name a; git config"
	   " user.email a@b; for i in $(seq 0 %d); do echo 0 >f$i; done;"
	   " git add .; git commit -qm 0; for i in $(seq 0 %d); do echo 1 >f$i;"
	   " git commit -qam $i; done",
	    N - 1, N - 1);
	for (int i = 0; i < N; i++)
		path[i] = xasprintf("f%d", i);
	struct repo *r = open_repo("m");
	struct paths *p = paths_new(r, (const char *const *)path, N);
	for (int i = 0; i < N; i++) {
		char *a = xasprintf("HEAD~%d", i), *b = xasprintf("HEAD~%d", i + 1);
		CHECK(!same(p, a, b, r));
		free(a);
		free(b);
		free(path[i]);
	}
	paths_free(p);
	repo_close(r);
}

int main(void)
{
	if (system("git --version >/dev/null 2>&1") != 0)
		return test_skip("git is not installed");
	if (!mkdtemp(top))
		return 1;
	make_history(120);
	check_walk("r", "c120", 0, 0);
	check_walk("r", "c120", 1, 0);
	check_walk("r", "c120", 0, 7);
	check_walk("r", "c40..c120", 0, 0);
	check_walk("r", "c40..c120", 1, 0);
	check_walk("r", "c120..c40", 0, 0);
	check_walk("r", "c100..", 0, 0);
	test_search("c120");
	test_search("c30..c110");
	test_classes();
	test_faults();
	test_shallow();
	test_bases();
	test_replaced();
	test_paths();
	test_many_paths();
	sh("rm -rf '%s'", top);
	return test_done();
}
