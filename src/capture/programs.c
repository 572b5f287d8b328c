#include "capture/programs.h"

#include <string.h>

#include "util/buf.h"
#include "util/log.h"
#include "util/mem.h"

static struct shader_target target_of(const struct driver_row *driver)
{
	return (struct shader_target){
		.gl_version = driver->gl_version,
		.has_es3 = driver->has_es3,
	};
}

/*
 * A program is known by its tokens, but a failure's log has lines and columns:
 * it is remembered behind the hash of the very text that was compiled, and
 * nothing to another one.
 */
static void name_text(const struct program *p, char hex[SHA256_HEX + 1])
{
	struct sha256 sha;
	sha256_of(p->shader.stage, strlen(p->shader.stage), &sha);
	sha256_hex(&sha, hex);
}

static int is_of_text(const struct program *p, const char *log)
{
	char hex[SHA256_HEX + 1];
	name_text(p, hex);
	return log && strncmp(log, hex, SHA256_HEX) == 0 && log[SHA256_HEX] == '\n';
}

/* 1 when the outcome of compiling is known; a failure then is in log. */
static int recall(const struct program_env *env, struct program *p, int *ok, char **log)
{
	struct program_row row = { 0 };
	struct err err = ERR_INIT;
	if (!env->store ||
	    !store_program(env->store, &p->shader.program_id, &env->driver->identity,
		&row))
		return 0;
	int known = 1;
	if (row.ok &&
	    reflection_decode(row.reflection, row.nreflection, &p->reflection, &err) <
		0) {
		/* A damaged row is a miss; compiling writes it anew. */
		log_verbose("recorded program: %s", err.message);
		known = 0;
	}
	if (!row.ok && !is_of_text(p, row.log))
		known = 0;
	*ok = row.ok;
	if (known)
		*log = xstrdup(row.ok ? "" : row.log + SHA256_HEX + 1);
	err_release(&err);
	program_row_release(&row);
	return known;
}

static int remember(const struct program_env *env, struct program *p,
    const struct compile_result *result, struct err *err)
{
	if (!env->store)
		return 0;
	struct buf encoded = BUF_INIT, log = BUF_INIT;
	if (result->ok) {
		reflection_encode(&result->reflection, &encoded);
		buf_addstr(&log, result->log ? result->log : "");
	} else {
		char hex[SHA256_HEX + 1];
		name_text(p, hex);
		buf_addf(&log, "%s\n%s", hex, result->log ? result->log : "");
	}
	struct program_row row = {
		.program_id = p->shader.program_id,
		.driver = env->driver->identity,
		.ok = result->ok,
		.log = log.data,
		.reflection = encoded.data,
		.nreflection = encoded.len,
	};
	int rc =
	    store_can_write(env->store) ? store_add_program(env->store, &row, err) : 0;
	buf_release(&encoded);
	buf_release(&log);
	return rc;
}

/* Compiles under a new id. *log is null unless the shader is at fault. */
static int compile(const struct program_env *env, const struct pass *pass,
    struct program *p, int *ok, char **log, struct err *err)
{
	struct worker *worker;
	if (env->worker(env->data, &worker, err) < 0)
		return -1;
	uint32_t id = ++*env->next_program;
	struct compile_result result = { 0 };
	char *label = xasprintf("pass '%s'", pass->name);
	int rc = worker_compile(worker, id, label, p->shader.vertex, p->shader.stage,
	    &result, err);
	free(label);
	if (rc < 0)
		return -1;
	++*env->ncompiled;
	rc = remember(env, p, &result, err);
	*ok = result.ok;
	if (result.ok) {
		p->id = id;
		p->worker = worker_serial(worker);
		/* Linked again, it uses the same: who reads it may go on. */
		if (!p->ok) {
			reflection_release(&p->reflection);
			p->reflection = result.reflection;
			memset(&result.reflection, 0, sizeof result.reflection);
		}
		if (result.log && *result.log)
			log_verbose("pass '%s': %s", pass->name, result.log);
	} else {
		*log = xstrdup(result.log ? result.log : "");
	}
	compile_result_release(&result);
	return rc;
}

int program_expand(const struct program_env *env, const struct manifest *m, int p,
    struct program *out, struct err *err)
{
	memset(out, 0, sizeof *out);
	out->pass = p;
	return shader_expand(env->tree, m, p, 0, env->inputs, &out->source, err);
}

int program_load(const struct program_env *env, const struct variant *v, int p,
    struct program *out, struct err *err)
{
	const struct manifest *m = v->manifest;
	const struct pass *pass = &m->pass[p];
	struct shader_target target = target_of(env->driver);
	char *log = NULL;
	int ok = 0, rc = -1;
	if (program_expand(env, m, p, out, err) < 0)
		goto out;
	if (shader_build(v, p, &out->source, &target, &out->shader, err) < 0)
		goto out;
	if (!recall(env, out, &ok, &log) && compile(env, pass, out, &ok, &log, err) < 0)
		goto out;
	if (!ok) {
		shader_log(m, p, &out->source, &out->shader, log, err);
		goto out;
	}
	/* GL does not say; the text does. */
	for (size_t i = 0; i < out->reflection.nblock; i++)
		if (shader_is_readonly(&out->shader, out->reflection.block[i].name))
			out->reflection.block[i].is_written = 0;
	out->ok = 1;
	rc = 0;
out:
	free(log);
	return rc;
}

int program_link(const struct program_env *env, const struct variant *v,
    struct program *program, struct err *err)
{
	if (program->id)
		return 0;
	const struct pass *pass = &v->manifest->pass[program->pass];
	char *log = NULL;
	int ok = 0, rc = -1;
	if (compile(env, pass, program, &ok, &log, err) < 0)
		goto out;
	if (!ok) {
		shader_log(v->manifest, program->pass, &program->source, &program->shader,
		    log, err);
		goto out;
	}
	rc = 0;
out:
	free(log);
	return rc;
}

struct key_program program_for_keys(const struct program *p)
{
	return (struct key_program){
		.tokens = &p->shader.tokens,
		.has_discard = p->shader.has_discard,
		.reflection = &p->reflection,
		.part = p->shader.part,
		.npart = p->shader.npart,
	};
}

void program_release(struct program *p)
{
	if (!p)
		return;
	source_release(&p->source);
	shader_release(&p->shader);
	reflection_release(&p->reflection);
	memset(p, 0, sizeof *p);
}

int programs_load(const struct program_env *env, const struct variant *v,
    const int *is_wanted, struct programs *out, struct errs *errs)
{
	size_t n = v->manifest->npass;
	int failed = 0;
	out->program = xcalloc(n, sizeof *out->program);
	out->nprogram = n;
	for (size_t i = 0; i < n; i++) {
		struct err err = ERR_INIT;
		out->program[i].pass = (int)i;
		if (is_wanted && !is_wanted[i])
			continue;
		if (!program_load(env, v, (int)i, &out->program[i], &err))
			continue;
		failed = 1;
		int is_hopeless = err.status == STATUS_MACHINE;
		errs_take(errs, &err);
		if (is_hopeless)
			break;
	}
	return failed ? -1 : 0;
}

void programs_release(struct programs *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->nprogram; i++)
		program_release(&p->program[i]);
	free(p->program);
	*p = (struct programs){ NULL, 0 };
}
