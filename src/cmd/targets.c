#include "cmd/targets.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/session.h"
#include "format/bundle_write.h"
#include "capture/sound.h"
#include "util/fs.h"
#include "util/mem.h"
#include "why/compare.h"
#include "util/suggest.h"

/* The frames that --frame, --time or --frames name; none: *n stays 0. */
static int option_frames(const struct manifest *m, const struct target_options *o,
    const struct trace *trace, int **frame, size_t *n, struct err *err)
{
	if (!!o->frame + !!o->time + !!o->frames > 1)
		return err_set(err, STATUS_INPUT,
		    "--frame, --time and --frames are mutually exclusive");
	if (o->frames)
		return frames_parse(o->frames, frame, n, err)
		    ? err_wrap(err, "in --frames")
		    : 0;
	if (o->frame) {
		if (frames_parse(o->frame, frame, n, err))
			return err_wrap(err, "in --frame");
		if (*n != 1)
			return err_set(err, STATUS_INPUT,
			    "--frame takes one "
			    "frame; --frames takes a list");
		return 0;
	}
	if (o->time) {
		struct value time;
		if (value_parse(o->time, VALUE_FLOAT, &time, err))
			return err_wrap(err, "in --time %s", o->time);
		double fps = o->fps > 0       ? o->fps
		    : trace && trace->fps > 0 ? trace->fps
					      : m->fps;
		if (time.f[0] < 0 || time.f[0] * fps > LIMIT_FRAME)
			return err_set(err, STATUS_INPUT,
			    "--time %s: expected "
			    "a time from 0 to that of frame %d",
			    o->time, LIMIT_FRAME);
		*frame = xmalloc(sizeof **frame);
		**frame = frame_of_time(time.f[0], fps);
		*n = 1;
	}
	return 0;
}

#define SOUND "sound:" /* in front of the name of a sound pass */

static int has_variant_options(const struct target_options *o)
{
	return o->width > 0 || o->height > 0 || o->fps > 0 || o->preset ||
	    o->set.nitem > 0;
}

static int is_one_off(const struct target_options *o)
{
	return o->frame || o->time || o->frames || o->output || has_variant_options(o);
}

static struct capture_request *add_request(struct targets *t,
    const struct target_options *o, const struct trace *trace, const char *name,
    int *frame, size_t nframe)
{
	t->request = xreallocarray(t->request, t->nrequest + 1, sizeof *t->request);
	t->frame = xreallocarray(t->frame, t->nrequest + 1, sizeof *t->frame);
	t->frame[t->nrequest] = frame;
	struct capture_request *r = &t->request[t->nrequest++];
	*r = (struct capture_request){ .trace = trace,
		.name = name,
		.frame = frame,
		.nframe = nframe,
		.options = &t->variant,
		.include_intermediates =
		    o->include_intermediates || (trace && trace->include_intermediates),
		.is_one_off = has_variant_options(o),
		.path = t->output };
	return r;
}

/* "what 'NAME'", with the nearest of known[n] and of the sound targets. */
static int unknown_target(const struct manifest *m, const char *what, const char *name,
    const char **known, size_t n, struct err *err)
{
	char **sound = xcalloc(m->npass, sizeof *sound);

	for (size_t p = 0; p < m->npass; p++)
		if (m->pass[p].kind == PASS_SOUND)
			known[n++] = sound[p] = xasprintf(SOUND "%s", m->pass[p].name);
	const char *near = suggest(name, known, n);
	err_set(err, STATUS_INPUT, "unknown %s '%s'%s%s%s", what, name,
	    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	for (size_t p = 0; p < m->npass; p++)
		free(sound[p]);
	free(sound);
	return -1;
}

static int unknown_trace(const struct manifest *m, const char *name, struct err *err)
{
	const char **known = NULL;
	size_t n = 0, cap = 0;

	if (command_find(name))
		return err_set(err, STATUS_INPUT,
		    "no trace named '%s' (a command "
		    "is the first operand, and not after '--')",
		    name);
	for (size_t i = 0; i < m->ntrace; i++) {
		known = array_grow(known, n, &cap, sizeof *known);
		known[n++] = m->trace[i].name;
	}
	for (const struct command *c = command; c->name; c++) {
		known = array_grow(known, n, &cap, sizeof *known);
		known[n++] = c->name;
	}
	known = xreallocarray(known, n + m->npass, sizeof *known);
	unknown_target(m, "command or trace", name, known, n, err);
	free(known);
	return -1;
}

static void add_sound(struct targets *t, int pass)
{
	for (size_t i = 0; i < t->nsound; i++)
		if (t->sound[i] == pass)
			return;
	t->sound = xreallocarray(t->sound, t->nsound + 1, sizeof *t->sound);
	t->sound[t->nsound++] = pass;
}

/* sound:NAME. */
static int add_sound_operand(const struct manifest *m, const struct target_options *o,
    const char *word, struct targets *t, struct err *err)
{
	int pass = manifest_pass(m, word + sizeof SOUND - 1);

	if (pass < 0 || m->pass[pass].kind != PASS_SOUND) {
		const char **known = xcalloc(m->npass, sizeof *known);
		unknown_target(m, "sound", word, known, 0, err);
		free(known);
		return -1;
	}
	if (is_one_off(o))
		return err_set(err, STATUS_INPUT,
		    "'%s' takes no options of "
		    "one-off captures: only the manifest decides a sound",
		    word);
	add_sound(t, pass);
	return 0;
}

/* The frames of a trace. One that is a moment is where --fps has it. */
static int trace_frames(const struct trace *trace, const struct target_options *o,
    int **frame, size_t *n, struct err *err)
{
	*frame = xmemdup(trace->frame, trace->nframe * sizeof **frame);
	*n = trace->nframe;
	if (!trace->has_time || !(o->fps > 0))
		return 0;
	if (trace->time * o->fps > LIMIT_FRAME)
		return err_set(err, STATUS_INPUT,
		    "--fps %g: the time of trace "
		    "'%s' is beyond frame %d, the last possible",
		    o->fps, trace->name, LIMIT_FRAME);
	**frame = frame_of_time(trace->time, o->fps);
	return 0;
}

/* One operand: NAME or NAME@FRAMES. */
static int add_operand(const struct manifest *m, const struct target_options *o,
    const char *word, struct targets *t, struct err *err)
{
	const char *at = strchr(word, '@');
	char *name = at ? xstrndup(word, (size_t)(at - word)) : xstrdup(word);
	int index = manifest_trace(m, name), rc = -1;
	int *frame = NULL;
	size_t n = 0;

	if (index < 0) {
		unknown_trace(m, name, err);
		goto out;
	}
	const struct trace *trace = &m->trace[index];
	if (option_frames(m, o, trace, &frame, &n, err))
		goto out;
	if (at && n > 0) {
		err_set(err, STATUS_INPUT,
		    "target '%s' already names its "
		    "frames; omit --frame, --time and --frames",
		    word);
		goto out;
	}
	if (at && frames_parse(at + 1, &frame, &n, err)) {
		err_wrap(err, "in target '%s'", word);
		goto out;
	}
	if (n == 0 && trace_frames(trace, o, &frame, &n, err))
		goto out;
	add_request(t, o, trace, trace->name, frame, n);
	frame = NULL;
	rc = 0;
out:
	free(frame);
	free(name);
	return rc;
}

/* Whether a trace says frames, and nothing of how they are drawn. */
static int is_plain(const struct trace *t)
{
	return !t->preset && !t->width && !t->height && !(t->fps > 0) && !t->nset &&
	    !t->has_timeline && !t->include_intermediates;
}

/* A frame option without a target: the project's own defaults. */
static int add_default(const struct manifest *m, const struct target_options *o,
    struct targets *t, struct err *err)
{
	int *frame = NULL;
	size_t n = 0;

	if (option_frames(m, o, NULL, &frame, &n, err)) {
		free(frame);
		return -1;
	}
	struct capture_request *r = add_request(t, o, NULL, "default", frame, n);
	/*
	 * A trace of that name in the manifest keeps its bundles, unless it is
	 * the defaults by name, as import writes it.
	 */
	int named = m->has_traces ? manifest_trace(m, "default") : -1;
	r->is_one_off |= named >= 0 && !is_plain(&m->trace[named]);
	return 0;
}

static int check_output(const struct target_options *o, struct targets *t,
    struct err *err)
{
	static const char ending[] = ".sttrace";
	size_t n = strlen(o->output);

	while (n > 1 && o->output[n - 1] == '/')
		n--;
	if (n < sizeof ending ||
	    strncmp(o->output + n - (sizeof ending - 1), ending, sizeof ending - 1) != 0)
		return err_set(err, STATUS_INPUT,
		    "-o %s: the output name must end in .sttrace", o->output);
	char *path = xstrndup(o->output, n);
	if (bundle_check_place(path, 0, err)) {
		free(path);
		return err_wrap(err, "in -o %s", o->output);
	}
	char cwd[4096];
	if (!getcwd(cwd, sizeof cwd)) {
		free(path);
		return err_errno(err, STATUS_MACHINE, "the current folder");
	}
	t->output = fs_join(cwd, path);
	free(path);
	return 0;
}

int targets_find(const struct manifest *m, const struct target_options *o,
    const struct args_list *operand, struct targets *out, struct err *err)
{
	size_t nframe = 0;

	memset(out, 0, sizeof *out);
	out->variant = (struct variant_options){ .preset = o->preset,
		.width = (int)o->width,
		.height = (int)o->height,
		.fps = o->fps,
		.set = o->set.item,
		.nset = o->set.nitem };
	if (o->output && check_output(o, out, err))
		return -1;
	if (operand->nitem == 0 && (o->frame || o->time || o->frames)) {
		if (add_default(m, o, out, err))
			return -1;
	} else if (operand->nitem == 0) {
		for (size_t i = 0; i < m->ntrace; i++)
			if (add_operand(m, o, m->trace[i].name, out, err))
				return -1;
	}
	if (operand->nitem == 0 && !is_one_off(o))
		for (size_t p = 0; p < m->npass; p++)
			if (m->pass[p].kind == PASS_SOUND)
				add_sound(out, (int)p);
	for (size_t i = 0; i < operand->nitem; i++) {
		const char *word = operand->item[i];
		if (strncmp(word, SOUND, sizeof SOUND - 1) == 0
			? add_sound_operand(m, o, word, out, err)
			: add_operand(m, o, word, out, err))
			return -1;
	}
	for (size_t i = 0; i < out->nrequest; i++)
		nframe += out->request[i].nframe;
	if (out->output && nframe != 1)
		return err_set(err, STATUS_INPUT,
		    "-o needs exactly one frame, "
		    "but %zu were requested",
		    nframe);
	/* With -o a bundle is where it is wanted, not one of the trace's. */
	for (size_t i = 0; i < out->nrequest && out->output; i++)
		out->request[i].is_one_off = 1;
	return 0;
}

static int new_worker(void *data, struct worker **out, struct err *err)
{
	struct worker_options options;

	session_worker_options(data, &options);
	return worker_open(&options, out, err);
}

/* A link that came with the project must not choose where is written. */
static int refuse_links(const struct session *s, struct err *err)
{
	static const char *const folder[] = { "target", "target/traces",
		"target/captures", "target/revisions", "target/sounds" };
	int rc = 0;

	for (size_t i = 0; i < sizeof folder / sizeof *folder && !rc; i++) {
		char *path = fs_join(s->root, folder[i]);
		struct stat st;
		if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) {
			rc = err_set(err, STATUS_INPUT,
			    "'%s' is a symbolic "
			    "link, and nothing is written through one: "
			    "remove it, or name another place with -o",
			    path);
			err_place(err, path, 0, 0, NULL);
		}
		free(path);
	}
	return rc;
}

/* 1 when all goes to places that the user named. */
static int is_elsewhere(const struct targets *t)
{
	for (size_t i = 0; i < t->nrequest; i++)
		if (!t->request[i].path)
			return 0;
	return t->nsound == 0;
}

/* "target/" is ours: its .gitignore makes git leave it alone. */
static int prepare_target(const struct session *s, const struct targets *t,
    struct err *err)
{
	char *dir = fs_join(s->root, "target");
	char *file = fs_join(dir, ".gitignore");
	int rc = 0;

	if (is_elsewhere(t)) {
		free(file);
		free(dir);
		return 0;
	}
	session_clean(s);
	if (refuse_links(s, err))
		rc = -1;
	else if (!fs_exists(file) &&
	    (fs_mkdirs(dir, err) || fs_write(file, "*\n", 2, 0, err)))
		rc = -1;
	free(file);
	free(dir);
	return rc;
}

/* 0, or -1; captures what the targets say. */
static int run(struct session *s, const struct targets *t, int plan,
    void (*progress)(void *data, const struct capture_progress *p),
    struct capture_result *result, struct err *err)
{
	const struct options *o = s->options;
	struct capture_env env = { .root = s->root,
		.manifest = &s->manifest,
		.tree = s->tree,
		.new_worker = new_worker,
		.data = s,
		.repo = session_repo(s),
		.commit = s->commit[0] ? s->commit : NULL,
		.jobs = (int)o->jobs,
		.keep_going = o->keep_going,
		.always = o->always,
		.dry_run = plan,
		.compare = record_compare,
		.compare_drivers = record_compare_drivers };
	struct inputs inputs = { 0 };
	int rc;

	/* The manifest's part of what was read; captures add their own. */
	for (size_t i = 0; i < s->inputs.ninput; i++)
		if (strcmp(s->inputs.input[i].path, s->manifest.path) == 0)
			inputs_add(&inputs, s->inputs.input[i].path,
			    &s->inputs.input[i].sha);
	env.manifest_inputs = &inputs;
	env.progress = progress;
	rc = session_programs(s, &env.programs, err);
	if (rc == 0 && !plan)
		rc = prepare_target(s, t, err);
	memset(result, 0, sizeof *result);
	if (rc == 0 && t->nrequest > 0)
		rc = capture_run(&env, t->request, t->nrequest, result, err);
	if (rc == 0 && t->nsound > 0 && result->signal == 0)
		rc = sound_run(&env, t->sound, t->nsound, result, err);
	inputs_release(&inputs);
	return rc;
}

int targets_capture(struct session *s, const struct targets *t, int plan,
    void (*progress)(void *data, const struct capture_progress *p),
    struct capture_result *result, struct err *err)
{
	if (run(s, t, plan, progress, result, err) == 0)
		return 0;
	if (!s->driver_changed)
		return -1;
	/* Keys were made for another driver than the one there is. */
	err_release(err);
	capture_result_release(result);
	s->driver_changed = 0;
	return run(s, t, plan, progress, result, err);
}

void targets_release(struct targets *t)
{
	for (size_t i = 0; i < t->nrequest; i++)
		free(t->frame[i]);
	free(t->frame);
	free(t->sound);
	free(t->request);
	free(t->output);
	memset(t, 0, sizeof *t);
}
