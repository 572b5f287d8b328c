#include "vcs/repo.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/buf.h"
#include "util/fs.h"
#include "util/mem.h"

/*
 * HEAD without libgit2, whose start alone takes milliseconds (it reads the
 * machine's certificates). gitrepository-layout(5): HEAD holds an id or "ref:
 * NAME"; a ref is a file of that name, or a line of packed-refs; a linked work
 * tree has its own HEAD and shares the rest, by commondir. Whatever looks
 * otherwise is left to libgit2.
 */

#define MAX_REF 4096           /* a file with one line */
#define MAX_PACKED (64u << 20) /* a million refs */
#define MAX_DEPTH 5            /* git's own limit for symbolic refs */

/* The file's text without its last line end; null when there is none. */
static char *read_line(const char *dir, const char *name)
{
	char *path = fs_join(dir, name);
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	struct stat st;
	int ok = !stat(path, &st) && S_ISREG(st.st_mode) &&
	    !fs_read(path, MAX_REF, &text, &err) &&
	    !memchr(buf_str(&text), '\0', text.len);
	free(path);
	err_release(&err);
	if (!ok) {
		buf_release(&text);
		return NULL;
	}
	char *line = buf_detach(&text);
	line[strcspn(line, "\r\n")] = '\0';
	return line;
}

/* The folder that has HEAD, for a project's root; or null. */
static char *find_gitdir(const char *project_root)
{
	char *found = NULL;
	if (getenv("GIT_DIR"))
		return xstrdup(getenv("GIT_DIR"));
	char *folder = realpath(project_root, NULL);
	while (folder && !found) {
		char *git = fs_join(folder, ".git");
		char *head = fs_join(git, "HEAD");
		char *line = read_line(folder, ".git");
		if (fs_is_dir(git) && fs_exists(head))
			found = xstrdup(git);
		else if (line && strncmp(line, "gitdir: ", 8) == 0)
			found = fs_join(folder, line + 8);
		free(line);
		free(head);
		free(git);
		char *parent = strcmp(folder, "/") ? fs_dirname(folder) : NULL;
		free(folder);
		folder = parent;
	}
	free(folder);
	return found;
}

static int is_id(const char *text)
{
	return strlen(text) == 40 && strspn(text, "0123456789abcdef") == 40;
}

/* Below refs/, and no path that leads elsewhere. */
static int is_ref(const char *name)
{
	return strncmp(name, "refs/", 5) == 0 && !strstr(name, "..");
}

/* The id of a ref in packed-refs, in a line "ID NAME"; or null. */
static char *find_packed(const char *common, const char *name)
{
	char *path = fs_join(common, "packed-refs"), *id = NULL;
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	size_t n = strlen(name);
	if (fs_exists(path) && !fs_read(path, MAX_PACKED, &text, &err)) {
		const char *end = buf_str(&text) + text.len;
		for (const char *p = buf_str(&text); p < end && !id;) {
			const char *eol = memchr(p, '\n', (size_t)(end - p));
			size_t len = (size_t)((eol ? eol : end) - p);
			if (len == 41 + n && p[40] == ' ' && memcmp(p + 41, name, n) == 0)
				id = xstrndup(p, 40);
			p += len + 1;
		}
	}
	buf_release(&text);
	err_release(&err);
	free(path);
	return id;
}

int repo_peek_id(const char *project_root, char id[41])
{
	int found = 0;
	char *common = NULL, *line = NULL;
	char *gitdir = find_gitdir(project_root);
	if (!gitdir)
		goto out;
	line = read_line(gitdir, "commondir");
	common = line ? fs_join(gitdir, line) : xstrdup(gitdir);
	free(line);
	line = read_line(gitdir, "HEAD");
	for (int depth = 0; line && depth <= MAX_DEPTH; depth++) {
		if (is_id(line)) {
			memcpy(id, line, 41);
			found = 1;
			break;
		}
		if (strncmp(line, "ref:", 4) != 0)
			break;
		char *name = xstrdup(line + 4 + strspn(line + 4, " \t"));
		free(line);
		line = is_ref(name) ? read_line(common, name) : NULL;
		if (!line && is_ref(name))
			line = find_packed(common, name);
		free(name);
	}
out:
	free(line);
	free(common);
	free(gitdir);
	return found;
}
