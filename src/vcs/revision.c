#include "vcs/repo.h"

#include <ctype.h>
#include <limits.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "repo_impl.h"
#include "util/buf.h"
#include "util/mem.h"

/*
 * gitrevisions(7), of which libgit2 knows the names. What stands behind a name
 * is ours: libgit2 takes HEAD@{1} for the branch's, REV^@ for one commit, and
 * follows parents that a shallow clone does not have.
 */

struct revision {
	struct repo *repo;
	const char *text; /* as given */
	struct err *err;
};

static int refuse(const struct revision *v, const char *why)
{
	return err_set(v->err, STATUS_INPUT, "'%s' %s", v->text, why);
}

/* Searching messages -------------------------------------------------------------- */

struct found {
	git_oid id;
	git_time_t time;
	size_t order;
};

struct search {
	struct repo *repo;
	struct map seen; /* of all that is reachable */
	struct found *found;
	size_t nfound, cap;
};

static void add(struct search *s, const git_oid *id)
{
	if (!map_put(&s->seen, id->id, GIT_OID_RAWSZ, s->nfound))
		return;
	s->found = array_grow(s->found, s->nfound, &s->cap, sizeof *s->found);
	s->found[s->nfound] = (struct found){ .id = *id, .order = s->nfound };
	s->nfound++;
}

static int is_younger(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	if (x->time != y->time)
		return x->time < y->time ? 1 : -1;
	return (x->order > y->order) - (x->order < y->order);
}

/* The youngest commit reachable from those added whose message matches. */
static int find_message(const struct revision *v, struct search *s, const char *pattern,
    git_object **out)
{
	struct commit_info info = { .nparent = 0 };
	regex_t regex;
	int rc = 0, is_negative = 0;

	*out = NULL;
	if (pattern[0] == '!') {
		if (pattern[1] != '-' && pattern[1] != '!')
			return refuse(v,
			    "begins its text with '!', which git "
			    "reserves ('!!' stands for one)");
		is_negative = pattern[1] == '-';
		pattern += is_negative ? 2 : 1;
	}
	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB))
		return refuse(v, "contains an invalid regular expression");
	for (size_t i = 0; i < s->nfound && rc == 0; i++) {
		rc = repo_read_commit(v->repo, &s->found[i].id, &info, v->err);
		s->found[i].time = info.time;
		for (size_t k = 0; k < info.nparent && rc == 0; k++)
			add(s, &info.parent[k]);
	}
	if (s->nfound)
		qsort(s->found, s->nfound, sizeof *s->found, is_younger);
	for (size_t i = 0; i < s->nfound && rc == 0 && !*out; i++) {
		git_commit *commit;
		rc = repo_lookup_commit(v->repo, &s->found[i].id, &commit, v->err);
		if (rc)
			break;
		const char *message = git_commit_message(commit);
		int is_match = !regexec(&regex, message ? message : "", 0, NULL, 0);
		git_commit_free(commit);
		if (is_match != is_negative &&
		    git_object_lookup(out, v->repo->git, &s->found[i].id,
			GIT_OBJECT_COMMIT) < 0)
			rc = repo_missing(v->repo, v->err, "commit", &s->found[i].id);
	}
	regfree(&regex);
	commit_info_release(&info);
	if (rc == 0 && !*out)
		rc = refuse(v, "matches the message of no commit");
	return rc;
}

static void release_search(struct search *s)
{
	map_release(&s->seen);
	free(s->found);
}

static int add_ref(git_reference *ref, void *data)
{
	struct search *s = data;
	git_object *commit;
	if (git_reference_peel(&commit, ref, GIT_OBJECT_COMMIT) == 0) {
		add(s, git_object_id(commit));
		git_object_free(commit);
	}
	git_reference_free(ref);
	return 0;
}

/* ":/text": of all refs, and HEAD. */
static int find_anywhere(const struct revision *v, const char *pattern, git_object **out)
{
	struct search s = { .repo = v->repo };
	git_reference *head;
	if (git_repository_head(&head, v->repo->git) == 0)
		add_ref(head, &s);
	if (git_reference_foreach(v->repo->git, add_ref, &s) < 0) {
		release_search(&s);
		return view_fail(v->err, STATUS_MACHINE, "cannot read git's refs");
	}
	int rc = find_message(v, &s, pattern, out);
	release_search(&s);
	return rc;
}

/* Names --------------------------------------------------------------------------- */

/* HEAD@{N}: where HEAD itself was, whatever branch it was on. */
static int find_in_reflog(const struct revision *v, const char *number, git_object **out)
{
	git_reflog *log;
	git_oid id;
	char *end;
	unsigned long n = strtoul(number, &end, 10);
	if (*end != '}' || end[1])
		return refuse(v,
		    "asks HEAD's reflog by a date; only numbers are "
		    "known there, as in HEAD@{1}");
	if (git_reflog_read(&log, v->repo->git, "HEAD") < 0)
		return view_fail(v->err, STATUS_MACHINE, "cannot read HEAD's reflog");
	size_t count = git_reflog_entrycount(log);
	const git_reflog_entry *e = n < count ? git_reflog_entry_byindex(log, n) : NULL;
	if (e)
		id = *git_reflog_entry_id_new(e);
	git_reflog_free(log);
	if (!e && (n || git_reference_name_to_id(&id, v->repo->git, "HEAD") < 0))
		return err_set(v->err, STATUS_INPUT,
		    "'%s': the reflog of HEAD "
		    "has only %zu entr%s",
		    v->text, count, count == 1 ? "y" : "ies");
	return git_object_lookup(out, v->repo->git, &id, GIT_OBJECT_ANY) < 0
	    ? repo_missing(v->repo, v->err, "object", &id)
	    : 0;
}

static int find_name(const struct revision *v, const char *name, git_object **out)
{
	char id[41];
	if (strcmp(name, "@") == 0)
		name = "HEAD";
	if (strncmp(name, "HEAD@{", 6) == 0 && isdigit((unsigned char)name[6]))
		return find_in_reflog(v, name + 6, out);
	int code = git_revparse_single(out, v->repo->git, name);
	if (code == 0)
		return 0;
	if (code == GIT_EAMBIGUOUS)
		return refuse(v, "is the start of several ids; give more digits");
	if (code == GIT_EINVALIDSPEC)
		return refuse(v, "is not a valid revision");
	if (repo_head_id(v->repo, id, v->err) < 0)
		return -1;
	return err_set(v->err, STATUS_INPUT, "unknown revision '%s'%s", v->text,
	    !id[0]                    ? ": the repository has no commits yet"
		: v->repo->is_shallow ? "; in a shallow clone, where 'git "
					"fetch --unshallow' gets the rest"
				      : "");
}

/* What stands behind them ---------------------------------------------------------- */

/* Replaces an object by a commit that it leads to. */
static int to_commit(const struct revision *v, git_object **object)
{
	git_object *commit = NULL, *other = NULL;
	if (git_object_peel(&commit, *object, GIT_OBJECT_COMMIT) < 0) {
		/* of a tag, what is tagged */
		git_object_t type = git_object_type(*object);
		if (type == GIT_OBJECT_TAG &&
		    git_object_peel(&other, *object, GIT_OBJECT_ANY) == 0)
			type = git_object_type(other);
		git_object_free(other);
		return err_set(v->err, STATUS_INPUT, "'%s' is a %s, not a commit",
		    v->text, git_object_type2string(type));
	}
	git_object_free(*object);
	*object = commit;
	return 0;
}

/* n from 1. */
static int to_parent(const struct revision *v, git_object **object, unsigned long n)
{
	struct commit_info info = { .nparent = 0 };
	git_object *parent = NULL;
	int rc = to_commit(v, object);
	if (rc)
		return rc;
	const git_oid *id = git_object_id(*object);
	rc = repo_read_commit(v->repo, id, &info, v->err);
	if (rc == 0 && n > info.nparent && info.is_cut)
		rc = err_set(v->err, STATUS_INPUT,
		    "'%s' goes past %.7s, where "
		    "this shallow clone ends; 'git fetch --unshallow' gets "
		    "the rest",
		    v->text, git_oid_tostr_s(id));
	else if (rc == 0 && n > info.nparent)
		rc = err_set(v->err, STATUS_INPUT, "'%s': commit %.7s has %s", v->text,
		    git_oid_tostr_s(id),
		    !info.nparent           ? "no parent"
			: info.nparent == 1 ? "only one parent"
					    : "fewer parents");
	else if (rc == 0 &&
	    git_object_lookup(&parent, v->repo->git, &info.parent[n - 1],
		GIT_OBJECT_COMMIT) < 0)
		rc = repo_missing(v->repo, v->err, "commit", &info.parent[n - 1]);
	commit_info_release(&info);
	if (rc == 0) {
		git_object_free(*object);
		*object = parent;
	}
	return rc;
}

/* "{type}", "{}" and "{/text}" behind a '^'; braces taken away. */
static int to_type(const struct revision *v, const char *type, git_object **object)
{
	static const char *const name[] = { "commit", "tree", "blob", "tag" };
	git_object *to = NULL;
	int rc = 0;
	if (*type == '/') {
		struct search s = { .repo = v->repo };
		rc = to_commit(v, object);
		if (rc == 0 && type[1]) {
			add(&s, git_object_id(*object));
			rc = find_message(v, &s, type + 1, &to);
		}
		release_search(&s);
	} else if (!*type) {
		if (git_object_type(*object) == GIT_OBJECT_TAG &&
		    git_object_peel(&to, *object, GIT_OBJECT_ANY) < 0)
			rc = refuse(v, "is a tag of an object that is not there");
	} else if (strcmp(type, "object") != 0) {
		size_t i = 0;
		while (i < 4 && strcmp(name[i], type) != 0)
			i++;
		if (i == 4)
			rc = refuse(v, "asks for a type that git does not have");
		else if (i == 0)
			rc = to_commit(v, object);
		else if (git_object_peel(&to, *object, git_object_string2type(type)) < 0)
			rc = err_set(v->err, STATUS_INPUT, "'%s': there is no %s",
			    v->text, type);
	}
	if (rc == 0 && to) {
		git_object_free(*object);
		*object = to;
	}
	return rc;
}

static int apply(const struct revision *v, const char *suffix, git_object **object)
{
	int rc = 0;
	for (const char *p = suffix; *p && rc == 0;) {
		char how = *p++;
		if (how == '^' && *p == '{') {
			const char *end = strchr(p, '}');
			if (!end)
				return refuse(v, "lacks a '}'");
			char *type = xstrndup(p + 1, (size_t)(end - p - 1));
			rc = to_type(v, type, object);
			free(type);
			p = end + 1;
			continue;
		}
		if (how == '^' && *p && strchr("@!-", *p))
			return refuse(v,
			    "names several commits, but one is "
			    "needed");
		if (how != '^' && how != '~')
			return refuse(v, "is not a valid revision");
		char *end = (char *)p;
		unsigned long n = isdigit((unsigned char)*p) ? strtoul(p, &end, 10) : 1;
		p = end;
		if (n > INT_MAX)
			return refuse(v, "has too large a number");
		rc = to_commit(v, object);
		if (how == '^' && n)
			rc = rc ? rc : to_parent(v, object, n);
		for (; how == '~' && n && rc == 0; n--)
			rc = to_parent(v, object, 1);
	}
	return rc;
}

/* Where the name ends: the first of these outside braces, or the end. */
static const char *find_outside(const char *text, const char *chars)
{
	for (const char *p = text; *p; p++) {
		if (*p == '{') {
			const char *end = strchr(p, '}');
			if (!end)
				return p + strlen(p);
			p = end;
		} else if (strchr(chars, *p)) {
			return p;
		}
	}
	return text + strlen(text);
}

int repo_find_commit(struct repo *r, const char *rev, git_oid *out, struct err *err)
{
	struct revision v = { r, rev, err };
	git_object *object = NULL;
	const char *dot = rev;
	int rc;

	if (*rev == ':' && rev[1] == '/') {
		rc = find_anywhere(&v, rev + 2, &object);
		goto out;
	}
	if (*rev == ':')
		return refuse(&v, "names a file of the index, not a commit");
	while (*(dot = find_outside(dot, ".")) && dot[1] != '.')
		dot++;
	if (*dot)
		return refuse(&v,
		    dot[2] == '.' ? "names the two sides of a "
				    "fork, but one commit is needed"
				  : "is a range, but one commit is needed");
	if (*find_outside(rev, ":"))
		return refuse(&v, "names contents of a commit, not a commit");
	const char *suffix = find_outside(rev, "^~");
	if (suffix == rev)
		return refuse(&v, "is not a valid revision");
	char *name = xstrndup(rev, (size_t)(suffix - rev));
	rc = find_name(&v, name, &object);
	free(name);
	if (rc == 0)
		rc = apply(&v, suffix, &object);
out:
	if (rc == 0)
		rc = to_commit(&v, &object);
	if (rc == 0)
		*out = *git_object_id(object);
	git_object_free(object);
	return rc;
}
