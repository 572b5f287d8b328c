#include "repo_impl.h"

#include <stdlib.h>
#include <string.h>

#include "util/fs.h"
#include "util/mem.h"

/*
 * git's environment (git(1), git-config(1)), as far as reading goes: libgit2
 * 1.5 knows neither GIT_CONFIG_GLOBAL nor safe.directory=*.
 */

#define NOWHERE "/dev/null" /* as a folder: nothing is found in it */

static int is_set(const char *name)
{
	const char *value = getenv(name);
	return value && *value && strcmp(value, "0") != 0 && strcmp(value, "false") != 0;
}

/* Paths of the files that git would read, "" for none. Freed by the caller. */
static void find_files(char *file[3])
{
	const char *global = getenv("GIT_CONFIG_GLOBAL");
	const char *system = getenv("GIT_CONFIG_SYSTEM");
	const char *home = getenv("HOME"), *xdg = getenv("XDG_CONFIG_HOME");

	file[0] = xstrdup(is_set("GIT_CONFIG_NOSYSTEM") ? ""
		: system                                ? system
							: "/etc/gitconfig");
	if (global) {
		file[1] = xstrdup(global);
		file[2] = xstrdup("");
		return;
	}
	file[1] = xdg && *xdg ? fs_join(xdg, "git/config")
	    : home            ? fs_join(home, ".config/git/config")
			      : xstrdup("");
	file[2] = home ? fs_join(home, ".gitconfig") : xstrdup("");
}

/* A value of safe.directory; -1: what was said before does not count. */
static int allows(const char *value, const char *folder)
{
	size_t n = strlen(value);
	if (!n)
		return -1;
	if (strcmp(value, "*") == 0)
		return 1;
	if (n > 2 && strcmp(value + n - 2, "/*") == 0)
		return strncmp(value, folder, n - 1) == 0;
	if (value[0] == '~' && value[1] == '/' && getenv("HOME")) {
		char *path = fs_join(getenv("HOME"), value + 2);
		int is_it = strcmp(path, folder) == 0;
		free(path);
		return is_it;
	}
	return strcmp(value, folder) == 0;
}

static int file_allows(const char *path, const char *folder, int is_safe)
{
	git_config *config;
	git_config_iterator *all;
	git_config_entry *entry;
	if (!*path || !fs_exists(path) || git_config_open_ondisk(&config, path) < 0)
		return is_safe;
	if (git_config_multivar_iterator_new(&all, config, "safe.directory", NULL) == 0) {
		while (git_config_next(&entry, all) == 0) {
			int allowed = allows(entry->value, folder);
			is_safe = allowed < 0 ? 0 : is_safe || allowed;
		}
		git_config_iterator_free(all);
	}
	git_config_free(config);
	return is_safe;
}

int repo_is_trusted(const char *folder)
{
	const char *count = getenv("GIT_CONFIG_COUNT");
	char *file[3];
	int is_safe = 0;

	find_files(file);
	for (int i = 0; i < 3; i++) {
		is_safe = file_allows(file[i], folder, is_safe);
		free(file[i]);
	}
	for (long i = 0; count && i < strtol(count, NULL, 10) && i < 1000; i++) {
		char *name = xasprintf("GIT_CONFIG_KEY_%ld", i);
		const char *key = getenv(name);
		free(name);
		name = xasprintf("GIT_CONFIG_VALUE_%ld", i);
		const char *value = getenv(name);
		free(name);
		if (!key || !value || strcmp(key, "safe.directory") != 0)
			continue;
		int allowed = allows(value, folder);
		is_safe = allowed < 0 ? 0 : is_safe || allowed;
	}
	return is_safe;
}

void repo_set_search_paths(void)
{
	if (is_set("GIT_CONFIG_NOSYSTEM") || getenv("GIT_CONFIG_SYSTEM"))
		git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, GIT_CONFIG_LEVEL_SYSTEM,
		    NOWHERE);
	if (getenv("GIT_CONFIG_GLOBAL")) {
		git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, GIT_CONFIG_LEVEL_GLOBAL,
		    NOWHERE);
		git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, GIT_CONFIG_LEVEL_XDG, NOWHERE);
	}
}

int repo_add_config(git_repository *git)
{
	const struct {
		const char *name;
		git_config_level_t level;
	} row[] = {
		{ "GIT_CONFIG_SYSTEM", GIT_CONFIG_LEVEL_SYSTEM },
		{ "GIT_CONFIG_GLOBAL", GIT_CONFIG_LEVEL_GLOBAL },
	};
	git_config *config;
	int rc = 0;
	for (int i = 0; i < 2 && rc >= 0; i++) {
		const char *path = getenv(row[i].name);
		struct stat st;
		if (!path || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
			continue;
		if (i == 0 && is_set("GIT_CONFIG_NOSYSTEM"))
			continue;
		rc = git_repository_config(&config, git);
		if (rc < 0)
			break;
		rc = git_config_add_file_ondisk(config, path, row[i].level, git, 1);
		git_config_free(config);
	}
	return rc;
}

/*
 * GIT_DIR names the repository, and the work tree is then GIT_WORK_TREE,
 * core.worktree or the current folder.
 */
int repo_open_git(const char *root, int has_env, git_repository **out)
{
	const char *dir = has_env ? getenv("GIT_DIR") : NULL;
	const char *tree = has_env ? getenv("GIT_WORK_TREE") : NULL;
	git_config *config;
	const char *set;
	int is_bare = 0;
	int code = dir
	    ? git_repository_open_ext(out, dir,
		  GIT_REPOSITORY_OPEN_NO_SEARCH | GIT_REPOSITORY_OPEN_NO_DOTGIT, NULL)
	    : git_repository_open_ext(out, root, 0, getenv("GIT_CEILING_DIRECTORIES"));
	if (code < 0)
		return code;
	if (dir && !tree && git_repository_config_snapshot(&config, *out) == 0) {
		if (git_config_get_bool(&is_bare, config, "core.bare") < 0)
			is_bare = 0;
		if (!is_bare && git_config_get_string(&set, config, "core.worktree") < 0)
			tree = ".";
		git_config_free(config);
	}
	if (tree)
		code = git_repository_set_workdir(*out, tree, 0);
	return code;
}
