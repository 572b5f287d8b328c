#include "format/bundle.h"
#include "format/bundle_write.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/fields.h"
#include "util/buf.h"
#include "util/fs.h"
#include "util/mem.h"

#include "test.h"

static char root[] = "/tmp/stbuild-bundle-XXXXXX";

static char *at(const char *name)
{
	return fs_join(root, name);
}

static void put(const char *name, const char *text)
{
	struct err err = ERR_INIT;
	char *path = at(name);
	CHECK(!fs_write(path, text, strlen(text), 0, &err));
	free(path);
}

static const char trace_text[] =
    "{\"format\": 1, \"cli_version\": \"0.1\", \"project\": \"p\","
    " \"preset\": null, \"width\": 4, \"height\": 2, \"fps\": 60,"
    " \"frame\": 3, \"time\": 0.05, \"uniforms\": {\"a\": 0.1},"
    " \"resolved_manifest\": {\"format\": 1, \"trace\": [],"
    " \"render\": {\"width\": 4}},"
    " \"source_sha256\": {\"image\": \"00\"}, \"asset_sha256\": {},"
    " \"pass_timings\": [{\"name\": \"image\", \"width\": 4,"
    " \"height\": 2, \"gpu_nanoseconds\": 12}],"
    " \"graph_diagnostics\": [], \"state_header\": {},"
    " \"synchronization\": {\"runtime\": \"x\"}, \"git\": null,"
    " \"tool\": \"stbuild\"}";

static cJSON *trace_json(void)
{
	struct err err = ERR_INIT;
	cJSON *json = NULL;
	CHECK(!json_parse("t", trace_text, strlen(trace_text), &json, &err));
	return json;
}

/* Writes a bundle of three files, one by each way. */
static int write_bundle(const char *path, const char *picture, struct err *err)
{
	struct bundle_writer w;
	struct bundle_stream *s;
	struct sha256 sha;
	cJSON *json = trace_json();
	char *from = at("source-file");
	int rc = -1;
	put("source-file", "copied");
	sha256_of("copied", 6, &sha);
	if (bundle_begin(path, 0, &w, err) < 0)
		goto out;
	CHECK(!bundle_add(&w, "final_image", "final.png", picture, strlen(picture), err));
	CHECK(!bundle_begin_file(&w, "pass:a:output:0:raw", "passes/a-output-0.rgba32f",
	    &s, err));
	CHECK(!bundle_write(s, "01234567", 8, err));
	CHECK(!bundle_write(s, "89", 2, err));
	CHECK(!bundle_end_file(s, err));
	CHECK(!bundle_add_copy(&w, "state", "state.ststate", from, &sha, 6, err));
	rc = bundle_finish(&w, json, NULL, NULL, err);
out:
	cJSON_Delete(json);
	free(from);
	return rc;
}

/* Entries of the test's folder that begin like folders written aside. */
static int count_aside(void)
{
	char *command = xasprintf("ls -A '%s' | grep -c '^\\.stbuild-'", root);
	FILE *p = popen(command, "r");
	int n = -1;
	if (p && fscanf(p, "%d", &n) != 1)
		n = -1;
	if (p)
		pclose(p);
	free(command);
	return n;
}

static void test_write_and_read(void)
{
	struct err err = ERR_INIT;
	struct errs errs = ERRS_INIT;
	struct bundle b;
	struct buf out = BUF_INIT;
	char *path = at("deep/er/a.sttrace/"), *json = at("deep/er/a.sttrace/trace.json");
	CHECK(!write_bundle(path, "first", &err));
	/* Again, over what stands there. */
	CHECK(!write_bundle(path, "second", &err));
	CHECK(!bundle_open(path, &b, &err));
	CHECK_STR(b.project, "p");
	CHECK_STR(b.cli_version, "0.1");
	CHECK(!b.preset);
	CHECK(b.tool != NULL);
	CHECK_INT(b.width, 4);
	CHECK_INT(b.height, 2);
	CHECK_INT(b.frame, 3);
	CHECK(b.fps == 60 && b.time == 0.05);
	CHECK_INT(b.nartifact, 3);
	CHECK(!bundle_verify(&b, &errs));
	CHECK_INT(errs.nerr, 0);
	CHECK(!bundle_read(&b, "final_image", &out, &err));
	CHECK_STR(buf_str(&out), "second");
	CHECK(!bundle_read(&b, "pass:a:output:0:raw", &out, &err));
	CHECK_STR(buf_str(&out), "second0123456789");
	CHECK_INT(bundle_read(&b, "nothing", &out, &err), -1);
	err_release(&err);
	/* "artifacts" stands where format 1 has it. */
	const cJSON *sync = cJSON_GetObjectItem(b.json, "synchronization");
	CHECK_STR(sync->next->string, "artifacts");
	CHECK_STR(sync->next->next->string, "git");
	const cJSON *a = cJSON_GetObjectItem(b.json, "uniforms")->child;
	CHECK(a->valuedouble == 0.1);
	bundle_release(&b);

	CHECK(!bundle_open(json, &b, &err));
	CHECK_INT(b.nartifact, 3);
	bundle_release(&b);
	bundle_release(&b);
	buf_release(&out);
	free(path);
	free(json);
}

static void test_targets(void)
{
	struct err err = ERR_INIT;
	struct bundle_writer w;
	struct {
		const char *name;
		int is_refused;
	} row[] = {
		{ "file", 1 },
		{ "folder", 1 },
		{ "link", 1 },
		{ "empty", 0 },
		{ "new", 0 },
	};
	char *folder = at("folder"), *empty = at("empty"), *link = at("link");
	CHECK(!mkdir(folder, 0777) && !mkdir(empty, 0777));
	CHECK(!symlink("empty", link));
	put("file", "precious");
	put("folder/file", "precious");
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		char *path = at(row[i].name);
		int rc = bundle_begin(path, 0, &w, &err);
		CHECK_INT(rc, row[i].is_refused ? -1 : 0);
		CHECK(rc == 0 || err.status == STATUS_INPUT);
		bundle_abandon(&w);
		err_release(&err);
		free(path);
	}
	char *kept = at("folder/file");
	CHECK(fs_exists(kept));
	free(kept);
	/* What is on record may have lost its trace.json, and is a folder. */
	CHECK(!bundle_begin(folder, 1, &w, &err));
	bundle_abandon(&w);
	CHECK_INT(bundle_begin(link, 1, &w, &err), -1);
	bundle_abandon(&w);
	err_release(&err);

	/* A target that turns into something else meanwhile is not lost. */
	CHECK(!bundle_begin(empty, 0, &w, &err));
	put("empty/file", "precious");
	cJSON *json = trace_json();
	CHECK_INT(bundle_finish(&w, json, NULL, NULL, &err), -1);
	cJSON_Delete(json);
	err_release(&err);
	kept = at("empty/file");
	CHECK(fs_exists(kept));
	free(kept);
	CHECK_INT(count_aside(), 0);
	free(folder);
	free(empty);
	free(link);
}

/* What a killed process left behind goes, what a living one fills stays. */
static void test_leftovers(void)
{
	struct err err = ERR_INIT;
	struct bundle_writer w;
	pid_t pid = fork();
	if (!pid)
		_exit(0);
	CHECK(waitpid(pid, NULL, 0) == pid);
	char *dead = xasprintf("%s/left/.stbuild-%ld-0.sttrace.tmp", root, (long)pid);
	char *other = xasprintf("%s/left/.stbuild-%ld-0.sttrace.tmp.x", root, (long)pid);
	char *alive =
	    xasprintf("%s/left/.stbuild-%ld-9999.sttrace.tmp", root, (long)getppid());
	char *path = at("left/a.sttrace");
	CHECK(
	    !fs_mkdirs(dead, &err) && !fs_mkdirs(other, &err) && !fs_mkdirs(alive, &err));
	CHECK(!bundle_begin(path, 0, &w, &err));
	CHECK(!fs_exists(dead));
	CHECK(fs_exists(other));
	CHECK(fs_exists(alive));
	CHECK(fs_is_dir(w.aside));
	bundle_abandon(&w);
	free(dead);
	free(other);
	free(alive);
	free(path);
}

/* Changes one file of a good bundle; verify and read must notice. */
static void test_altered(void)
{
	struct err err = ERR_INIT;
	struct errs errs = ERRS_INIT;
	struct bundle b;
	struct buf out = BUF_INIT;
	char *path = at("b.sttrace"), *file = at("b.sttrace/final.png");
	char *raw = at("b.sttrace/passes/a-output-0.rgba32f");
	char *passes = at("b.sttrace/passes"), *moved = at("moved");
	CHECK(!write_bundle(path, "picture", &err));
	CHECK(!bundle_open(path, &b, &err));
	put("b.sttrace/final.png", "pictura");
	CHECK_INT(bundle_verify(&b, &errs), -1);
	CHECK_INT(errs.nerr, 1);
	CHECK(errs.nerr && strstr(errs.err[0].message, "SHA-256"));
	CHECK(errs.nerr && errs.err[0].status == STATUS_FAILED);
	errs_release(&errs);
	CHECK_INT(bundle_read(&b, "final_image", &out, &err), -1);
	CHECK_INT(out.len, 0);
	err_release(&err);

	put("b.sttrace/final.png", "picture and more");
	CHECK_INT(bundle_verify(&b, &errs), -1);
	CHECK(errs.nerr && strstr(errs.err[0].message, "bytes"));
	errs_release(&errs);

	/* The right bytes, but outside. */
	put("outside", "picture");
	CHECK(!unlink(file) && !symlink("../outside", file));
	CHECK_INT(bundle_verify(&b, &errs), -1);
	CHECK(errs.nerr && strstr(errs.err[0].message, "symbolic link"));
	errs_release(&errs);
	CHECK(!unlink(file));
	CHECK(!mkfifo(file, 0666));
	CHECK_INT(bundle_read(&b, "final_image", &out, &err), -1);
	err_release(&err);

	put("b.sttrace/x", "");
	CHECK(!unlink(file));
	put("b.sttrace/final.png", "picture");
	CHECK_INT(bundle_verify(&b, &errs), 0);
	CHECK(!rename(passes, moved) && !symlink("../moved", passes));
	CHECK_INT(bundle_verify(&b, &errs), -1);
	CHECK_INT(errs.nerr, 1);
	errs_release(&errs);
	CHECK(!unlink(passes));
	CHECK_INT(bundle_verify(&b, &errs), -1);
	CHECK_INT(errs.nerr, 1);
	errs_release(&errs);
	bundle_release(&b);
	buf_release(&out);
	free(path);
	free(file);
	free(raw);
	free(passes);
	free(moved);
}

/* Opens a bundle whose trace.json is text; 0 or -1. */
static int open_text(const char *text, char **message)
{
	struct err err = ERR_INIT;
	struct bundle b;
	char *path = at("c.sttrace");
	put("c.sttrace/trace.json", text);
	int rc = bundle_open(path, &b, &err);
	if (message)
		*message = err_text(&err);
	if (rc < 0)
		CHECK(err.message != NULL && err.status == STATUS_INPUT);
	err_release(&err);
	bundle_release(&b);
	free(path);
	return rc;
}

static char *replaced(const char *text, const char *from, const char *to)
{
	const char *p = strstr(text, from);
	if (!CHECK(p != NULL))
		return xstrdup(text);
	return xasprintf("%.*s%s%s", (int)(p - text), text, to, p + strlen(from));
}

static void test_hostile(void)
{
	static const char *const path[] = {
		"/etc/passwd",
		"../x",
		"a/../x",
		"a/..",
		"..",
		".",
		"",
		"a//b",
		"./a",
		"a/",
	};
	static const struct {
		const char *from, *to, *says;
	} row[] = {
		{ "\"format\": 1, \"c", "\"format\": 2, \"c", "format" },
		{ "\"format\": 1, \"c", "\"format\": \"1\", \"c", "format" },
		{ "\"width\": 4, \"height\": 2, \"fps\"",
		    "\"width\": 99999, \"height\": 2, \"fps\"", "16384" },
		{ "\"fps\": 60", "\"fps\": 0", "fps" },
		{ "\"frame\": 3", "\"frame\": -1", "frame" },
		{ "\"frame\": 3", "\"frame\": 3.5", "integer" },
		{ "\"preset\": null", "\"preset\": 1", "preset" },
		{ "\"uniforms\": {\"a\": 0.1}", "\"uniforms\": []", "uniforms" },
		{ "{\"image\": \"00\"}", "{\"image\": 0}", "image" },
		{ "\"gpu_nanoseconds\": 12", "\"x\": 12", "gpu_nanoseconds" },
		{ "\"graph_diagnostics\": []", "\"graph_diagnostics\": [1]", "object" },
		{ "\"project\": \"p\",", "", "project" },
		{ "\"path\": \"f\"", "\"path\": 1", "string" },
		{ "\"bytes\": 1", "\"bytes\": -1", "bytes" },
		{ "e3b0", "E3B0", "hexadecimal" },
		{ "e3b0", "e3", "hexadecimal" },
	};
	struct err err = ERR_INIT;
	char *dir = at("c.sttrace"), *good, *message;
	CHECK(!fs_mkdirs(dir, &err));
	free(dir);
	good = replaced(trace_text, "\"git\": null",
	    "\"artifacts\": {\"x\": {"
	    "\"path\": \"f\", \"bytes\": 1, \"sha256\": \"e3b0c44298fc1c149"
	    "afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"}}");
	CHECK_INT(open_text(good, NULL), 0);
	for (size_t i = 0; i < sizeof path / sizeof path[0]; i++) {
		char *to = xasprintf("\"path\": \"%s\"", path[i]);
		char *text = replaced(good, "\"path\": \"f\"", to);
		CHECK_INT(open_text(text, &message), -1);
		CHECK(strstr(message, "out of the bundle") != NULL);
		free(message);
		free(text);
		free(to);
	}
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		char *text = replaced(good, row[i].from, row[i].to);
		CHECK_INT(open_text(text, &message), -1);
		if (!CHECK(strstr(message, row[i].says) != NULL))
			fprintf(stderr, "\t%s\n", message);
		free(message);
		free(text);
	}
	for (size_t n = 0; n < strlen(good); n++) {
		char *text = xstrndup(good, n);
		CHECK_INT(open_text(text, NULL), -1);
		text[n] = '\0';
		free(text);
	}
	uint32_t seed = 7;
	for (int i = 0; i < 2000; i++) {
		char *text = xstrdup(good);
		seed = seed * 1664525 + 1013904223;
		text[(seed >> 8) % strlen(good)] ^= (char)(1 << (seed >> 5 & 7));
		(void)open_text(text, NULL);
		free(text);
	}
	free(good);
	CHECK(bundle_open("/nonexistent/x", &(struct bundle){ 0 }, &err) < 0);
	err_release(&err);
}

static void test_stem(void)
{
	char *taken[8];
	static const struct {
		const char *name, *stem;
	} row[] = {
		{ "buffer-a", "buffer-a" },
		{ "Buffer A", "Buffer-A" },
		{ "Buffer/A", "Buffer-A-2" },
		{ "Buffer.A", "Buffer-A-3" },
		{ "--x y_z--", "x-y_z" },
		{ "\xc3\xa4\xe2\x82\xac", "pass" },
		{ "a\xc3\xa4z", "a-z" },
		{ "..", "pass-2" },
	};
	for (size_t i = 0; i < 8; i++) {
		taken[i] = bundle_stem(row[i].name, taken, i);
		CHECK_STR(taken[i], row[i].stem);
	}
	for (size_t i = 0; i < 8; i++)
		free(taken[i]);
	char longest[1000];
	memset(longest, 'a', sizeof longest);
	longest[sizeof longest - 1] = '\0';
	char *stem = bundle_stem(longest, NULL, 0);
	CHECK(strlen(stem) <= 200);
	free(stem);
}

static void stable_of(const char *text, struct sha256 *out)
{
	struct err err = ERR_INIT;
	struct artifact a[2] = {
		{ "b", "x", 1, { { 1 } } },
		{ "a", "y", 2, { { 2 } } },
	};
	cJSON *json = NULL;
	if (CHECK(!json_parse("t", text, strlen(text), &json, &err)))
		bundle_stable_id(json, a, 2, out);
	err_release(&err);
	cJSON_Delete(json);
}

static void test_ids(void)
{
	static const char base[] =
	    "{\"a\": 1, \"b\": {\"c\": [1, \"x\"]},"
	    " \"git\": 1, \"resolved_manifest\": {\"trace\": 1, \"r\": 2}}";
	static const char *const same[] = {
		"{\"b\":{\"c\":[1.0,\"x\"]},\"a\":1e0,"
		"\"resolved_manifest\":{\"r\":2,\"trace\":7}}",
		"{\"a\": 1, \"b\": {\"c\": [1, \"x\"]}, \"pass_timings\": [3],"
		" \"artifacts\": {}, \"resolved_manifest\": {\"r\": 2,"
		" \"test\": [], \"store\": {}, \"project\": {\"name\": 1}}}",
	};
	static const char *const other[] = {
		"{\"a\": 2, \"b\": {\"c\": [1, \"x\"]},"
		" \"resolved_manifest\": {\"r\": 2}}",
		"{\"a\": 1, \"b\": {\"c\": [1, \"x\"]},"
		" \"resolved_manifest\": {\"r\": 3}}",
		"{\"a\": 1, \"b\": {\"c\": [1, \"x\"], \"git\": 1},"
		" \"resolved_manifest\": {\"r\": 2}}",
		"{\"a\": 1, \"b\": {\"c\": [\"x\", 1]},"
		" \"resolved_manifest\": {\"r\": 2}}",
		"{\"a\": 1, \"b\": {\"c\": [1, \"x\", {}]},"
		" \"resolved_manifest\": {\"r\": 2}}",
		"{\"a\": true, \"b\": {\"c\": [1, \"x\"]},"
		" \"resolved_manifest\": {\"r\": 2}}",
		"{\"a\": 1, \"b\": {\"c\": [1, \"x\"]}, \"trace\": 1,"
		" \"resolved_manifest\": {\"r\": 2}}",
	};
	struct sha256 want = { { 0 } }, got = { { 0 } };
	stable_of(base, &want);
	for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
		stable_of(same[i], &got);
		CHECK(sha256_equal(&want, &got));
	}
	for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
		stable_of(other[i], &got);
		CHECK(!sha256_equal(&want, &got));
	}

	/* Order does not count; the sources do not, pictures and keys do. */
	struct artifact a[3] = {
		{ "final_image", "x", 1, { { 1 } } },
		{ "state", "y", 2, { { 2 } } },
		{ "project_sttf", "z", 3, { { 3 } } },
	};
	struct artifact b[3] = { a[2], a[1], a[0] };
	b[0].sha.byte[0] = 9;
	bundle_content_id(a, 3, &want);
	bundle_content_id(b, 3, &got);
	CHECK(sha256_equal(&want, &got));
	b[2].sha.byte[31] = 9;
	bundle_content_id(b, 3, &got);
	CHECK(!sha256_equal(&want, &got));
	bundle_content_id(a, 1, &got);
	CHECK(!sha256_equal(&want, &got));
}

static void test_print(void)
{
	static const char text[] =
	    "{\"z\":[1,2.5,-0.1,1e-7,1280,1e+300],"
	    "\"a\":{\"y\":\"\\\"\\\\\\n\\u0001\xc3\xa4/\",\"b\":[]},"
	    "\"m\":[{\"k\":true},null,false]}";
	static const char sorted[] =
	    "{\"a\":{\"b\":[],\"y\":\"\\\"\\\\\\n\\u0001\xc3\xa4/\"},"
	    "\"m\":[{\"k\":true},null,false],"
	    "\"z\":[1,2.5,-0.1,1e-07,1280,1e+300]}";
	struct err err = ERR_INIT;
	struct buf out = BUF_INIT;
	cJSON *json = NULL, *again = NULL;
	CHECK(!json_parse("t", text, strlen(text), &json, &err));
	fields_print(json, FIELDS_SORTED, &out);
	CHECK_STR(buf_str(&out), sorted);
	buf_reset(&out);
	fields_print(json, FIELDS_INDENTED, &out);
	CHECK(!json_parse("t", buf_str(&out), out.len, &again, &err));
	CHECK(cJSON_Compare(json, again, 1));
	cJSON_Delete(json);
	cJSON_Delete(again);
	/* Each double comes back as it was. */
	uint64_t bits = 0x3fb999999999999a;
	int wrong = 0;
	for (int i = 0; i < 3000; i++) {
		double v, back = 0;
		bits = bits * 6364136223846793005u + 1442695040888963407u;
		uint64_t b = bits >> 12 | (uint64_t)(1000 + i % 50) << 52;
		memcpy(&v, &b, sizeof v);
		json = cJSON_CreateNumber(v);
		buf_reset(&out);
		fields_print(json, FIELDS_COMPACT, &out);
		wrong += sscanf(buf_str(&out), "%lf", &back) != 1 || back != v;
		cJSON_Delete(json);
	}
	CHECK_INT(wrong, 0);
	buf_release(&out);
}

int main(void)
{
	struct err err = ERR_INIT;
	if (!mkdtemp(root))
		return 1;
	test_leftovers();
	test_write_and_read();
	test_targets();
	test_altered();
	test_hostile();
	test_stem();
	test_ids();
	test_print();
	CHECK(!fs_remove(root, &err));
	return test_done();
}
