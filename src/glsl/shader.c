#include "glsl/shader.h"

#include <string.h>

#include "util/limits.h"
#include "glsl/preprocess.h"
#include "glsl/shader_rewrite.h"
#include "glsl/word.h"
#include "glsl/shader_zero.h"
#include "util/map.h"
#include "util/mem.h"

/* What a pass needs, decided once. */
struct plan {
	const struct manifest *m;
	const struct pass *pass;
	int is_essl; /* its own text; storage is always desktop GLSL */
	int version; /* 300, 410, 430 */
	int is_compute;
	const char *entry;
	struct map declared; /* uniforms that the user's text has */
	struct preprocess user;
};

const char *shader_entry(enum pass_kind kind)
{
	switch (kind) {
	case PASS_CUBEMAP:
		return "mainCubemap";
	case PASS_COMPUTE:
		return "mainCompute";
	case PASS_SOUND:
		return "mainSound";
	case PASS_IMAGE:
	case PASS_BUFFER:
		break;
	}
	return "mainImage";
}

/* The entry point's head as people write it, for messages. */
static const char *entry_example(enum pass_kind kind)
{
	switch (kind) {
	case PASS_CUBEMAP:
		return "void mainCubemap(out vec4 fragColor, in vec2 fragCoord, "
		       "in vec3 rayOrigin, in vec3 rayDirection)";
	case PASS_COMPUTE:
		return "void mainCompute(ivec2 pixel)";
	case PASS_SOUND:
		return "vec2 mainSound(int sample, float time)";
	case PASS_IMAGE:
	case PASS_BUFFER:
		break;
	}
	return "void mainImage(out vec4 fragColor, in vec2 fragCoord)";
}

/* Functions that GLSL 4.20 and later have no more. */
static int uses_old_lookups(const struct glsl *g)
{
	static const char *const name[] = {
		"texture1D",
		"texture2D",
		"texture3D",
		"textureCube",
		"texture1DLod",
		"texture2DLod",
		"texture3DLod",
		"textureCubeLod",
		"texture1DProj",
		"texture2DProj",
		"texture3DProj",
		"texture2DProjLod",
		"shadow1D",
		"shadow2D",
	};
	for (size_t i = 0; i < sizeof name / sizeof *name; i++)
		if (glsl_mentions(g, name[i], 0))
			return 1;
	return 0;
}

static int plan_pass(struct plan *plan, const struct manifest *m, int p,
    const struct shader_target *target, struct err *err)
{
	const struct pass *pass = &m->pass[p];
	plan->m = m;
	plan->pass = pass;
	plan->is_compute = pass->kind == PASS_COMPUTE;
	plan->entry = shader_entry(pass->kind);
	int has_storage = plan->is_compute || pass->nstorage > 0;
	plan->is_essl = m->dialect == DIALECT_ESSL && !has_storage;
	if (has_storage && target->gl_version < 430)
		return err_set(err, STATUS_FAILED,
		    "pass '%s' %s, which needs OpenGL 4.3; this one has %d.%d",
		    pass->name,
		    plan->is_compute ? "is a compute pass" : "has storage buffers",
		    target->gl_version / 100, target->gl_version / 10 % 10);
	if (plan->is_essl && !target->has_es3)
		return err_set(err, STATUS_FAILED,
		    "pass '%s' is written in GLSL ES 3.00, which needs OpenGL 4.3 "
		    "or ARB_ES3_compatibility; shader.dialect = \"glsl\" may help",
		    pass->name);
	plan->version = plan->is_essl                  ? 300
	    : !has_storage && target->gl_version < 430 ? 410
						       : 430;
	return 0;
}

/* Names that shaders use for what plays; here nothing does. */
static const struct {
	const char *vector, *value;
	const char *word[4];
} audio[] = {
	{ "Bands", "0.0", { "Loudness", "Bass", "Mid", "Treble" } },
	{ "Hits", "0.0", { "Onset", "Kick", "Snare", "Hihat" } },
	{ "Beat", "0.0", { "Bpm", "BeatPhase", "BeatConfidence", "BeatStrength" } },
	{ "Stereo", "0.0",
	    { "StereoWidth", "StereoBalance", "StereoCorrelation", "EnergyTrend" } },
	{ "Structure", "0.0",
	    { "Drop", "SectionChange", "SpectralCentroid", "SpectralFlux" } },
	{ "Meta", "0.0, 1.0, 0.0, 0.0", { "Available", "Silence", "SampleRate", NULL } },
};

/* The macros that the dialect gives to pass p, as directives. */
static void add_defines(const struct manifest *m, int p, struct buf *out)
{
	if (m->dialect == DIALECT_ESSL) {
		buf_addstr(out, "#define HW_PERFORMANCE 1\n");
		return;
	}
	if (m->pass[p].kind == PASS_IMAGE)
		buf_addstr(out, "#define SHADERTOY_CLAMP_OUTPUT 1\n");
	for (size_t i = 0; i < sizeof audio / sizeof *audio; i++)
		for (int k = 0; k < 4 && audio[i].word[k]; k++)
			buf_addf(out, "#define iAudio%s iMusic%s.%c\n", audio[i].word[k],
			    audio[i].vector, "xyzw"[k]);
}

int shader_expand(struct tree *tree, const struct manifest *m, int p, int notes_inactive,
    struct inputs *inputs, struct source *out, struct err *err)
{
	const struct pass *pass = &m->pass[p];
	int is_essl =
	    m->dialect == DIALECT_ESSL && !pass->nstorage && pass->kind != PASS_COMPUTE;
	struct buf define = BUF_INIT;
	add_defines(m, p, &define);
	struct source_request request = {
		pass->source,
		m->common,
		m->include_dir,
		m->ninclude_dir,
		{ is_essl, is_essl ? 300 : 430, buf_str(&define) },
		notes_inactive,
	};
	int result = source_expand(tree, &request, inputs, out, err);
	buf_release(&define);
	return result;
}

static int preprocess_user(struct plan *plan, int p, const struct source *source,
    struct err *err)
{
	struct buf define = BUF_INIT;
	add_defines(plan->m, p, &define);
	struct preprocess_options options = {
		plan->is_essl,
		plan->version,
		buf_str(&define),
	};
	int result = preprocess(&options, source->text, source->ntext, &plan->user, err);
	if (!result && plan->version == 430 && !plan->is_compute &&
	    !plan->pass->nstorage && uses_old_lookups(&plan->user.code)) {
		plan->version = options.version = 410;
		preprocess_release(&plan->user);
		result =
		    preprocess(&options, source->text, source->ntext, &plan->user, err);
	}
	buf_release(&define);
	if (!result) {
		glsl_uniforms(&plan->user.code, &plan->declared);
		return 0;
	}
	int line, column;
	preprocess_place(&plan->user, plan->user.fault, &line, &column);
	return shader_fault(plan->m, p, source, line, column, err);
}

/* Declarations ------------------------------------------------------------- */

/* "uniform TYPE NAME;" unless the user's text says so itself. count 0: no array. */
static void add_uniform(struct buf *out, const struct plan *plan, const char *type,
    const char *name, int count)
{
	if (map_gets(&plan->declared, name) != MAP_NONE)
		return;
	buf_addf(out, "uniform %s %s", type, name);
	if (count)
		buf_addf(out, "[%d]", count);
	buf_addstr(out, ";\n");
}

static const char *sampler_of(const struct manifest *m, const struct input_ref *in)
{
	if (in->kind == INPUT_CUBEMAP ||
	    (in->kind == INPUT_PASS && m->pass[in->pass].kind == PASS_CUBEMAP))
		return "samplerCube";
	return in->kind == INPUT_VOLUME ? "sampler3D" : "sampler2D";
}

/* Audio names with their values when nothing plays. */
static void add_audio_words(struct buf *out)
{
	for (size_t i = 0; i < sizeof audio / sizeof *audio; i++)
		buf_addf(out, "const vec4 iMusic%s = vec4(%s);\n", audio[i].vector,
		    audio[i].value);
	buf_addstr(out,
	    "float sampleAudioSpectrum(sampler2D music, float x) "
	    "{ return texture(music, vec2(x, 0.25)).r; }\n"
	    "float sampleAudioWaveform(sampler2D music, float x) "
	    "{ return texture(music, vec2(x, 0.75)).r * 2.0 - 1.0; }\n");
}

/* Those that are arrays, with an element a channel, or (narray 0) the others. */
static void add_builtins(struct buf *out, const struct plan *plan, int narray)
{
	static const struct {
		const char *name, *type;
		int is_array;
	} builtin[] = {
#define UNIFORM(name, type, is_array, value, why) { #name, #type, is_array },
#define AUDIO(name, value)
#include "glsl/uniform.def"
#undef UNIFORM
#undef AUDIO
	};
	for (size_t i = 0; i < sizeof builtin / sizeof *builtin; i++)
		if (builtin[i].is_array == (narray > 0))
			add_uniform(out, plan, builtin[i].type, builtin[i].name, narray);
}

static void add_channels(struct buf *out, const struct plan *plan)
{
	const char *sampler[LIMIT_CHANNELS] = { NULL };
	for (size_t i = 0; i < plan->pass->ninput; i++) {
		const struct input_ref *in = &plan->pass->input[i];
		sampler[in->channel] = sampler_of(plan->m, in);
	}
	int narray = 4;
	for (int c = 0; c < LIMIT_CHANNELS; c++) {
		char name[24];
		snprintf(name, sizeof name, "iChannel%d", c);
		if (sampler[c] && c > 3)
			narray = LIMIT_CHANNELS;
		if (sampler[c] || c < 4)
			add_uniform(out, plan, sampler[c] ? sampler[c] : "sampler2D",
			    name, 0);
	}
	if (!plan->is_essl)
		narray = LIMIT_CHANNELS;
	add_builtins(out, plan, narray);
	if (!plan->is_essl || plan->pass->kind != PASS_IMAGE)
		return;
	for (int c = 0; c < 4; c++)
		buf_addf(out,
		    "uniform struct { %s sampler; vec3 size; float time; "
		    "int loaded; } iCh%d;\n",
		    sampler[c] ? sampler[c] : "sampler2D", c);
}

static void add_declarations(struct buf *out, const struct plan *plan,
    const struct variant_pass *size)
{
	const struct manifest *m = plan->m;
	const struct pass *pass = plan->pass;
	add_builtins(out, plan, 0);
	if (plan->is_compute ||
	    (!plan->is_essl && glsl_mentions(&plan->user.code, "iIteration", 0)))
		add_uniform(out, plan, "int", "iIteration", 0);
	add_channels(out, plan);
	if (m->dialect == DIALECT_GLSL)
		add_audio_words(out);
	/* In one line, so that generated lines stay few. */
	struct buf custom = BUF_INIT;
	for (size_t i = 0; i < m->nuniform; i++)
		add_uniform(&custom, plan, value_type_name(m->uniform[i].type),
		    m->uniform[i].name, 0);
	for (size_t i = 0; i + 1 < custom.len; i++)
		if (custom.data[i] == '\n')
			custom.data[i] = ' ';
	buf_add(out, custom.data, custom.len);
	buf_release(&custom);
	if (plan->is_compute) {
		buf_addf(out,
		    "layout(local_size_x = %d, local_size_y = %d, "
		    "local_size_z = %d) in;\n",
		    size->local_size[0], size->local_size[1], size->local_size[2]);
		for (int k = 0; k <= pass->nextra_output; k++) {
			buf_addf(out, "layout(%s, binding = %d) uniform image2D iOutput",
			    format_name(k ? pass->extra_output[k - 1] : pass->format), k);
			if (k)
				buf_addf(out, "%d", k);
			buf_addstr(out, ";\n");
		}
		return;
	}
	/* With one output ES gives it location 0 by itself, as does desktop GL. */
	buf_addf(out, "%sout vec4 stb_color;\n",
	    pass->nextra_output ? "layout(location = 0) " : "");
}

/* main --------------------------------------------------------------------- */

/* What the user's text says of the entry point. */
struct entry {
	int is_found;          /* with the types that were asked for */
	struct buf parameters; /* of a prototype that fits it */
};

/* The parameter between first and end: 1 when it is of that type. */
static int read_parameter(const struct glsl *g, size_t first, size_t end,
    const char *type, struct buf *out)
{
	static const char *const qualifier[] = { "const", "in", "out", "inout", "highp" };
	int has_type = 0;
	for (size_t i = first; i < end; i++) {
		if (g->token[i].kind != GLSL_WORD || has_type > 1)
			return 0;
		if (has_type) { /* its name */
			has_type++;
			continue;
		}
		const char *word = NULL;
		for (size_t k = 0; k < sizeof qualifier / sizeof *qualifier; k++)
			if (glsl_is(g, i, qualifier[k]))
				word = qualifier[k];
		if (glsl_is(g, i, "lowp") || glsl_is(g, i, "mediump"))
			word = "highp";
		if (glsl_is(g, i, type)) {
			word = type;
			has_type = 1;
		}
		if (!word)
			return 0;
		buf_addf(out, "%s ", word);
	}
	return has_type;
}

/* Whether the function has these types, a null behind them. */
static int read_entry(const struct glsl *g, const struct glsl_function *fn,
    const char *const *type, struct buf *out)
{
	size_t at = fn->open + 1;
	buf_reset(out);
	for (; *type; type++) {
		size_t end = at;
		while (end < fn->close && !glsl_is(g, end, ","))
			end++;
		if (!read_parameter(g, at, end, *type, out))
			return 0;
		if (type[1] && end == fn->close)
			return 0;
		if (type[1])
			buf_addstr(out, ", ");
		at = end + 1;
	}
	return at == fn->close + 1;
}

static void find_entry(const struct plan *plan, const char *const *type,
    struct entry *out)
{
	const struct glsl *g = &plan->user.code;
	struct glsl_function *fn;
	size_t nfn;
	*out = (struct entry){ .is_found = 0 };
	glsl_functions(g, &fn, &nfn);
	for (size_t i = 0; i < nfn && !out->is_found; i++)
		if (glsl_is(g, fn[i].name, plan->entry))
			out->is_found = read_entry(g, &fn[i], type, &out->parameters);
	free(fn);
}

/* "TYPE NAME(...);" as the user has it, or else as it should be. */
static void add_prototype(struct buf *out, const struct plan *plan, const char *result,
    const char *const *type, const char *otherwise)
{
	struct entry entry;
	find_entry(plan, type, &entry);
	buf_addf(out, "%s %s(%s);\n", result, plan->entry,
	    entry.is_found ? buf_str(&entry.parameters) : otherwise);
	buf_release(&entry.parameters);
}

static void add_main_sound(struct buf *out, const struct plan *plan, const char *zero)
{
	static const char *const old_type[] = { "float", NULL };
	static const char *const type[] = { "int", "float", NULL };
	struct entry entry;
	/* The site's first form is mainSound(float time). */
	find_entry(plan, old_type, &entry);
	int is_old = entry.is_found;
	buf_release(&entry.parameters);
	buf_addstr(out,
	    "uniform int " SHADER_SAMPLE ";\n"
	    "uniform int " SHADER_WIDTH ";\n");
	add_prototype(out, plan, "vec2", is_old ? old_type : type,
	    "int number, float time");
	buf_addf(out,
	    "void main()\n"
	    "{\n"
	    "%s"
	    "	ivec2 texel = ivec2(gl_FragCoord.xy);\n"
	    "	int number = " SHADER_SAMPLE " + texel.y * " SHADER_WIDTH " + texel.x;\n"
	    "	stb_color = vec4(mainSound(%sfloat(number) / iSampleRate), "
	    "0.0, 1.0);\n"
	    "}\n",
	    zero, is_old ? "" : "number, ");
}

static void add_main_cubemap(struct buf *out, const struct plan *plan, const char *zero)
{
	static const char *const type[] = { "vec4", "vec2", "vec3", "vec3", NULL };
	/* OpenGL 4.5 specification, table 8.19, the other way round. */
	buf_addstr(out, "uniform int " SHADER_FACE ";\n");
	add_prototype(out, plan, "void", type,
	    "out vec4 color, in vec2 coord, in vec3 origin, in vec3 direction");
	buf_addf(out,
	    "void main()\n"
	    "{\n"
	    "%s"
	    "	vec2 p = gl_FragCoord.xy / 512.0 - 1.0;\n"
	    "	vec3 d = " SHADER_FACE " == 0 ? vec3(1.0, -p.y, -p.x)\n"
	    "		: " SHADER_FACE " == 1 ? vec3(-1.0, -p.y, p.x)\n"
	    "		: " SHADER_FACE " == 2 ? vec3(p.x, 1.0, p.y)\n"
	    "		: " SHADER_FACE " == 3 ? vec3(p.x, -1.0, -p.y)\n"
	    "		: " SHADER_FACE " == 4 ? vec3(p.x, -p.y, 1.0)\n"
	    "		: vec3(-p.x, -p.y, -1.0);\n"
	    "	vec4 color = vec4(0.0);\n"
	    "	mainCubemap(color, gl_FragCoord.xy, vec3(0.0), normalize(d));\n"
	    "	stb_color = color;\n"
	    "}\n",
	    zero);
}

static void add_main_image(struct buf *out, const struct plan *plan, const char *zero)
{
	static const char *const type[] = { "vec4", "vec2", NULL };
	add_prototype(out, plan, "void", type, "out vec4 color, in vec2 coord");
	buf_addf(out,
	    "void main()\n"
	    "{\n"
	    "%s"
	    "	vec4 color = vec4(0.0);\n"
	    "	mainImage(color, gl_FragCoord.xy);\n",
	    zero);
	if (plan->pass->kind == PASS_BUFFER) {
		buf_addstr(out, "	stb_color = color;\n}\n");
		return;
	}
	/* Comparisons are false for NaN, so that it becomes 0. */
	buf_addstr(out,
	    "	stb_color = vec4(color.r > 0.0 ? min(color.r, 1.0) : 0.0,\n"
	    "		color.g > 0.0 ? min(color.g, 1.0) : 0.0,\n"
	    "		color.b > 0.0 ? min(color.b, 1.0) : 0.0, 1.0);\n"
	    "}\n");
}

/* Its own "out" is set to zero where it begins, as all are (shader_zero.h). */
static void add_main(struct buf *out, const struct plan *plan, int has_zeros)
{
	static const char *const type[] = { "ivec2", NULL };
	const char *zero = has_zeros ? "	" ZERO_FUNCTION "();\n" : "";
	if (has_zeros)
		buf_addstr(out, "void " ZERO_FUNCTION "();\n");
	switch (plan->pass->kind) {
	case PASS_COMPUTE:
		add_prototype(out, plan, "void", type, "ivec2 pixel");
		buf_addf(out,
		    "void main()\n"
		    "{\n"
		    "%s"
		    "	ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);\n"
		    "	if (all(lessThan(pixel, ivec2(iResolution.xy))))\n"
		    "		mainCompute(pixel);\n"
		    "}\n",
		    zero);
		return;
	case PASS_SOUND:
		add_main_sound(out, plan, zero);
		return;
	case PASS_CUBEMAP:
		add_main_cubemap(out, plan, zero);
		return;
	case PASS_IMAGE:
	case PASS_BUFFER:
		add_main_image(out, plan, zero);
		return;
	}
}

/* Texts -------------------------------------------------------------------- */

static void add_version(struct buf *out, const struct plan *plan)
{
	buf_addf(out, "#version %d %s\n", plan->version, plan->is_essl ? "es" : "core");
}

static char *vertex_text(const struct plan *plan)
{
	struct buf out = BUF_INIT;
	add_version(&out, plan);
	/* One triangle over the whole viewport. */
	buf_addstr(&out,
	    "void main()\n"
	    "{\n"
	    "	vec2 p = vec2(float((gl_VertexID << 1) & 2), "
	    "float(gl_VertexID & 2));\n"
	    "	gl_Position = vec4(p * 2.0 - 1.0, 0.0, 1.0);\n"
	    "}\n");
	return buf_detach(&out);
}

static char *stage_text(struct plan *plan, const struct variant_pass *size,
    struct shader *shader)
{
	struct buf out = BUF_INIT;
	struct rewrite rewrite;
	struct rewrite_options options = {
		plan->is_essl,
		plan->is_compute || plan->pass->nstorage,
	};
	shader_rewrite(&plan->user, &options, &rewrite);
	add_version(&out, plan);
	if (rewrite.extensions.len) {
		buf_add(&out, rewrite.extensions.data, rewrite.extensions.len);
		buf_addstr(&out, "#line 2 0\n");
	}
	/*
	 * Samplers are lowp by themselves in ES, and mediump on the site. The
	 * desktop's browsers compute in 32 bits all the same; a driver that
	 * takes it at its word (Mesa) halves what is read, and feedback with it.
	 */
	if (plan->is_essl)
		buf_addstr(&out,
		    "precision highp float;\n"
		    "precision highp int;\n"
		    "precision highp sampler2D;\n"
		    "precision highp sampler3D;\n"
		    "precision highp samplerCube;\n");
	add_declarations(&out, plan, size);
	add_main(&out, plan, rewrite.zeros.len > 0);
	buf_addf(&out, "#line %d 1\n", REWRITE_LINE_BASE + 1);
	buf_add(&out, buf_str(&rewrite.text), rewrite.text.len);
	if (rewrite.zeros.len)
		buf_addf(&out, "void " ZERO_FUNCTION "() {%s}\n", rewrite.zeros.data);
	shader->place = rewrite.place;
	shader->nplace = rewrite.nplace;
	rewrite.place = NULL;
	rewrite_release(&rewrite);
	return buf_detach(&out);
}

/*
 * Names of the blocks that are declared readonly, at each of their
 * declarations.
 */
static void find_readonly(const struct glsl *g, struct map *names)
{
	struct buf scratch = BUF_INIT;
	int is_readonly = 0;

	for (size_t i = 0; i + 2 < g->ntoken; i++) {
		if (glsl_is(g, i, ";") || glsl_is(g, i, "}") || glsl_is(g, i, "{"))
			is_readonly = 0;
		else if (glsl_is(g, i, "readonly"))
			is_readonly = 1;
		else if (glsl_is(g, i, "buffer") && glsl_is(g, i + 2, "{")) {
			size_t n;
			const char *name = glsl_token_text(g, i + 1, &scratch, &n);
			size_t known = map_get(names, name, n);
			map_put(names, name, n,
			    (size_t)is_readonly & (known == MAP_NONE ? 1 : known));
		}
	}
	buf_release(&scratch);
}

int shader_is_readonly(const struct shader *s, const char *block)
{
	/* An element of an array of blocks is "name[0]". */
	return map_get(&s->readonly, block, strcspn(block, "[")) == 1;
}

static void hash_tokens(struct sha256_ctx *ctx, const char *text)
{
	struct glsl g;
	struct buf tokens = BUF_INIT, size = BUF_INIT;
	glsl_lex(&g, text, strlen(text));
	glsl_canonical(&g, 0, &tokens);
	buf_u64le(&size, tokens.len);
	sha256_update(ctx, size.data, size.len);
	sha256_update(ctx, buf_str(&tokens), tokens.len);
	glsl_release(&g);
	buf_release(&tokens);
	buf_release(&size);
}

static void find_program_id(struct shader *s, const struct plan *plan)
{
	struct sha256_ctx ctx;
	char head[64];
	snprintf(head, sizeof head, "stbuild program %d %s %d", SHADER_HEADER_VERSION,
	    plan->is_essl ? "essl" : "glsl", plan->version);
	sha256_init(&ctx);
	sha256_update(&ctx, head, strlen(head) + 1);
	hash_tokens(&ctx, s->vertex ? s->vertex : "");
	hash_tokens(&ctx, s->stage);
	sha256_final(&ctx, &s->program_id);
}

int shader_build(const struct variant *v, int p, const struct source *source,
    const struct shader_target *target, struct shader *out, struct err *err)
{
	*out = (struct shader){ .is_compute = 0 };
	int result = -1;
	struct plan plan = { .version = 0 };
	struct glsl *code = &plan.user.code;
	if (plan_pass(&plan, v->manifest, p, target, err) ||
	    preprocess_user(&plan, p, source, err))
		goto out;
	if (!glsl_mentions(code, plan.entry, 0)) {
		err_set(err, STATUS_FAILED, "pass '%s' defines no %s(); expected '%s'",
		    plan.pass->name, plan.entry, entry_example(plan.pass->kind));
		err_place(err, plan.pass->source, 0, 0, NULL);
		goto out;
	}
	out->is_compute = plan.is_compute;
	if (!plan.is_compute)
		out->vertex = vertex_text(&plan);
	out->stage = stage_text(&plan, &v->pass[p], out);
	find_program_id(out, &plan);
	glsl_drop_unused(code, plan.entry);
	glsl_canonical(code, 1, &out->tokens);
	parts_find(&plan.user, source, &out->part, &out->npart);
	out->has_discard = glsl_mentions(code, "discard", 1);
	find_readonly(code, &out->readonly);
	result = 0;
out:
	preprocess_release(&plan.user);
	map_release(&plan.declared);
	return result;
}

void shader_release(struct shader *s)
{
	if (!s)
		return;
	map_release(&s->readonly);
	free(s->vertex);
	free(s->stage);
	buf_release(&s->tokens);
	parts_free(s->part, s->npart);
	free(s->place);
	*s = (struct shader){ .is_compute = 0 };
}

/* 1 when the text uses a word as the qualifier or type that it is. */
static int has_its_sense(const struct glsl *g, const struct word *word)
{
	for (size_t i = 0; word->role != WORD_PLAIN && i + 1 < g->ntoken; i++)
		if (glsl_is(g, i, word->text) &&
		    (g->token[i + 1].kind == GLSL_WORD ||
			(word->role == WORD_TYPE && glsl_is(g, i + 1, "("))))
			return 1;
	return 0;
}

/*
 * What we rename or declare when we compile, for a reader that does not: words
 * that ES 3.00 leaves free and desktop GLSL does not, and names of the site.
 */
static void add_portable_words(struct buf *out, const struct plan *plan,
    const struct glsl *user)
{
	int is_essl = plan->m->dialect == DIALECT_ESSL;
	for (size_t i = 0; i < nword; i++)
		if (words[i].role != WORD_NONE && words[i].essl != WORD_KEYWORD &&
		    strcmp(words[i].text, "char") != 0 &&
		    glsl_mentions(user, words[i].text, 0) &&
		    !has_its_sense(user, &words[i]))
			buf_addf(out, "#define %s %s_\n", words[i].text, words[i].text);
	if (is_essl && glsl_mentions(user, "HW_PERFORMANCE", 0))
		buf_addstr(out, "#define HW_PERFORMANCE 1\n");
	if (map_gets(&plan->declared, "iSampleRate") == MAP_NONE &&
	    glsl_mentions(user, "iSampleRate", 0))
		buf_addstr(out, "#define iSampleRate 44100.0\n");
}

void shader_portable(const struct manifest *m, int p, const struct source *source,
    struct buf *out)
{
	const struct pass *pass = &m->pass[p];
	struct plan plan = { .m = m, .pass = pass };
	struct glsl user;
	glsl_lex(&user, source->text, source->ntext);
	glsl_uniforms(&user, &plan.declared);
	for (size_t i = 0; i < m->nuniform; i++)
		add_uniform(out, &plan, value_type_name(m->uniform[i].type),
		    m->uniform[i].name, 0);
	int is_bound[4] = { 0 };
	for (size_t i = 0; i < pass->ninput; i++)
		if (pass->input[i].channel < 4)
			is_bound[pass->input[i].channel] = 1;
	for (int c = 0; c < 4; c++) {
		char name[24];
		snprintf(name, sizeof name, "iChannel%d", c);
		if (!is_bound[c] && glsl_mentions(&user, name, 0))
			add_uniform(out, &plan, "sampler2D", name, 0);
	}
	add_portable_words(out, &plan, &user);
	shader_drop_version(&user, out);
	map_release(&plan.declared);
	glsl_release(&user);
}
