/* The manifest's rules that span keys (stbuild.json(5)). */
#include "manifest_keys.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "glsl/word.h"
#include "util/limits.h"
#include "util/buf.h"
#include "util/mem.h"

void check_render(struct loader *l, const cJSON *item, const struct at *at, void *out)
{
	const struct manifest *m = out;
	if (m->preview_time * m->fps > LIMIT_FRAME)
		fault_in(l, at, item, "preview_time",
		    "the time is beyond frame "
		    "%d, the last possible",
		    LIMIT_FRAME);
}

/* A value key of a uniform. */
static int value_of(struct loader *l, const cJSON *item, const struct at *at,
    const char *key, enum value_type type, struct value *out)
{
	const cJSON *child = child_of(item, key);
	struct at here = { at, key, 0 };
	return child ? load_value(l, &here, child, type, out) : 0;
}

/* A bool has no range; min, max, step and default are of the type and agree. */
void check_uniform(struct loader *l, const cJSON *item, const struct at *at, void *out)
{
	struct uniform *u = out;
	size_t before = l->nfault;
	int is_bool = u->type == VALUE_BOOL;
	static const char *const bound[] = { "min", "max", "step" };
	for (int i = 0; is_bool && i < 3; i++)
		if (child_of(item, bound[i]))
			fault_in(l, at, item, bound[i], "a bool cannot have %s",
			    bound[i]);
	const cJSON *step = child_of(item, "step");
	if (u->type == VALUE_INT && step && kind_of(l, step) != DOC_INTEGER)
		fault_in(l, at, item, "step", "the step of an int must be an integer");
	value_of(l, item, at, "default", u->type, &u->value);
	if (!is_bool) {
		value_of(l, item, at, "min", u->type, &u->min);
		value_of(l, item, at, "max", u->type, &u->max);
	}
	if (l->nfault != before)
		return;
	for (int i = 0; u->has_min && u->has_max && i < value_components(u->type); i++) {
		int is_int = u->type == VALUE_INT;
		if (is_int ? u->min.i > u->max.i : u->min.f[i] > u->max.f[i]) {
			fault_in(l, at, item, "min", "min is greater than max");
			return;
		}
	}
	struct at here = { at, "default", 0 };
	if (!check_range(l, &here, child_of(item, "default"), u, &u->value))
		l->uniform_ok[u - l->m->uniform] = 1;
}

void check_asset(struct loader *l, const cJSON *item, const struct at *at, void *out)
{
	const struct asset *asset = out;
	(void)item, (void)at;
	l->asset_ok[asset - l->m->asset] = 1;
}

/* One name has one size, 64 names at most. */
void check_storage(struct loader *l, const cJSON *item, const struct at *at, void *out)
{
	const struct storage *s = out;
	size_t i = map_gets(&l->storage, s->name);
	if (i != MAP_NONE) {
		if (l->storage_size[i] != s->size)
			fault_in(l, at, item, "size",
			    "storage buffer '%s' has "
			    "%llu bytes in another pass",
			    s->name, (unsigned long long)l->storage_size[i]);
	} else if (l->storage.nentry == LIMIT_STORAGE_NAMES) {
		fault_in(l, at, item, "name", "more than %d storage buffers",
		    LIMIT_STORAGE_NAMES);
	} else {
		l->storage_size[l->storage.nentry] = s->size;
		map_puts(&l->storage, s->name, l->storage.nentry);
	}
}

/* What an input can be told wrong by alone, without the pass that it reads. */
void check_input(struct loader *l, const cJSON *item, const struct at *at, void *out)
{
	const struct input_ref *input = out;
	const cJSON *kind = child_of(item, "kind");
	if (kind && strcmp(kind->valuestring, input_kind_name(input->kind)) != 0 &&
	    (input->asset < 0 || l->asset_ok[input->asset]))
		fault_in(l, at, item, "kind", "source '%s' is of kind '%s'",
		    child_of(item, "source")->valuestring, input_kind_name(input->kind));
	if (input->kind != INPUT_PASS && input->output)
		fault_in(l, at, item, "output", "only passes have outputs");
	if (input->kind != INPUT_PASS && input->is_previous)
		fault_in(l, at, item, "frame", "only passes have a previous frame");
	if (input->is_previous && input->output)
		fault_in(l, at, item, "output",
		    "only output 0 can be read at the previous frame");
}

static int is_sized_kind(enum pass_kind kind)
{
	return kind == PASS_BUFFER || kind == PASS_COMPUTE;
}

/* Whether a pass may, or must, have a size depends on its kind. */
static void check_pass_size(struct loader *l, const cJSON *item, const struct at *at,
    const struct pass *pass)
{
	const char *kind = pass_kind_name(pass->kind);
	const char *missing = pass->width ? "height" : "width";
	if (!pass->width != !pass->height)
		fault_in(l, at, item, pass->width ? "width" : "height",
		    "%s needs %s as well", pass->width ? "width" : "height", missing);
	else if (pass->width && !is_sized_kind(pass->kind))
		fault_in(l, at, item, "width",
		    "a pass of kind '%s' cannot have a size of its own", kind);
	else if (!pass->width && pass->kind == PASS_COMPUTE)
		fault_in(l, at, item, "kind", "a compute pass needs width and height");
	if (pass->format != FORMAT_RGBA32F && !is_sized_kind(pass->kind))
		fault_in(l, at, item, "format",
		    "a pass of kind '%s' cannot have a format of its own", kind);
	if (pass->nextra_output && !is_sized_kind(pass->kind))
		fault_in(l, at, item, "extra_outputs",
		    "a pass of kind '%s' cannot have extra outputs", kind);
	if (pass->iterations != 1 && pass->kind != PASS_COMPUTE)
		fault_in(l, at, item, "iterations",
		    "only compute passes can have iterations");
	if (child_of(item, "local_size") && pass->kind != PASS_COMPUTE)
		fault_in(l, at, item, "local_size",
		    "only compute passes have a local_size");
	if (child_of(item, "duration") && pass->kind != PASS_SOUND)
		fault_in(l, at, item, "duration", "only sound passes have a duration");
}

void check_pass(struct loader *l, const cJSON *item, const struct at *at, void *out)
{
	struct pass *pass = out;
	check_pass_size(l, item, at, pass);
	for (size_t i = 0; i < pass->nstorage; i++)
		for (size_t k = 0; k < i; k++)
			if (pass->storage[k].binding == pass->storage[i].binding &&
			    pass->storage[k].name && pass->storage[i].name) {
				fault_in(l, at, item, "storage",
				    "binding %u is used twice",
				    (unsigned)pass->storage[i].binding);
				i = k = pass->nstorage;
			}
	unsigned channels = 0;
	const cJSON *input = pass->ninput ? child_of(item, "input")->child : NULL;
	struct at list = { at, "input", 0 };
	for (size_t i = 0; i < pass->ninput; i++, input = input->next) {
		unsigned bit = 1u << pass->input[i].channel;
		struct at here = { &list, NULL, i };
		const cJSON *channel =
		    cJSON_IsObject(input) ? child_of(input, "channel") : NULL;
		if (channel && kind_of(l, channel) == DOC_INTEGER &&
		    channel->valuedouble == pass->input[i].channel) {
			if (channels & bit)
				fault_in(l, &here, input, "channel",
				    "channel %d is used twice", pass->input[i].channel);
			channels |= bit;
		}
	}
	if (pass->kind == PASS_IMAGE)
		pass->format = FORMAT_RGBA8;
	else if (pass->kind == PASS_CUBEMAP)
		pass->format = FORMAT_RGBA16F;
	l->pass_ok[pass - l->m->pass] = 1;
}

/* What a preset changes has to exist in a pass of that kind. */
void check_preset_pass(struct loader *l, const cJSON *item, const struct at *at,
    void *out)
{
	const struct preset_pass *p = out;
	if (!p->width != !p->height)
		fault_in(l, at, item, p->width ? "width" : "height",
		    "%s needs %s as well", p->width ? "width" : "height",
		    p->width ? "height" : "width");
	if (!l->pass_ok[p->pass])
		return;
	enum pass_kind kind = l->m->pass[p->pass].kind;
	if (p->width && p->height && !is_sized_kind(kind))
		fault_in(l, at, item, "width",
		    "a pass of kind '%s' cannot have a size of its own",
		    pass_kind_name(kind));
	if (p->iterations && kind != PASS_COMPUTE)
		fault_in(l, at, item, "iterations",
		    "only compute passes can have iterations");
	if (p->local_size[0] && kind != PASS_COMPUTE)
		fault_in(l, at, item, "local_size",
		    "only compute passes have a local_size");
}

void check_preset(struct loader *l, const cJSON *item, const struct at *at, void *out)
{
	const struct preset *preset = out;
	double width = round(l->m->width * preset->render_scale);
	double height = round(l->m->height * preset->render_scale);
	if (!(width >= 1 && width <= LIMIT_SIZE && height >= 1 && height <= LIMIT_SIZE))
		fault_in(l, at, item, "render_scale",
		    "the scaled size would "
		    "be %.0f x %.0f (each side must be 1 to %d)",
		    width, height, LIMIT_SIZE);
}

static int compare_steps(const void *a, const void *b)
{
	const struct timeline_step *x = a, *y = b;
	return (x->frame > y->frame) - (x->frame < y->frame);
}

/* No frame twice; then sorted. */
static void check_timeline(struct loader *l, const cJSON *table, const struct at *at,
    struct timeline *timeline)
{
	struct map seen = MAP_INIT;
	const cJSON *list = child_of(table, "timeline");
	struct at here = { at, "timeline", 0 };
	size_t i = 0;
	for (const cJSON *c = list && cJSON_IsArray(list) ? list->child : NULL; c;
	     c = c->next, i++) {
		struct at step = { &here, NULL, i };
		const cJSON *frame = cJSON_IsObject(c) ? child_of(c, "frame") : NULL;
		if (!frame || kind_of(l, frame) != DOC_INTEGER)
			continue;
		long long v = doc_integer(l->doc, frame);
		if (!map_put(&seen, &v, sizeof v, i))
			fault_in(l, &step, c, "frame",
			    "frame %lld is listed twice in the timeline", v);
	}
	map_release(&seen);
	if (timeline->nstep)
		qsort(timeline->step, timeline->nstep, sizeof *timeline->step,
		    compare_steps);
}

/* frame, time and frames exclude each other. Returns how many there are. */
static int check_exclusive(struct loader *l, const cJSON *item, const struct at *at)
{
	static const char *const key[] = { "frames", "frame", "time" };
	const char *first = NULL;
	int n = 0;
	for (int i = 0; i < 3; i++) {
		if (!child_of(item, key[i]))
			continue;
		if (n++)
			fault_in(l, at, item, key[i],
			    "'%s' and '%s' are mutually "
			    "exclusive",
			    first, key[i]);
		else
			first = key[i];
	}
	return n;
}

void check_when(struct loader *l, const cJSON *item, const struct at *at, double fps,
    int **frame, size_t *nframe)
{
	const cJSON *one = child_of(item, "frame");
	const cJSON *time = child_of(item, "time");
	if (check_exclusive(l, item, at) != 1)
		return;
	if (one)
		frames_add(frame, nframe, (int)one->valuedouble, (int)one->valuedouble,
		    1);
	if (!time)
		return;
	int f = frame_of_time(time->valuedouble, fps);
	if (f > LIMIT_FRAME)
		fault_in(l, at, item, "time",
		    "the time is beyond frame %d, the last possible", LIMIT_FRAME);
	else
		frames_add(frame, nframe, f, f, 1);
}

void check_trace(struct loader *l, const cJSON *item, const struct at *at, void *out)
{
	struct trace *trace = out;
	double fps = trace->fps > 0 ? trace->fps : l->m->fps;
	check_when(l, item, at, fps, &trace->frame, &trace->nframe);
	const cJSON *time = child_of(item, "time");
	trace->has_time = time ? trace->nframe == 1 : !trace->nframe;
	trace->time = time ? time->valuedouble : l->m->preview_time;
	if (!trace->nframe) {
		int f = frame_of_time(l->m->preview_time, fps);
		if (f > LIMIT_FRAME)
			f = LIMIT_FRAME;
		frames_add(&trace->frame, &trace->nframe, f, f, 1);
	}
	if (trace->has_timeline)
		check_timeline(l, item, at, &trace->timeline);
}

/* What an input asks of the pass it reads. */
static void check_link(struct loader *l, const struct at *at, const cJSON *item,
    const struct pass *reader, const struct input_ref *input)
{
	const struct pass *source = &l->m->pass[input->pass];
	if (source->kind == PASS_SOUND) {
		fault_in(l, at, item, "source", "a sound pass cannot be an input");
		return;
	}
	if (reader->kind == PASS_SOUND)
		fault_in(l, at, item, "source", "a sound pass cannot read other passes");
	if (source->kind == PASS_IMAGE && input->is_previous)
		fault_in(l, at, item, "frame",
		    "the image pass has no previous frame to read");
	if (input->output > source->nextra_output)
		fault_in(l, at, item, "output", "pass '%s' has outputs 0 to %d",
		    source->name, source->nextra_output);
}

static void check_links(struct loader *l, const cJSON *root)
{
	struct manifest *m = l->m;
	const cJSON *pass = m->npass ? child_of(root, "pass")->child : NULL;
	struct at passes = { NULL, "pass", 0 };
	for (size_t p = 0; p < m->npass; p++, pass = pass->next) {
		const cJSON *input =
		    m->pass[p].ninput ? child_of(pass, "input")->child : NULL;
		struct at at_pass = { &passes, NULL, p };
		struct at inputs = { &at_pass, "input", 0 };
		for (size_t i = 0; i < m->pass[p].ninput; i++, input = input->next) {
			const struct input_ref *ref = &m->pass[p].input[i];
			struct at here = { &inputs, NULL, i };
			if (ref->pass >= 0 && l->pass_ok[p] && l->pass_ok[ref->pass])
				check_link(l, &here, input, &m->pass[p], ref);
		}
	}
}

struct cycle_search {
	struct loader *l;
	unsigned char *state; /* a pass each: 0 new, 1 on the path, 2 done */
	int path[LIMIT_PASSES];
	int npath;
};

static int ends_in_toml(const char *name)
{
	size_t n = strlen(name);
	return n >= 5 && strcmp(name + n - 5, ".toml") == 0;
}

static void report_cycle(struct cycle_search *s, const struct input_ref *ref,
    size_t index)
{
	const struct manifest *m = s->l->m;
	int from = s->npath - 1;
	while (s->path[from] != ref->pass)
		from--;
	struct buf text = BUF_INIT;
	for (int i = from; i < s->npath; i++)
		buf_addf(&text, "%s -> ", m->pass[s->path[i]].name);
	buf_addstr(&text, m->pass[ref->pass].name);
	struct at list = { NULL, "pass", 0 };
	struct at pass = { &list, NULL, (size_t)s->path[s->npath - 1] };
	struct at inputs = { &pass, "input", 0 };
	struct at input = { &inputs, NULL, index };
	const cJSON *item = child_of(s->l->doc->root, "pass")->child;
	for (size_t i = pass.index; i; i--)
		item = item->next;
	item = child_of(item, "input")->child;
	for (size_t i = index; i; i--)
		item = item->next;
	if (m->pass[s->path[s->npath - 1]].name && from == s->npath - 1)
		fault_in(s->l, &input, item, "source",
		    "pass '%s' reads its own "
		    "current frame; use %s",
		    m->pass[ref->pass].name,
		    ends_in_toml(s->l->doc->name) ? "frame = \"previous\""
						  : "\"frame\": \"previous\"");
	else
		fault_in(s->l, &input, item, "source",
		    "passes read each other at the "
		    "current frame: %s; one of them must read the previous frame",
		    buf_str(&text));
	buf_release(&text);
}

/* Inputs of the same frame make no circle. Depth is at most LIMIT_PASSES. */
static void find_cycles(struct cycle_search *s, int p)
{
	const struct pass *pass = &s->l->m->pass[p];
	s->state[p] = 1;
	s->path[s->npath++] = p;
	for (size_t i = 0; i < pass->ninput; i++) {
		const struct input_ref *ref = &pass->input[i];
		if (ref->pass < 0 || ref->is_previous)
			continue;
		if (s->state[ref->pass] == 1 && s->l->m->pass[ref->pass].name)
			report_cycle(s, ref, i);
		else if (!s->state[ref->pass])
			find_cycles(s, ref->pass);
	}
	s->npath--;
	s->state[p] = 2;
}

static void check_cycles(struct loader *l)
{
	struct cycle_search s = { .l = l, .state = xcalloc(l->m->npass, 1) };
	for (size_t p = 0; p < l->m->npass; p++)
		if (!s.state[p])
			find_cycles(&s, (int)p);
	free(s.state);
}

/* Exactly one image; at most as many buffers as a state file takes. */
static void check_kinds(struct loader *l, const cJSON *root)
{
	struct manifest *m = l->m;
	const cJSON *list = child_of(root, "pass");
	struct at at = { NULL, "pass", 0 };
	int nbuffer = 0;
	if (list && cJSON_IsArray(list) && !list->child)
		fault(l, &at, list, "expected at least one pass");
	for (size_t p = 0; p < m->npass; p++) {
		if (!l->pass_ok[p])
			return;
		nbuffer += is_sized_kind(m->pass[p].kind);
		if (m->pass[p].kind != PASS_IMAGE)
			continue;
		if (m->image >= 0)
			fault(l, &at, list,
			    "exactly one pass must be of kind 'image', "
			    "but both '%s' and '%s' are",
			    m->pass[m->image].name, m->pass[p].name);
		else
			m->image = (int)p;
	}
	if (m->npass && m->image < 0)
		fault(l, &at, list, "one pass must be of kind 'image'");
	if (nbuffer > LIMIT_STATE_BUFFERS)
		fault(l, &at, list,
		    "too many buffer and compute passes (%d, "
		    "at most %d)",
		    nbuffer, LIMIT_STATE_BUFFERS);
}

/* A name that the text around pass p cannot spare, though others can. */
static const char *name_fault(const struct manifest *m, size_t p, const char *name)
{
	const struct pass *pass = &m->pass[p];
	const char *why = NULL;
	if (pass->kind == PASS_COMPUTE || pass->nstorage)
		why = word_fault(name, WORD_IN_GLSL);
	if (pass->kind == PASS_COMPUTE &&
	    (strcmp(name, "all") == 0 || strcmp(name, "lessThan") == 0))
		why = "is needed by the generated text";
	if (pass->kind == PASS_CUBEMAP && strcmp(name, "normalize") == 0)
		why = "is needed by the generated text";
	return why;
}

/* Uniforms are declared in all passes, storage and compute in desktop GLSL. */
static void check_names(struct loader *l, const cJSON *root)
{
	const struct manifest *m = l->m;
	struct at list = { NULL, "uniform", 0 };
	const cJSON *item = m->nuniform ? child_of(root, "uniform")->child : NULL;
	for (size_t u = 0; u < m->nuniform; u++, item = item->next) {
		struct at here = { &list, NULL, u };
		const char *name = m->uniform[u].name, *why = NULL;
		for (size_t p = 0; p < m->npass && name && !why; p++) {
			why = name_fault(m, p, name);
			if (why)
				fault_in(l, &here, item, "name",
				    "'%s' %s around pass '%s'", name, why,
				    m->pass[p].name ? m->pass[p].name : "");
		}
	}
}

void check_root(struct loader *l, const cJSON *root, const struct at *at, void *out)
{
	struct manifest *m = out;
	check_kinds(l, root);
	check_links(l, root);
	check_cycles(l);
	check_names(l, root);
	check_timeline(l, root, at, &m->timeline);
	m->has_traces = m->ntrace > 0;
	if (m->has_traces || l->nfault)
		return;
	m->trace = xcalloc(1, sizeof *m->trace);
	m->ntrace = 1;
	m->trace->name = xstrdup("default");
	m->trace->has_time = 1;
	m->trace->time = m->preview_time;
	int f = frame_of_time(m->preview_time, m->fps);
	frames_add(&m->trace->frame, &m->trace->nframe, f, f, 1);
}
