/* Revisions against git rev-parse: the same commit, or refused by both. */

#include <stdlib.h>
#include <unistd.h>

#include "test.h"
#include "util/buf.h"
#include "util/mem.h"
#include "vcs/repo.h"

static char top[] = "/tmp/stbuild-revision-XXXXXX";

__attribute__((format(printf, 1, 2))) static int sh(const char *fmt, ...)
{
	struct buf script = BUF_INIT;
	va_list ap;
	buf_addf(&script, "set -e; export GIT_CONFIG_GLOBAL=/dev/null; cd '%s'; ", top);
	va_start(ap, fmt);
	buf_vaddf(&script, fmt, ap);
	va_end(ap);
	int status = system(buf_str(&script));
	buf_release(&script);
	return CHECK(status == 0);
}

/* "" when git refuses it, or takes it for other than one commit. */
static char *git_finds(const char *repo, const char *rev)
{
	char line[64] = "";
	/* What rev-parse takes for several, or for the text of a message. */
	const char *type = rev[0] == ':' && rev[1] == '/' ? "" : "^{commit}";
	if (rev[0] == '^' || strstr(rev, ".."))
		return xstrdup("");
	char *command = xasprintf("cd '%s/%s' && git rev-parse --verify -q"
				  " --end-of-options '%s%s' 2>/dev/null",
	    top, repo, rev, type);
	FILE *f = popen(command, "r");
	if (!f || !fgets(line, sizeof line, f))
		line[0] = '\0';
	if (f)
		pclose(f);
	line[strcspn(line, "\n")] = '\0';
	free(command);
	return xstrdup(line);
}

static void check(struct repo *r, const char *repo, const char *rev)
{
	struct err err = ERR_INIT;
	struct repo_commit c;
	char *want = git_finds(repo, rev);
	int rc = repo_resolve(r, rev, &c, &err);
	if (!CHECK(rc == 0 ? strcmp(c.id, want) == 0 : !*want))
		fprintf(stderr, "\t%s in %s: %s, not %s\n", rev, repo,
		    rc ? err.message : c.id, want);
	if (rc) {
		CHECK_INT(err.status, STATUS_INPUT);
		CHECK(strstr(err.message, rev) != NULL);
	}
	err_release(&err);
	repo_commit_release(&c);
	free(want);
}

static void check_all(const char *repo, const char *const *rev)
{
	struct err err = ERR_INIT;
	struct repo *r = NULL;
	char *path = xasprintf("%s/%s", top, repo);
	if (!CHECK(repo_open(path, NULL, &r, &err) == 0 && r))
		exit(1);
	for (; *rev; rev++)
		check(r, repo, *rev);
	repo_close(r);
	free(path);
}

static const char *const everywhere[] = {
	"HEAD",
	"@",
	"@~",
	"@~1",
	"@^",
	"@^^",
	"@~2",
	"HEAD^",
	"HEAD^1",
	"HEAD^2",
	"HEAD^3",
	"HEAD^0",
	"HEAD~0",
	"HEAD~3",
	"HEAD~3^2",
	"HEAD^2~1",
	"HEAD~400",
	"HEAD@{0}",
	"HEAD@{1}",
	"HEAD@{2}",
	"HEAD@{3}",
	"HEAD@{4}",
	"HEAD@{99}",
	"@{0}",
	"@{1}",
	"@{-1}",
	"@{-9}",
	"main@{0}",
	"main@{1}",
	"HEAD@{1}~1",
	"main",
	"heads/main",
	"refs/heads/main",
	"side",
	"light",
	"noted",
	"nested",
	"noted^{}",
	"noted^{commit}",
	"noted~1",
	"noted^0",
	"nested^{}",
	"noted^{tag}",
	"folder",
	"folder^{}",
	"file",
	"file^0",
	"HEAD^{tree}",
	"HEAD^{blob}",
	"HEAD^{object}",
	"HEAD^{nothing}",
	"HEAD^{",
	"HEAD:f",
	"HEAD:",
	":f",
	":0:f",
	"HEAD^@",
	"HEAD^!",
	"HEAD^-",
	"HEAD^-1",
	"^HEAD",
	"~1",
	"",
	"HEAD..",
	"..HEAD",
	"main..side",
	"main...side",
	"...",
	":/third",
	":/^on",
	":/on s.de",
	":/!-third",
	":/!!x",
	":/!x",
	":/nowhere",
	"HEAD^{/third}",
	"HEAD^{/on main}",
	"HEAD^{/nowhere}",
	"HEAD^{/}",
	"HEAD^{/a|f.rst}",
	"v0-1-gffffff",
	"nothing",
	"HEAD~x",
	"HEAD^x",
	"HEAD~1x",
	"HEAD~99999999999999999999",
	"light~1^0~1",
	NULL,
};

int main(void)
{
	if (system("git --version >/dev/null 2>&1") != 0)
		return test_skip("git is not installed");
	if (!mkdtemp(top))
		return 1;
	sh("git init -q -b main r; cd r; git config user.name a; git config"
	   " user.email a@b; n=1700000000; c() { echo \"$1\" >>f; git add f;"
	   " n=$((n + 60)); GIT_COMMITTER_DATE=\"$n +0000\" git commit -qm \"$1\"; };"
	   " c first; c 'second on main'; c third; git checkout -qb side HEAD~1;"
	   " c 'on side'; c 'again on side'; git checkout -q main; n=$((n + 60));"
	   " GIT_COMMITTER_DATE=\"$n +0000\" git merge -q -s ours -m merged side;"
	   " c 'last on main'; git tag light HEAD~1; git tag -am n noted;"
	   " git tag -am n nested noted 2>/dev/null; git tag -am n folder HEAD^{tree};"
	   " git tag file HEAD:f; git checkout -q side; git checkout -q main");
	check_all("r", everywhere);
	sh("cd r; git checkout -q --detach HEAD~1");
	check_all("r", everywhere);
	sh("cd r; git checkout -q side");
	check_all("r", everywhere);
	/* Without a reflog, and without commits. */
	sh("cp -r r bald; rm -r bald/.git/logs; git init -q -b main empty");
	static const char *const few[] = { "HEAD", "HEAD~1", "HEAD@{1}", "@", "main",
		":/x", NULL };
	check_all("bald", few);
	check_all("empty", few);
	/* Shallow: up to the graft as ever, then refused. */
	sh("git clone -q --depth 2 -b main file://$PWD/r shallow");
	static const char *const near[] = { "HEAD", "HEAD~1", "HEAD~2", "HEAD~1^2",
		"HEAD~1^2~1", "HEAD^^", ":/last", ":/first", "HEAD^{/merged}",
		"HEAD^{/first}", NULL };
	check_all("shallow", near);
	/* The parents are there, and history ends all the same. */
	sh("git clone -q -b main r cut; cd cut; git rev-parse HEAD~1 >.git/shallow");
	check_all("cut", near);
	sh("rm -rf '%s'", top);
	return test_done();
}
