#include "repo_impl.h"

#include <stdlib.h>
#include <string.h>

#include "util/buf.h"
#include "util/fs.h"
#include "util/mem.h"

/*
 * Commits as git takes them: through its replacements (git-replace(1)) and cut
 * off where a shallow clone is (gitformat-shallow: ids in the file "shallow",
 * a line each; such a commit has no parents, whatever it says). libgit2 1.5
 * knows neither, and reads more of a commit than a walk needs.
 */

#define MAX_SHALLOW (64u << 20)

static void load_shallow(struct repo *r)
{
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	char *path = fs_join(git_repository_commondir(r->git), "shallow");
	if (fs_exists(path) && !fs_read(path, MAX_SHALLOW, &text, &err)) {
		for (const char *p = buf_str(&text); *p;) {
			git_oid id;
			size_t n = strcspn(p, "\r\n");
			if (n == GIT_OID_HEXSZ && !git_oid_fromstrn(&id, p, n))
				map_put(&r->shallow, id.id, GIT_OID_RAWSZ, 1);
			p += n;
			p += strspn(p, "\r\n");
		}
	}
	r->is_shallow = r->shallow.nentry > 0;
	buf_release(&text);
	err_release(&err);
	free(path);
}

static int wants_replacements(struct repo *r)
{
	int wanted = 1;
	git_config *config;
	if (getenv("GIT_NO_REPLACE_OBJECTS"))
		return 0;
	if (git_repository_config_snapshot(&config, r->git) < 0)
		return 1;
	if (git_config_get_bool(&wanted, config, "core.usereplacerefs") < 0)
		wanted = 1;
	git_config_free(config);
	return wanted;
}

static void load_replacements(struct repo *r)
{
	static const char prefix[] = "refs/replace/";
	git_reference_iterator *all;
	git_reference *ref;
	size_t n = 0, cap = 0;
	if (!wants_replacements(r) ||
	    git_reference_iterator_glob_new(&all, r->git, "refs/replace/*") < 0)
		return;
	while (git_reference_next(&ref, all) == 0) {
		git_oid id;
		const git_oid *to = git_reference_target(ref);
		const char *name = git_reference_name(ref) + strlen(prefix);
		if (to && strlen(name) == GIT_OID_HEXSZ && !git_oid_fromstr(&id, name)) {
			r->replacement =
			    array_grow(r->replacement, n, &cap, sizeof *r->replacement);
			r->replacement[n] = *to;
			map_put(&r->replaced, id.id, GIT_OID_RAWSZ, n++);
		}
		git_reference_free(ref);
	}
	git_reference_iterator_free(all);
}

void repo_load_grafts(struct repo *r)
{
	load_shallow(r);
	load_replacements(r);
}

const git_oid *repo_replaced(const struct repo *r, const git_oid *id)
{
	/* git's own limit: five replacements of replacements */
	for (int i = 0; i < 5 && r->replaced.nentry; i++) {
		size_t at = map_get(&r->replaced, id->id, GIT_OID_RAWSZ);
		if (at == MAP_NONE)
			break;
		id = &r->replacement[at];
	}
	return id;
}

/* A clone made with --filter fetches objects when git asks for them. */
static int is_partial(struct repo *r)
{
	int found = 0;
	git_config *config;
	git_config_iterator *all;
	git_config_entry *entry;
	if (git_repository_config_snapshot(&config, r->git) < 0)
		return 0;
	if (git_config_iterator_glob_new(&all, config,
		"^(remote\\..*\\.(promisor|partialclonefilter)"
		"|extensions\\.partialclone)$") == 0) {
		found = git_config_next(&entry, all) == 0;
		git_config_iterator_free(all);
	}
	git_config_free(config);
	return found;
}

int repo_missing(struct repo *r, struct err *err, const char *what, const git_oid *id)
{
	const git_error *last = git_error_last();
	char *reason = xstrdup(last && last->message ? last->message : "no reason given");
	char *hex = xstrndup(git_oid_tostr_s(id), GIT_OID_HEXSZ);
	if (is_partial(r))
		err_set(err, STATUS_MACHINE,
		    "%s %s is not in this partial clone: "
		    "'git fetch --refetch --no-filter' gets all that is "
		    "missing",
		    what, hex);
	else if (r->is_shallow)
		err_set(err, STATUS_MACHINE,
		    "%s %s is not in this shallow clone: "
		    "'git fetch --unshallow' gets the rest",
		    what, hex);
	else
		err_set(err, STATUS_MACHINE,
		    "cannot read %s %s (%s): 'git fsck' "
		    "says what the repository has lost",
		    what, hex, reason);
	free(hex);
	free(reason);
	return -1;
}

/* "tree ID\n", "parent ID\n": 1 and the id, with *p behind it. */
static int take_id(const char **p, const char *end, const char *word, git_oid *out)
{
	size_t n = strlen(word);
	if ((size_t)(end - *p) < n + GIT_OID_HEXSZ + 1 || memcmp(*p, word, n) != 0 ||
	    (*p)[n + GIT_OID_HEXSZ] != '\n' ||
	    git_oid_fromstrn(out, *p + n, GIT_OID_HEXSZ) < 0)
		return 0;
	*p += n + GIT_OID_HEXSZ + 1;
	return 1;
}

/* Seconds of "committer NAME <MAIL> SECONDS ZONE", from the line's end. */
static git_time_t take_time(const char *p, const char *end)
{
	while (p < end) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));
		const char *close = NULL;
		if (!eol || eol == p)
			break;
		if ((size_t)(eol - p) > 10 && memcmp(p, "committer ", 10) == 0)
			for (const char *s = p; s < eol; s++)
				if (*s == '>')
					close = s;
		if (close) {
			char *text = xstrndup(close + 1, (size_t)(eol - close - 1));
			git_time_t t = strtoll(text, NULL, 10);
			free(text);
			return t;
		}
		p = eol + 1;
	}
	return 0;
}

/*
 * Without hashing what was read, which takes longer than reading it: as git
 * does, a walk relies on the checksums of the packs.
 */
static int read_object(struct repo *r, const git_oid *id, git_odb_object **out,
    struct err *err)
{
	*out = NULL;
	if (!r->odb && git_repository_odb(&r->odb, r->git) < 0)
		return view_fail(err, STATUS_MACHINE, "cannot open git's objects");
	git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 0);
	int code = git_odb_read(out, r->odb, repo_replaced(r, id));
	git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 1);
	return code < 0 ? repo_missing(r, err, "commit", id) : 0;
}

char *repo_read_summary(struct repo *r, const git_oid *id, struct err *err)
{
	git_odb_object *object;
	struct buf text = BUF_INIT;
	if (read_object(r, id, &object, err) < 0)
		return NULL;
	const char *p = git_odb_object_data(object);
	const char *end = p + git_odb_object_size(object);
	while (p + 1 < end && !(p[0] == '\n' && p[1] == '\n'))
		p++;
	while (p < end && *p == '\n')
		p++;
	/* The first paragraph, as one line. */
	for (; p < end && *p && !(*p == '\n' && (p + 1 == end || p[1] == '\n')); p++) {
		int is_blank = *p == ' ' || *p == '\n' || *p == '\t' || *p == '\r';
		if (!is_blank)
			buf_addch(&text, *p);
		else if (text.len && text.data[text.len - 1] != ' ')
			buf_addch(&text, ' ');
	}
	while (text.len && text.data[text.len - 1] == ' ')
		text.data[--text.len] = '\0';
	git_odb_object_free(object);
	char *clean = repo_clean_text(buf_str(&text));
	buf_release(&text);
	return clean;
}

int repo_read_commit(struct repo *r, const git_oid *id, struct commit_info *out,
    struct err *err)
{
	git_odb_object *object;
	git_oid parent;
	out->nparent = 0;
	out->is_cut = 0;
	if (read_object(r, id, &object, err) < 0)
		return -1;
	const char *p = git_odb_object_data(object);
	const char *end = p + git_odb_object_size(object);
	if (git_odb_object_type(object) != GIT_OBJECT_COMMIT ||
	    !take_id(&p, end, "tree ", &out->tree)) {
		git_odb_object_free(object);
		return err_set(err, STATUS_MACHINE, "%s is not a whole commit",
		    git_oid_tostr_s(id));
	}
	int is_end =
	    r->is_shallow && map_get(&r->shallow, id->id, GIT_OID_RAWSZ) != MAP_NONE;
	while (take_id(&p, end, "parent ", &parent)) {
		out->is_cut |= is_end;
		if (is_end)
			continue;
		out->parent =
		    array_grow(out->parent, out->nparent, &out->cap, sizeof *out->parent);
		out->parent[out->nparent++] = parent;
	}
	out->time = take_time(p, end);
	git_odb_object_free(object);
	return 0;
}

void commit_info_release(struct commit_info *c)
{
	free(c->parent);
	*c = (struct commit_info){ 0 };
}

int repo_lookup_commit(struct repo *r, const git_oid *id, git_commit **out,
    struct err *err)
{
	if (git_commit_lookup(out, r->git, repo_replaced(r, id)) < 0)
		return repo_missing(r, err, "commit", id);
	return 0;
}
