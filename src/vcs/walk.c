#include "vcs/walk.h"

#include <string.h>

#include "repo_impl.h"
#include "util/buf.h"
#include "util/map.h"
#include "util/mem.h"

#define DAY_S 86400
#define CHANGES_MAX 1000 /* a vendored tree's import has no end */

/* A commit while the walk is made. */
struct seen {
	git_oid id;
	git_time_t time;
	size_t parent, nparent; /* range of links[] */
	size_t nchild;          /* not yet given out */
	int is_read, is_reached, is_hidden, is_cut;
};

struct links { /* indices of seen[] */
	size_t *to;
	size_t n, cap;
};

struct walker {
	struct repo *repo;
	int first_parent, is_cut;
	struct commit_info info; /* the last */
	struct seen *seen;
	size_t nseen, cap;
	struct map index; /* id -> index of seen[] */
	struct links links;
	size_t *heap; /* ready to be given out, newest on top */
	size_t nheap;
};

static size_t see(struct walker *w, const git_oid *id)
{
	size_t i = map_get(&w->index, id->id, GIT_OID_RAWSZ);
	if (i != MAP_NONE)
		return i;
	w->seen = array_grow(w->seen, w->nseen, &w->cap, sizeof *w->seen);
	i = w->nseen++;
	w->seen[i] = (struct seen){ .id = *id };
	map_put(&w->index, id->id, GIT_OID_RAWSZ, i);
	return i;
}

/* Reads a commit's time and parents. Those that a shallow clone lacks are none. */
static int read_commit(struct walker *w, size_t at, int all_parents, struct err *err)
{
	git_oid id = w->seen[at].id;
	struct commit_info *c = &w->info;
	if (repo_read_commit(w->repo, &id, c, err) < 0)
		return -1;
	size_t n = w->first_parent && !all_parents && c->nparent > 1 ? 1 : c->nparent;
	size_t first = w->links.n;
	for (size_t i = 0; i < n; i++) {
		size_t p = see(w, &c->parent[i]);
		w->links.to = array_grow(w->links.to, w->links.n, &w->links.cap,
		    sizeof *w->links.to);
		w->links.to[w->links.n++] = p;
	}
	w->is_cut |= c->is_cut;
	w->seen[at].is_cut = c->is_cut;
	w->seen[at].is_read = 1;
	w->seen[at].time = c->time;
	w->seen[at].parent = first;
	w->seen[at].nparent = n;
	return 0;
}

/* All of a commit's history: hidden, or (what is not hidden) to be shown. */
static int reach(struct walker *w, const git_oid *tip, int is_hidden, struct err *err)
{
	struct links todo = { NULL, 0, 0 };
	int rc = 0;
	todo.to = array_grow(todo.to, todo.n, &todo.cap, sizeof *todo.to);
	todo.to[todo.n++] = see(w, tip);
	while (todo.n && !rc) {
		size_t at = todo.to[--todo.n];
		if (w->seen[at].is_reached)
			continue;
		rc = read_commit(w, at, is_hidden, err);
		w->seen[at].is_reached = 1;
		w->seen[at].is_hidden = is_hidden;
		for (size_t i = 0; i < w->seen[at].nparent; i++) {
			size_t p = w->links.to[w->seen[at].parent + i];
			if (w->seen[p].is_reached)
				continue;
			todo.to = array_grow(todo.to, todo.n, &todo.cap, sizeof *todo.to);
			todo.to[todo.n++] = p;
		}
	}
	free(todo.to);
	return rc;
}

static void heap_add(struct walker *w, size_t at);
static size_t heap_take(struct walker *w);

/*
 * As much of a history as its newest max commits take: newest first, and a day
 * more, in case that clocks were wrong.
 */
static int reach_newest(struct walker *w, const git_oid *tip, size_t max, struct err *err)
{
	size_t cap = 0, n = 0;
	git_time_t oldest = 0;
	int rc = read_commit(w, see(w, tip), 0, err);
	w->heap = array_grow(w->heap, 0, &cap, sizeof *w->heap);
	if (rc == 0)
		heap_add(w, see(w, tip));
	while (w->nheap && rc == 0) {
		size_t at = heap_take(w);
		if (n++ >= max && w->seen[at].time < oldest - DAY_S)
			break;
		if (n == 1 || (n <= max && w->seen[at].time < oldest))
			oldest = w->seen[at].time;
		w->seen[at].is_reached = 1;
		for (size_t i = 0; i < w->seen[at].nparent && rc == 0; i++) {
			size_t p = w->links.to[w->seen[at].parent + i];
			if (w->seen[p].is_read)
				continue;
			rc = read_commit(w, p, 0, err);
			while (w->nheap >= cap)
				w->heap = array_grow(w->heap, cap, &cap, sizeof *w->heap);
			if (rc == 0)
				heap_add(w, p);
		}
	}
	/* What was not reached is as if it were not there. */
	for (size_t i = 0; i < w->nseen; i++)
		w->seen[i].is_hidden = !w->seen[i].is_reached;
	free(w->heap);
	w->heap = NULL;
	w->nheap = 0;
	return rc;
}

/* Newer, or as new and seen earlier. */
static int is_before(const struct walker *w, size_t a, size_t b)
{
	const struct seen *x = &w->seen[a], *y = &w->seen[b];
	return x->time != y->time ? x->time > y->time : a < b;
}

static void heap_add(struct walker *w, size_t at)
{
	size_t i = w->nheap++;
	while (i > 0 && is_before(w, at, w->heap[(i - 1) / 2])) {
		w->heap[i] = w->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	w->heap[i] = at;
}

static size_t heap_take(struct walker *w)
{
	size_t top = w->heap[0], last = w->heap[--w->nheap], i = 0;
	for (;;) {
		size_t k = 2 * i + 1;
		if (k >= w->nheap)
			break;
		if (k + 1 < w->nheap && is_before(w, w->heap[k + 1], w->heap[k]))
			k++;
		if (!is_before(w, w->heap[k], last))
			break;
		w->heap[i] = w->heap[k];
		i = k;
	}
	w->heap[i] = last;
	return top;
}

/* Gives out what is not hidden, each behind its children. */
static void sort(struct walker *w, size_t tip, size_t max, struct walk *out)
{
	int *given = xcalloc(w->nseen + 1, sizeof *given);
	w->heap = xcalloc(w->nseen + 1, sizeof *w->heap);
	for (size_t i = 0; i < w->nseen; i++)
		for (size_t k = 0; k < w->seen[i].nparent && !w->seen[i].is_hidden; k++)
			w->seen[w->links.to[w->seen[i].parent + k]].nchild++;
	if (!w->seen[tip].is_hidden)
		heap_add(w, tip);
	while (w->nheap && (!max || out->ncommit < max)) {
		size_t at = heap_take(w);
		out->commit =
		    array_grow(out->commit, out->ncommit, &out->cap, sizeof *out->commit);
		struct walk_commit *c = &out->commit[out->ncommit++];
		*c = (struct walk_commit){ .parent = 0 };
		git_oid_tostr(c->id, sizeof c->id, &w->seen[at].id);
		given[at] = (int)out->ncommit;
		for (size_t k = 0; k < w->seen[at].nparent; k++) {
			size_t p = w->links.to[w->seen[at].parent + k];
			if (!w->seen[p].is_hidden && --w->seen[p].nchild == 0)
				heap_add(w, p);
		}
	}
	/* Parents, now that all have their numbers. */
	for (size_t i = 0; i < out->ncommit; i++) {
		git_oid id;
		struct walk_commit *c = &out->commit[i];
		git_oid_fromstr(&id, c->id);
		size_t at = see(w, &id);
		const struct seen *s = &w->seen[at];
		c->parent = out->nparent;
		c->is_cut = s->is_cut;
		if (s->nparent)
			git_oid_tostr(c->before, sizeof c->before,
			    &w->seen[w->links.to[s->parent]].id);
		for (size_t k = 0; k < s->nparent; k++) {
			int p = given[w->links.to[s->parent + k]];
			if (!p)
				continue;
			out->parent = array_grow(out->parent, out->nparent,
			    &out->parent_cap, sizeof *out->parent);
			out->parent[out->nparent++] = p - 1;
			c->nparent++;
		}
	}
	free(given);
}

int walk_is_range(const char *text)
{
	return strstr(text, "..") != NULL;
}

/* "" stands for HEAD. */
static int resolve(struct repo *r, const char *rev, git_oid *out, struct err *err)
{
	return repo_find_commit(r, *rev ? rev : "HEAD", out, err);
}

static void release_walker(struct walker *w)
{
	free(w->seen);
	free(w->links.to);
	free(w->heap);
	map_release(&w->index);
	commit_info_release(&w->info);
}

int walk_open(struct repo *r, const struct walk_options *o, struct walk *out,
    struct err *err)
{
	int rc = -1;
	git_oid tip, base;
	struct walker w = { .repo = r, .first_parent = o->first_parent };
	const char *range = o->range ? o->range : "HEAD";
	const char *dots = strstr(range, "..");
	char *from = dots ? xstrndup(range, (size_t)(dots - range)) : NULL;

	*out = (struct walk){ 0 };
	if (dots && strstr(dots + 2, "..")) {
		err_set(err, STATUS_INPUT, "'%s' is not a range: A..B has two dots",
		    range);
		goto out;
	}
	if (dots && dots[2] == '.') {
		err_set(err, STATUS_INPUT,
		    "'%s': ranges have two dots here, as in "
		    "A..B",
		    range);
		goto out;
	}
	if (resolve(r, dots ? dots + 2 : range, &tip, err) < 0)
		goto out;
	if (dots && (resolve(r, from, &base, err) < 0 || reach(&w, &base, 1, err) < 0))
		goto out;
	if ((o->max && !dots ? reach_newest(&w, &tip, o->max, err)
			     : reach(&w, &tip, 0, err)) < 0)
		goto out;
	sort(&w, see(&w, &tip), o->max, out);
	out->is_cut = w.is_cut;
	rc = 0;
out:
	free(from);
	release_walker(&w);
	return rc;
}

void walk_release(struct walk *w)
{
	free(w->commit);
	free(w->parent);
	*w = (struct walk){ 0 };
}

int walk_first_parent(struct repo *r, const char *id, char parent[41], struct err *err)
{
	git_oid oid;
	struct commit_info info = { .nparent = 0 };
	if (repo_parse_id(id, &oid, err) < 0 || repo_read_commit(r, &oid, &info, err) < 0)
		return -1;
	parent[0] = '\0';
	if (info.nparent)
		git_oid_tostr(parent, 41, &info.parent[0]);
	commit_info_release(&info);
	return 0;
}

/*
 * The best common ancestors: what both reach, and no other such commit does.
 * What both reach goes down to the roots, so those without a child in it.
 */
int walk_merge_bases(struct repo *r, const char *a, const char *b,
    struct merge_bases *out, struct err *err)
{
	struct walker w = { .repo = r };
	const char *const end[2] = { a, b };
	unsigned char *reached = NULL;
	size_t *todo = NULL;
	int rc = -1;

	*out = (struct merge_bases){ 0 };
	for (int k = 0; k < 2; k++) {
		git_oid id;
		if (repo_parse_id(end[k], &id, err) < 0 || reach(&w, &id, 0, err) < 0)
			goto out;
	}
	reached = xcalloc(w.nseen + 1, 1);
	todo = xcalloc(w.links.n + 2, sizeof *todo);
	for (int k = 0; k < 2; k++) {
		git_oid id;
		size_t n = 0;
		unsigned char bit = (unsigned char)(1 << k);
		git_oid_fromstr(&id, end[k]);
		todo[n++] = see(&w, &id);
		while (n) {
			size_t at = todo[--n];
			if (reached[at] & bit)
				continue;
			reached[at] |= bit;
			for (size_t i = 0; i < w.seen[at].nparent; i++)
				todo[n++] = w.links.to[w.seen[at].parent + i];
		}
	}
	for (size_t i = 0; i < w.nseen; i++)
		for (size_t k = 0; k < w.seen[i].nparent && reached[i] >= 3; k++)
			reached[w.links.to[w.seen[i].parent + k]] |= 4;
	for (size_t i = 0; i < w.nseen; i++) {
		if (reached[i] != 3)
			continue;
		out->id = xreallocarray(out->id, out->nid + 1, sizeof *out->id);
		git_oid_tostr(out->id[out->nid++], sizeof *out->id, &w.seen[i].id);
	}
	out->is_cut = w.is_cut;
	rc = 0;
out:
	free(reached);
	free(todo);
	release_walker(&w);
	return rc;
}

void merge_bases_release(struct merge_bases *b)
{
	free(b->id);
	*b = (struct merge_bases){ 0 };
}

static int add_change(const git_diff_delta *delta, float progress, void *data)
{
	static const char letter[] = {
		[GIT_DELTA_ADDED] = 'A',
		[GIT_DELTA_DELETED] = 'D',
		[GIT_DELTA_MODIFIED] = 'M',
		[GIT_DELTA_RENAMED] = 'R',
		[GIT_DELTA_TYPECHANGE] = 'T',
	};
	struct walk_details *d = data;
	char how = delta->status < sizeof letter ? letter[delta->status] : 0;
	(void)progress;
	if (!how || d->nchange == CHANGES_MAX)
		return 0;
	d->change = xreallocarray(d->change, d->nchange + 1, sizeof *d->change);
	d->change[d->nchange++] =
	    (struct walk_change){ how, repo_clean_text(delta->new_file.path) };
	return 0;
}

static int find_changes(struct repo *r, const git_oid *id, struct walk_details *out,
    struct err *err)
{
	git_tree *now = NULL, *before = NULL;
	struct commit_info commit = { .nparent = 0 }, parent = { .nparent = 0 };
	git_diff *diff = NULL;
	int rc = -1;
	if (repo_read_commit(r, id, &commit, err) < 0 ||
	    (commit.nparent && repo_read_commit(r, commit.parent, &parent, err) < 0))
		goto out;
	if ((commit.nparent &&
		git_tree_lookup(&before, r->git, repo_replaced(r, &parent.tree)) < 0) ||
	    git_tree_lookup(&now, r->git, repo_replaced(r, &commit.tree)) < 0 ||
	    git_diff_tree_to_tree(&diff, r->bare, before, now, NULL) < 0 ||
	    git_diff_foreach(diff, add_change, NULL, NULL, NULL, out) < 0)
		goto fail;
	rc = 0;
	goto out;
fail:
	view_fail(err, STATUS_MACHINE, "cannot tell what commit %s changed",
	    git_oid_tostr_s(id));
out:
	git_diff_free(diff);
	git_tree_free(now);
	git_tree_free(before);
	commit_info_release(&commit);
	commit_info_release(&parent);
	return rc;
}

int walk_details(struct repo *r, const char *id, int with_changes,
    struct walk_details *out, struct err *err)
{
	git_oid oid;
	git_commit *commit = NULL;
	*out = (struct walk_details){ 0 };
	if (repo_parse_id(id, &oid, err) < 0)
		return -1;
	if (repo_lookup_commit(r, &oid, &commit, err) < 0)
		return -1;
	const git_signature *who = git_commit_author(commit);
	const char *summary = git_commit_summary(commit);
	const char *message = git_commit_message(commit);
	char *author = xasprintf("%s <%s>", who->name, who->email);
	out->author = repo_clean_text(author);
	out->date = repo_iso8601(who->when.time, who->when.offset);
	out->summary = repo_clean_text(summary ? summary : "");
	out->message = repo_clean_text(message ? message : "");
	free(author);
	int rc = with_changes ? find_changes(r, &oid, out, err) : 0;
	git_commit_free(commit);
	return rc;
}

char *walk_summary(struct repo *r, const char *id, struct err *err)
{
	git_oid oid;
	return repo_parse_id(id, &oid, err) < 0 ? NULL : repo_read_summary(r, &oid, err);
}

void walk_details_release(struct walk_details *d)
{
	free(d->author);
	free(d->date);
	free(d->summary);
	free(d->message);
	for (size_t i = 0; i < d->nchange; i++)
		free(d->change[i].path);
	free(d->change);
	*d = (struct walk_details){ 0 };
}
