/*
 * Real draws in a real worker, at small sizes, judged by exact bits. The
 * program is its own worker: "worker --worker".
 */

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "render/serve.h"
#include "render/stream.h"
#include "render/worker.h"
#include "test.h"
#include "util/mem.h"
#include "util/proc.h"

static struct worker *w;
static struct err err = ERR_INIT;

static const char vertex[] =
    "#version 410 core\n"
    "void main()\n"
    "{\n"
    "	vec2 p = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0;\n"
    "	gl_Position = vec4(p, 0.0, 1.0);\n"
    "}\n";

/* Reports an unexpected error and forgets it. */
static int ok(int rc, const char *what)
{
	if (rc < 0)
		fprintf(stderr, "%s: %s\n", what,
		    err.message ? err.message : "(no message)");
	err_release(&err);
	return CHECK(rc >= 0);
}
#define OK(call) ok((call), #call)

static struct compile_result result;

static int program_stage(uint32_t id, const char *v, const char *stage)
{
	compile_result_release(&result);
	if (!OK(worker_compile(w, id, "pass 'test'", v, stage, &result, &err)))
		return 0;
	if (!result.ok)
		fprintf(stderr, "%s\n", result.log);
	return CHECK(result.ok);
}

static int program(uint32_t id, const char *body)
{
	char *text =
	    xasprintf("#version 410 core\nlayout(location = 0) out vec4 c;\n%s", body);
	int rc = program_stage(id, vertex, text);
	free(text);
	return rc;
}

static struct texture_desc desc_of(enum texel texel, int width, int height)
{
	return (struct texture_desc){
		.kind = TEXTURE_2D,
		.width = width,
		.height = height,
		.depth = 1,
		.texel = texel,
	};
}

static void texture(uint32_t id, enum texel texel, int width, int height)
{
	struct texture_desc d = desc_of(texel, width, height);
	OK(worker_texture_new(w, id, &d, &err));
}

static struct draw draw_to(uint32_t prog, uint32_t target, int width, int height)
{
	static uint64_t tag;
	tag++;
	return (struct draw){
		.tag = tag,
		.program = prog,
		.width = width,
		.height = height,
		.target = { target },
		.ntarget = 1,
	};
}

/* The next event of this kind, putting slabs of uploads back. */
static int event(enum worker_event_kind kind, struct worker_event *e)
{
	for (;;) {
		if (worker_event(w, 1, e, &err) < 0)
			return -1;
		if (e->kind == WORKER_UPLOADED)
			worker_slab_put(w, e->slab);
		if (e->kind == kind)
			return 0;
		if (e->kind == WORKER_NONE)
			return err_set(&err, STATUS_FAILED, "no event");
	}
}

/* The bytes of a texture, in data. */
static void read_back(uint32_t id, void *data, size_t n)
{
	memset(data, 0xee, n);
	struct slab *slab = worker_slab(w, n, &err);
	if (!CHECK(slab))
		return;
	memset(slab->data, 0xdd, n);
	struct worker_event e;
	if (OK(worker_texture_read(w, id, slab, 1000 + id, &err)) &&
	    OK(event(WORKER_READ, &e))) {
		CHECK_INT(e.tag, 1000 + id);
		CHECK(e.slab == slab);
		memcpy(data, slab->data, n);
	}
	worker_slab_put(w, slab);
}

static void upload(uint32_t id, const void *data, size_t n)
{
	struct slab *slab = worker_slab(w, n, &err);
	if (!CHECK(slab))
		return;
	memcpy(slab->data, data, n);
	OK(worker_texture_upload(w, id, slab, &err));
	struct worker_event e;
	/* event() has put it back. */
	while (OK(worker_event(w, 1, &e, &err)) && e.kind != WORKER_UPLOADED)
		;
	CHECK(e.slab == slab);
	worker_slab_put(w, slab);
}

static void draw(const struct draw *d)
{
	struct worker_event e;
	long long start = proc_now_ns();
	OK(worker_draw(w, d, "pass 'test' at frame 0", &err));
	if (OK(event(WORKER_DREW, &e))) {
		CHECK_INT(e.tag, d->tag);
		CHECK(e.gpu_ns > 0);
		CHECK((long long)e.gpu_ns <= proc_now_ns() - start);
	}
}

static int start(int use_pbo, double timeout_s, const char *device)
{
	struct worker_options o = {
		.device = device,
		.timeout_s = timeout_s,
		.use_pbo = use_pbo,
	};
	return worker_open(&o, &w, &err);
}

/* ------------------------------------------------------------------------- */

static void test_info(void)
{
	const struct gl_info *info = worker_info(w);
	CHECK(info->gl_version == 450 || info->gl_version == 430 ||
	    info->gl_version == 410);
	CHECK(*info->vendor && *info->renderer && *info->version);
	CHECK(*info->glsl_version && *info->device);
	CHECK(info->max_texture_size >= 16384 || info->gl_version < 450);
	CHECK(strstr(info->identity_text, "gl.renderer ") != NULL);
	CHECK(strstr(info->identity_text, "\ngl.version ") != NULL);
	CHECK(strstr(info->identity_text, "lib.") != NULL);
	CHECK(!info->is_software || strstr(info->identity_text, "cpu.features "));
	/* Sorted lines, the last one ended. */
	const char *line = info->identity_text;
	CHECK(line[strlen(line) - 1] == '\n');
	for (const char *next; (next = strchr(line, '\n'))[1]; line = next + 1) {
		size_t a = strcspn(line, "\n"), b = strcspn(next + 1, "\n");
		int c = memcmp(line, next + 1, a < b ? a : b);
		CHECK(c < 0 || (c == 0 && a <= b));
	}
	CHECK(info->nmapped > 3);
	for (size_t i = 0; i < info->nmapped; i++)
		CHECK(info->mapped[i][0] == '/');
	CHECK(!sha256_is_zero(&info->identity));
}

static void test_solid(void)
{
	unsigned char px[4 * 4 * 4];
	texture(1, TEXEL_RGBA8, 4, 4);
	read_back(1, px, sizeof px);
	for (size_t i = 0; i < sizeof px; i++)
		CHECK_INT(px[i], 0);
	if (!program(1, "void main() { c = vec4(1.0, 0.5, -3.0, 7.0); }"))
		return;
	CHECK_INT(result.reflection.nuniform, 0);
	struct draw d = draw_to(1, 1, 4, 4);
	draw(&d);
	read_back(1, px, sizeof px);
	for (int i = 0; i < 16; i++) {
		CHECK_INT(px[4 * i], 255);
		CHECK(px[4 * i + 1] == 127 || px[4 * i + 1] == 128);
		CHECK_INT(px[4 * i + 2], 0);
		CHECK_INT(px[4 * i + 3], 255);
	}
}

static void test_coord(void)
{
	float px[3 * 5 * 2];
	texture(2, TEXEL_RG32F, 5, 3);
	if (!program(2, "void main() { c = vec4(gl_FragCoord.xy, 0.0, 0.0); }"))
		return;
	struct draw d = draw_to(2, 2, 5, 3);
	draw(&d);
	read_back(2, px, sizeof px);
	for (int y = 0; y < 3; y++) {
		for (int x = 0; x < 5; x++) {
			CHECK(px[2 * (y * 5 + x)] == (float)x + 0.5f);
			CHECK(px[2 * (y * 5 + x) + 1] == (float)y + 0.5f);
		}
	}
}

static void test_uniforms(void)
{
	float px[4];
	texture(3, TEXEL_RGBA32F, 1, 1);
	if (!program(3,
		"uniform float a; uniform vec3 list[4]; uniform int n;\n"
		"uniform bool b; uniform vec4 v; uniform vec2 unused;\n"
		"void main() { c = vec4(a, list[2].y + list[3].z, float(n), b ? v.w : -1.0); }"))
		return;
	const struct reflection *r = &result.reflection;
	if (CHECK_INT(r->nuniform, 5)) {
		CHECK_STR(r->uniform[0].name, "a");
		CHECK_STR(r->uniform[1].name, "b");
		CHECK_INT(r->uniform[1].type, GL_T_BOOL);
		CHECK_STR(r->uniform[2].name, "list");
		CHECK_INT(r->uniform[2].type, GL_T_VEC3);
		CHECK_INT(r->uniform[2].count, 4);
		CHECK_STR(r->uniform[3].name, "n");
		CHECK_STR(r->uniform[4].name, "v");
	}
	struct draw_uniform u[] = {
		{ .name = "a", .type = GL_T_FLOAT, .count = 1, .f = { 0.1f } },
		{ .name = "list",
		    .type = GL_T_VEC3,
		    .count = 4,
		    .f = { [7] = 20.0f, [11] = 0.25f } },
		{ .name = "n", .type = GL_T_INT, .count = 1, .i = { -7 } },
		{ .name = "b", .type = GL_T_BOOL, .count = 1, .i = { 1 } },
		{ .name = "v", .type = GL_T_VEC4, .count = 1, .f = { 1, 2, 3, 4 } },
		{ .name = "absent", .type = GL_T_FLOAT, .count = 1, .f = { 9 } },
		{ .name = "a", .type = GL_T_INT, .count = 1, .i = { 9 } },
	};
	struct draw d = draw_to(3, 3, 1, 1);
	d.uniform = u;
	d.nuniform = sizeof u / sizeof *u;
	draw(&d);
	read_back(3, px, sizeof px);
	CHECK(px[0] == 0.1f);
	CHECK(px[1] == 20.25f);
	CHECK(px[2] == -7.0f);
	CHECK(px[3] == 4.0f);
}

/* A pair of textures that read each other's last frame. */
static void test_feedback(void)
{
	float px[4];
	texture(4, TEXEL_RGBA32F, 1, 1);
	texture(5, TEXEL_RGBA32F, 1, 1);
	if (!program(4,
		"uniform sampler2D iChannel0; uniform sampler2D iChannel3;\n"
		"void main() { c = texelFetch(iChannel0, ivec2(0), 0) * 2.0 + 1.0\n"
		"	+ texture(iChannel3, vec2(0.5)); }"))
		return;
	enum { N = 1500 }; /* more than either side lets wait */
	static struct draw d[N];
	for (int i = 0; i < N; i++) {
		d[i] = draw_to(4, i % 2 ? 4 : 5, 1, 1);
		d[i].ninput = 1;
		d[i].input[0] = (struct draw_input){
			.channel = 0,
			.texture = i % 2 ? 5 : 4,
			.filter = FILTER_NEAREST,
		};
	}
	/* All at once: nothing waits in between. */
	for (int i = 0; i < 10; i++)
		OK(worker_draw(w, &d[i], "pass 'test' at frame 0", &err));
	read_back(4, px, sizeof px);
	CHECK(px[0] == 1023.0f);
	/* iChannel3 is unbound: (0,0,0,1). */
	CHECK(px[3] == 2046.0f);
	/* More than fit in flight, in the order given. */
	for (int i = 10; i < N; i++)
		OK(worker_draw(w, &d[i], "pass 'test' at frame 0", &err));
	for (int i = 10; i < N; i++) {
		struct worker_event e;
		if (OK(event(WORKER_DREW, &e)))
			CHECK_INT(e.tag, d[i].tag);
	}
	struct worker_event e;
	OK(worker_event(w, 1, &e, &err));
	CHECK_INT(e.kind, WORKER_NONE);
}

/* Every bit pattern survives upload, copy and read, quiet and signalling NaN. */
static void test_bits(void)
{
	static const uint32_t bits32[] = {
		0x00000000,
		0x80000000,
		0x00000001,
		0x7f800000,
		0xff800000,
		0x7fc00000,
		0x7fc12345,
		0xffffffff,
		0x7f800001,
		0xff812345,
		0x3f800000,
		0x007fffff,
		0x7f7fffff,
		0x12345678,
		0x9abcdef0,
		0xdeadbeef,
	};
	static const uint16_t bits16[] = {
		0x0000,
		0x8000,
		0x0001,
		0x7c00,
		0xfc00,
		0x7e00,
		0x7e55,
		0xffff,
		0x7c01,
		0xfd23,
		0x3c00,
		0x03ff,
		0x7bff,
		0x1234,
		0x9abc,
		0xdead,
	};
	static const struct {
		enum texel texel;
		int width, height;
		const void *data;
		size_t n;
	} test[] = {
		{ TEXEL_RGBA32F, 2, 2, bits32, 64 },
		{ TEXEL_R32F, 16, 1, bits32, 64 },
		{ TEXEL_RG32F, 1, 8, bits32, 64 },
		{ TEXEL_RGBA16F, 4, 1, bits16, 32 },
		{ TEXEL_RGBA8, 8, 2, bits32, 64 },
		{ TEXEL_R8, 5, 3, bits32, 15 },
	};
	unsigned char got[64];
	for (size_t i = 0; i < sizeof test / sizeof *test; i++) {
		struct texture_desc d =
		    desc_of(test[i].texel, test[i].width, test[i].height);
		CHECK_INT(texture_bytes(&d), test[i].n);
		texture(10, test[i].texel, test[i].width, test[i].height);
		texture(11, test[i].texel, test[i].width, test[i].height);
		upload(10, test[i].data, test[i].n);
		read_back(10, got, test[i].n);
		CHECK(memcmp(got, test[i].data, test[i].n) == 0);
		OK(worker_texture_copy(w, 11, 10, &err));
		OK(worker_texture_clear(w, 10, &err));
		read_back(11, got, test[i].n);
		CHECK(memcmp(got, test[i].data, test[i].n) == 0);
		read_back(10, got, test[i].n);
		for (size_t k = 0; k < test[i].n; k++)
			CHECK_INT(got[k], 0);
	}
	/* What a shader writes: NaN stays NaN, nothing is clamped. */
	texture(10, TEXEL_RGBA32F, 1, 1);
	if (program(10, "uniform vec4 v; void main() { c = v; }")) {
		struct draw_uniform u = { .name = "v", .type = GL_T_VEC4, .count = 1 };
		uint32_t nan = 0x7fc12345, px[4];
		u.f[0] = 1e30f;
		u.f[1] = -5.0f;
		memcpy(&u.f[2], &nan, 4);
		u.f[3] = INFINITY;
		struct draw d = draw_to(10, 10, 1, 1);
		d.uniform = &u;
		d.nuniform = 1;
		draw(&d);
		read_back(10, px, sizeof px);
		CHECK(memcmp(&px[0], &u.f[0], 8) == 0);
		CHECK(memcmp(&px[3], &u.f[3], 4) == 0);
		CHECK((px[2] & 0x7f800000) == 0x7f800000 && px[2] & 0x7fffff);
	}
}

static void test_targets(void)
{
	float a[4], c[1];
	unsigned short b[4];
	texture(20, TEXEL_RGBA32F, 1, 1);
	texture(21, TEXEL_RGBA16F, 1, 1);
	texture(22, TEXEL_R32F, 1, 1);
	if (!program(20,
		"layout(location = 1) out vec4 d; layout(location = 2) out vec4 e;\n"
		"void main() { c = vec4(1.0, 2.0, 3.0, 4.0); d = c + 1.0; e = c + 7.0; }"))
		return;
	struct draw d = draw_to(20, 20, 1, 1);
	d.target[1] = 21;
	d.target[2] = 22;
	d.ntarget = 3;
	draw(&d);
	read_back(20, a, sizeof a);
	read_back(21, b, sizeof b);
	read_back(22, c, sizeof c);
	CHECK(a[0] == 1.0f && a[1] == 2.0f && a[2] == 3.0f && a[3] == 4.0f);
	CHECK(b[0] == 0x4000 && b[1] == 0x4200 && b[2] == 0x4400 && b[3] == 0x4500);
	CHECK(c[0] == 8.0f);
	/* A framebuffer goes with any of its textures. */
	texture(22, TEXEL_R32F, 1, 1);
	draw(&d);
	read_back(22, c, sizeof c);
	CHECK(c[0] == 8.0f);
}

static void test_discard(void)
{
	float px[4];
	texture(23, TEXEL_R32F, 4, 1);
	if (!program(21,
		"uniform float v;\n"
		"void main() { if (gl_FragCoord.x > 2.0 && v > 1.0) discard; c = vec4(v); }"))
		return;
	for (int i = 1; i <= 2; i++) {
		struct draw_uniform u = {
			.name = "v",
			.type = GL_T_FLOAT,
			.count = 1,
			.f = { (float)i },
		};
		struct draw d = draw_to(21, 23, 4, 1);
		d.uniform = &u;
		d.nuniform = 1;
		draw(&d);
	}
	read_back(23, px, sizeof px);
	CHECK(px[0] == 2.0f && px[1] == 2.0f && px[2] == 1.0f && px[3] == 1.0f);
}

static void test_cube(void)
{
	unsigned short px[6][2 * 2][4];
	float seen[4];
	struct texture_desc cube = {
		.kind = TEXTURE_CUBE,
		.width = 2,
		.height = 2,
		.depth = 1,
		.texel = TEXEL_RGBA16F,
		.has_mips = 1,
	};
	OK(worker_texture_new(w, 30, &cube, &err));
	CHECK_INT(texture_bytes(&cube), sizeof px);
	if (!program(30,
		"uniform int stb_face;\n"
		"void main() { c = vec4(float(stb_face), gl_FragCoord.xy, 1.0); }"))
		return;
	struct draw d = draw_to(30, 30, 2, 2);
	d.is_cube = 1;
	draw(&d);
	read_back(30, px, sizeof px);
	static const unsigned short half[] = { 0, 0x3c00, 0x4000, 0x4200, 0x4400,
		0x4500 };
	for (int f = 0; f < 6; f++) {
		for (int i = 0; i < 4; i++) {
			CHECK_INT(px[f][i][0], half[f]);
			CHECK_INT(px[f][i][1], i % 2 ? 0x3e00 : 0x3800);
			CHECK_INT(px[f][i][2], i / 2 ? 0x3e00 : 0x3800);
		}
	}
	/* The lookup in direction -Z finds face 5, in the chain, too. */
	OK(worker_texture_mips(w, 30, &err));
	texture(31, TEXEL_RGBA32F, 1, 1);
	if (!program(31,
		"uniform samplerCube iChannel2;\n"
		"void main() { c = vec4(texture(iChannel2, vec3(0.0, 0.0, -1.0)).r,\n"
		"	textureLod(iChannel2, vec3(0.0, -1.0, 0.0), 1.0).rg, 0.0); }"))
		return;
	d = draw_to(31, 31, 1, 1);
	d.ninput = 1;
	d.input[0] = (struct draw_input){
		.channel = 2,
		.texture = 30,
		.kind = TEXTURE_CUBE,
		.filter = FILTER_MIPMAP,
		.wrap = WRAP_CLAMP,
	};
	draw(&d);
	read_back(31, seen, sizeof seen);
	CHECK(seen[0] == 5.0f && seen[1] == 3.0f && seen[2] == 1.0f);
}

static void test_volume(void)
{
	unsigned char px[2 * 3 * 4], got[sizeof px];
	for (size_t i = 0; i < sizeof px; i++)
		px[i] = (unsigned char)(i * 10);
	struct texture_desc v = {
		.kind = TEXTURE_3D,
		.width = 2,
		.height = 3,
		.depth = 4,
		.texel = TEXEL_R8,
	};
	OK(worker_texture_new(w, 32, &v, &err));
	upload(32, px, sizeof px);
	read_back(32, got, sizeof got);
	CHECK(memcmp(px, got, sizeof px) == 0);
	float seen[4];
	texture(33, TEXEL_RGBA32F, 1, 1);
	if (!program(32,
		"uniform sampler3D iChannel0;\n"
		"void main() { c = round(texelFetch(iChannel0, ivec3(1, 2, 3), 0) * 255.0); }"))
		return;
	struct draw d = draw_to(32, 33, 1, 1);
	d.ninput = 1;
	d.input[0] = (struct draw_input){ .texture = 32, .kind = TEXTURE_3D };
	draw(&d);
	read_back(33, seen, sizeof seen);
	CHECK(seen[0] == 230.0f && seen[1] == 0 && seen[2] == 0 && seen[3] == 255.0f);
}

static void test_mips(void)
{
	float px[4 * 4], got[4];
	struct texture_desc t = desc_of(TEXEL_R32F, 4, 4);
	t.has_mips = 1;
	for (int i = 0; i < 16; i++)
		px[i] = (float)i;
	OK(worker_texture_new(w, 40, &t, &err));
	upload(40, px, sizeof px);
	texture(41, TEXEL_RGBA32F, 1, 1);
	if (!program(40,
		"uniform sampler2D iChannel0;\n"
		"void main() { c = vec4(textureLod(iChannel0, vec2(0.5), 2.0).r,\n"
		"	textureLod(iChannel0, vec2(0.25), 1.0).r,\n"
		"	textureLod(iChannel0, vec2(0.125), 0.0).r, 0.0); }"))
		return;
	struct draw d = draw_to(40, 41, 1, 1);
	d.ninput = 1;
	d.input[0] = (struct draw_input){ .texture = 40, .filter = FILTER_MIPMAP };
	draw(&d);
	read_back(41, got, sizeof got);
	/* Not built yet: zeros. */
	CHECK(got[0] == 0.0f && got[1] == 0.0f && got[2] == 0.0f);
	OK(worker_texture_mips(w, 40, &err));
	draw(&d);
	read_back(41, got, sizeof got);
	CHECK(got[0] == 7.5f && got[1] == 2.5f && got[2] == 0.0f);
	/* linear: level 0 alone. */
	d.input[0].filter = FILTER_LINEAR;
	draw(&d);
	read_back(41, got, sizeof got);
	CHECK(got[0] == 7.5f && got[1] == 2.5f && got[2] == 0.0f);
	d.input[0].filter = FILTER_NEAREST;
	draw(&d);
	read_back(41, got, sizeof got);
	CHECK(got[0] == 10.0f && got[1] == 5.0f);
}

static void test_samplers(void)
{
	static const float px[2] = { 1.0f, 3.0f };
	float got[4];
	texture(42, TEXEL_R32F, 2, 1);
	upload(42, px, sizeof px);
	texture(43, TEXEL_RGBA32F, 1, 1);
	if (!program(42,
		"uniform sampler2D iChannel0, iChannel1, iChannel15;\n"
		"void main() { c = vec4(texture(iChannel0, vec2(1.25, 0.5)).r,\n"
		"	texture(iChannel1, vec2(1.25, 0.5)).r,\n"
		"	texture(iChannel15, vec2(0.5, 0.5)).r, 0.0); }"))
		return;
	struct draw d = draw_to(42, 43, 1, 1);
	d.ninput = 3;
	d.input[0] = (struct draw_input){
		.channel = 0,
		.texture = 42,
		.filter = FILTER_NEAREST,
		.wrap = WRAP_REPEAT,
	};
	d.input[1] = (struct draw_input){
		.channel = 1,
		.texture = 42,
		.filter = FILTER_NEAREST,
		.wrap = WRAP_CLAMP,
	};
	d.input[2] = (struct draw_input){
		.channel = 15,
		.texture = 42,
		.filter = FILTER_LINEAR,
		.wrap = WRAP_CLAMP,
	};
	draw(&d);
	read_back(43, got, sizeof got);
	CHECK(got[0] == 1.0f && got[1] == 3.0f && got[2] == 2.0f);
}

static void test_storage(void)
{
	if (worker_info(w)->gl_version < 430)
		return;
	static const char text[] =
	    "#version 430 core\n"
	    "layout(local_size_x = 2, local_size_y = 2) in;\n"
	    "layout(r32f, binding = 0) uniform image2D iOutput;\n"
	    "layout(std430, binding = 3) buffer Sum { uint sum; uint rest[]; };\n"
	    "uniform int iIteration;\n"
	    "void main()\n"
	    "{\n"
	    "	ivec2 p = ivec2(gl_GlobalInvocationID.xy);\n"
	    "	float v = imageLoad(iOutput, p).r;\n"
	    "	v = v * 10.0 + float(iIteration + p.x);\n"
	    "	imageStore(iOutput, p, vec4(v, 0, 0, 0));\n"
	    "	atomicAdd(sum, 1u);\n"
	    "}\n";
	float px[4 * 2];
	uint32_t sum[4] = { 5, 6, 7, 8 };
	if (!program_stage(50, NULL, text))
		return;
	const struct reflection *r = &result.reflection;
	if (CHECK_INT(r->nblock, 1)) {
		CHECK_STR(r->block[0].name, "Sum");
		CHECK_INT(r->block[0].binding, 3);
		CHECK_INT(r->block[0].is_written, 1);
	}
	texture(50, TEXEL_R32F, 4, 2);
	OK(worker_buffer_new(w, 1, 16, &err));
	struct draw_storage storage = { .binding = 3, .buffer = 1, .size = 16 };
	struct draw d = draw_to(50, 50, 4, 2);
	d.is_compute = 1;
	d.iterations = 3;
	d.groups[0] = 2;
	d.groups[1] = 1;
	d.storage = &storage;
	d.nstorage = 1;
	draw(&d);
	read_back(50, px, sizeof px);
	for (int i = 0; i < 8; i++)
		CHECK(px[i] == 12.0f + 111.0f * (float)(i % 4));

	struct worker_event e;
	struct slab *slab = worker_slab(w, 16, &err);
	if (!CHECK(slab))
		return;
	OK(worker_buffer_read(w, 1, slab, 16, 77, &err));
	if (OK(event(WORKER_READ, &e))) {
		uint32_t got[4];
		memcpy(got, slab->data, 16);
		CHECK_INT(got[0], 24);
		CHECK_INT(got[1] | got[2] | got[3], 0);
	}
	memcpy(slab->data, sum, 16);
	OK(worker_buffer_upload(w, 1, slab, 16, &err));
	OK(worker_event(w, 1, &e, &err));
	CHECK_INT(e.kind, WORKER_UPLOADED);
	OK(worker_buffer_new(w, 2, 16, &err));
	OK(worker_buffer_copy(w, 2, 1, 16, &err));
	OK(worker_buffer_clear(w, 1, &err));
	OK(worker_buffer_read(w, 2, slab, 16, 78, &err));
	if (OK(event(WORKER_READ, &e)))
		CHECK(memcmp(slab->data, sum, 16) == 0);
	OK(worker_buffer_read(w, 1, slab, 16, 79, &err));
	if (OK(event(WORKER_READ, &e)))
		CHECK(memcmp(slab->data, (char[16]){ 0 }, 16) == 0);

	/* A fragment pass with storage, read by the next. */
	static const char stage[] =
	    "#version 430 core\n"
	    "layout(location = 0) out vec4 c;\n"
	    "layout(std430, binding = 3) buffer Sum { uint sum; uint rest[3]; };\n"
	    "void main() { c = vec4(float(atomicAdd(sum, 1u)) * 0.0 + float(rest[1])); }\n";
	if (program_stage(51, vertex, stage)) {
		storage.buffer = 2;
		d = draw_to(51, 50, 4, 2);
		d.storage = &storage;
		d.nstorage = 1;
		draw(&d);
		read_back(50, px, sizeof px);
		CHECK(px[0] == 7.0f && px[7] == 7.0f);
		OK(worker_buffer_read(w, 2, slab, 16, 80, &err));
		if (OK(event(WORKER_READ, &e))) {
			uint32_t got[4];
			memcpy(got, slab->data, 16);
			CHECK_INT(got[0], 13);
		}
		/* Without storage it sees nothing of the draw before. */
		d.tag++;
		d.nstorage = 0;
		draw(&d);
		read_back(50, px, sizeof px);
		CHECK(px[0] == 0.0f && px[7] == 0.0f);
		OK(worker_buffer_read(w, 2, slab, 16, 81, &err));
		if (OK(event(WORKER_READ, &e))) {
			uint32_t got[4];
			memcpy(got, slab->data, 16);
			CHECK_INT(got[0], 13);
		}
	}
	worker_slab_put(w, slab);
	OK(worker_buffer_free(w, 1, &err));
	OK(worker_buffer_free(w, 2, &err));
}

static void test_compile(void)
{
	compile_result_release(&result);
	OK(worker_compile(w, 60, "pass 'bad'", vertex,
	    "#version 410 core\nvoid main() {\n  nonsense;\n}\n", &result, &err));
	CHECK(!result.ok);
	CHECK(strstr(result.log, "nonsense") != NULL);
	CHECK(result.compile_ns > 0);
	/* It has no main, which the linker notices. */
	compile_result_release(&result);
	OK(worker_compile(w, 60, "pass 'bad'", vertex, "#version 410 core\nfloat f();\n",
	    &result, &err));
	CHECK(!result.ok);
	/* Browsers' dialect; a large text in one piece. */
	if (worker_info(w)->has_es3) {
		size_t n = 300000;
		char *text = xmalloc(n + 200);
		strcpy(text, "#version 300 es\nprecision highp float; out vec4 c;\n//");
		size_t at = strlen(text);
		memset(text + at, 'x', n - at);
		strcpy(text + n, "\nvoid main() { c = vec4(1.0); }\n");
		static const char es[] =
		    "#version 300 es\n"
		    "void main() { gl_Position = vec4(vec2(gl_VertexID & 1,\n"
		    "	gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }\n";
		program_stage(60, es, text);
		free(text);
	}
}

static void test_slabs(void)
{
	struct slab *a = worker_slab(w, 100000, &err);
	if (!CHECK(a))
		return;
	void *data = a->data;
	uint32_t id = a->id;
	worker_slab_put(w, a);
	a = worker_slab(w, 99000, &err);
	CHECK(a && a->id == id && a->data == data && a->size == 99000);
	worker_slab_put(w, a);
	/* The bound: nothing more, and no error, until one comes back. */
	struct slab *big = worker_slab(w, 200u << 20, &err);
	CHECK(big != NULL);
	CHECK(worker_slab(w, 100u << 20, &err) == NULL);
	CHECK(err.message == NULL);
	worker_slab_put(w, big);
	big = worker_slab(w, 300u << 20, &err);
	CHECK(big != NULL);
	worker_slab_put(w, big);
}

/* Many reads under way at once, each with its own frame. */
static void test_reads(void)
{
	enum { N = 40 };
	struct slab *slab[N];
	texture(70, TEXEL_R32F, 16, 16);
	if (!program(70, "uniform float v; void main() { c = vec4(v); }"))
		return;
	for (int i = 0; i < N; i++) {
		struct draw_uniform u = {
			.name = "v",
			.type = GL_T_FLOAT,
			.count = 1,
			.f = { (float)i },
		};
		struct draw d = draw_to(70, 70, 16, 16);
		d.uniform = &u;
		d.nuniform = 1;
		slab[i] = worker_slab(w, 1024, &err);
		OK(worker_draw(w, &d, "pass 'test'", &err));
		OK(worker_texture_read(w, 70, slab[i], (uint64_t)i, &err));
	}
	for (int i = 0; i < N; i++) {
		struct worker_event e;
		if (!OK(event(WORKER_READ, &e)))
			return;
		CHECK_INT(e.tag, i);
		CHECK(e.slab == slab[i]);
		const float *px = e.slab->data;
		CHECK(px[0] == (float)i && px[255] == (float)i);
		worker_slab_put(w, e.slab);
	}
}

static void all_draws(int use_pbo)
{
	if (!OK(start(use_pbo, 60, NULL)))
		return;
	test_info();
	test_solid();
	test_coord();
	test_uniforms();
	test_feedback();
	test_bits();
	test_targets();
	test_discard();
	test_cube();
	test_volume();
	test_mips();
	test_samplers();
	test_storage();
	test_compile();
	test_slabs();
	test_reads();
	compile_result_release(&result);
	CHECK(!worker_is_dead(w));
	worker_close(w);
	w = NULL;
}

/* Death -------------------------------------------------------------------- */

/* llvmpipe ends a loop after 65,535 rounds; many functions with many pixels. */
static int slow_program(uint32_t id)
{
	return program(id,
	    "uniform float v;\n"
	    "float f(float x) { for (int i = 0; i < 60000; i++) x = sin(x) + v; return x; }\n"
	    "float g(float x) { return f(f(f(f(f(f(f(f(x)))))))); }\n"
	    "void main() { c = vec4(g(g(g(g(gl_FragCoord.x))))); }");
}

/* The error of the next event that is one. */
static void expect_death(const char *message, enum status status)
{
	struct worker_event e = { .kind = WORKER_NONE };
	int rc;
	while (!(rc = worker_event(w, 1, &e, &err)) && e.kind != WORKER_NONE)
		if (e.slab)
			worker_slab_put(w, e.slab);
	CHECK_INT(rc, -1);
	CHECK(worker_is_dead(w));
	CHECK_INT(err.status, status);
	if (!CHECK(err.message && strstr(err.message, message)))
		fprintf(stderr, "\tgot:  %s\n\twant: %s\n",
		    err.message ? err.message : "(none)", message);
	err_release(&err);
	/* It stays dead, and says the same. */
	CHECK_INT(worker_texture_clear(w, 1, &err), -1);
	CHECK(err.message && strstr(err.message, message));
	err_release(&err);
}

static void test_timeout(void)
{
	if (!OK(start(0, 1.0, NULL)))
		return;
	texture(1, TEXEL_R32F, 512, 512);
	texture(2, TEXEL_R32F, 1, 1);
	if (program(1, "void main() { c = vec4(1.0); }") && slow_program(2)) {
		/* A quick one before it is not blamed; one behind it neither. */
		struct draw d = draw_to(1, 2, 1, 1);
		OK(worker_draw(w, &d, "pass 'quick' at frame 56", &err));
		d = draw_to(2, 1, 512, 512);
		OK(worker_draw(w, &d, "pass 'a' at frame 57", &err));
		d = draw_to(1, 2, 1, 1);
		OK(worker_draw(w, &d, "pass 'next' at frame 57", &err));
		struct worker_event e;
		if (OK(event(WORKER_DREW, &e)))
			CHECK_INT(e.tag, d.tag - 2);
		expect_death("pass 'a' at frame 57 took longer than 1 s", STATUS_FAILED);
	}
	compile_result_release(&result);
	worker_close(w);
	w = NULL;
}

/* The one child of this process. */
static pid_t child_pid(void)
{
	char *path = xasprintf("/proc/self/task/%ld/children", (long)getpid());
	FILE *f = fopen(path, "r");
	long pid = -1;
	free(path);
	if (f) {
		if (fscanf(f, "%ld", &pid) != 1)
			pid = -1;
		fclose(f);
	}
	return (pid_t)pid;
}

static void test_killed(void)
{
	if (!OK(start(0, 0, NULL)))
		return;
	pid_t pid = child_pid();
	texture(1, TEXEL_R32F, 512, 512);
	if (pid > 0 && slow_program(1)) {
		struct draw d = draw_to(1, 1, 512, 512);
		OK(worker_draw(w, &d, "pass 'a' at frame 57", &err));
		kill(pid, SIGKILL);
		expect_death(
		    "the renderer died (signal 9 (SIGKILL)) in pass 'a' at frame 57",
		    STATUS_FAILED);
	}
	compile_result_release(&result);
	worker_close(w);
	w = NULL;
}

/* The same driver has the same identity, whichever way leads to it. */
static void test_device(void)
{
	if (!OK(start(0, 60, NULL)))
		return;
	char *identity = xstrdup(worker_info(w)->identity_text);
	int is_software = worker_info(w)->is_software;
	worker_close(w);
	w = NULL;
	for (int i = 0; i < 2; i++) {
		if (start(0, 60, i ? "software" : NULL) < 0) {
			/* No software GL here: said so, in full. */
			CHECK(i && err.status == STATUS_MACHINE);
			CHECK(err.message && strstr(err.message, "no software OpenGL"));
			err_release(&err);
			continue;
		}
		CHECK(!i || worker_info(w)->is_software);
		if (!i || is_software)
			CHECK_STR(worker_info(w)->identity_text, identity);
		test_solid();
		compile_result_release(&result);
		worker_close(w);
		w = NULL;
	}
	free(identity);
}

/* What the terminal sends to all is the parent's to decide. */
static void test_interrupt(void)
{
	if (!OK(start(0, 60, NULL)))
		return;
	pid_t pid = child_pid();
	if (pid > 0)
		kill(pid, SIGINT);
	test_solid();
	CHECK(!worker_is_dead(w));
	compile_result_release(&result);
	worker_close(w);
	w = NULL;
}

static void test_mistakes(void)
{
	if (!OK(start(0, 60, NULL)))
		return;
	/* A texture that is not there. */
	struct draw d = draw_to(1, 99, 1, 1);
	if (program(1, "void main() { c = vec4(1.0); }")) {
		OK(worker_draw(w, &d, "pass 'a' at frame 3", &err));
		expect_death("no texture 99, while working on pass 'a' at frame 3",
		    STATUS_FAILED);
	}
	compile_result_release(&result);
	worker_close(w);
	w = NULL;
	if (!OK(start(0, 60, NULL)))
		return;
	struct texture_desc huge = desc_of(TEXEL_RGBA32F, 1 << 20, 1);
	CHECK_INT(worker_texture_new(w, 1, &huge, &err), -1);
	CHECK_INT(err.status, STATUS_MACHINE);
	err_release(&err);
	CHECK(!worker_is_dead(w));
	worker_close(w);
	CHECK_INT(start(0, 0, "nonsense"), -1);
	CHECK_INT(err.status, STATUS_INPUT);
	err_release(&err);
	CHECK_INT(start(0, 0, "63"), -1);
	CHECK_INT(err.status, STATUS_MACHINE);
	err_release(&err);
	w = NULL;
}

/* Garbage on the wire ends the worker with a message, never with a crash. */
static void test_garbage(void)
{
	unsigned seed = 1;
	for (int round = 0; round < 6; round++) {
		const char *const argv[] = { proc_self(), "--worker", NULL };
		struct stream s = { .fd = -1 };
		pid_t pid = -1;
		int fd;
		if (!OK(proc_spawn(argv, &pid, &fd, &err)) ||
		    !OK(stream_open(&s, fd, &err)))
			return;
		if (round) {
			stream_begin(&s, CMD_HELLO);
			stream_u32(&s, STREAM_VERSION);
			stream_str(&s, NULL);
			stream_u32(&s, 0);
			stream_end(&s);
		}
		switch (round) {
		case 1: /* a length that cannot be */
			buf_u32le(&s.out, CMD_DRAW);
			buf_u32le(&s.out, 0xffffffff);
			break;
		case 2: /* a message that ends early */
			stream_begin(&s, CMD_DRAW);
			stream_u64(&s, 1);
			stream_end(&s);
			break;
		case 3: /* counts that are too high */
			stream_begin(&s, CMD_DRAW);
			for (int i = 0; i < 40; i++)
				stream_u32(&s, 0x7fffffff);
			stream_end(&s);
			break;
		case 4: /* a slab without descriptor */
			stream_begin(&s, CMD_SLAB);
			stream_u32(&s, 1);
			stream_u64(&s, 4096);
			stream_end(&s);
			break;
		default: /* noise, before and after the greeting */
			for (int i = 0; i < 3000; i++) {
				seed = seed * 1103515245 + 12345;
				buf_addch(&s.out, (char)(seed >> 16));
			}
		}
		int fatal = 0;
		while (!s.is_eof) {
			struct message m;
			/* It may be gone before all was sent. */
			if (stream_send(&s, &err) < 0)
				err_release(&err);
			struct pollfd p = { .fd = s.fd, .events = POLLIN };
			(void)poll(&p, 1, -1);
			if (!OK(stream_recv(&s, &err)))
				break;
			while (stream_next(&s, &m, &err) == 1)
				fatal |= m.type == EV_FATAL;
		}
		CHECK(fatal);
		char *how = proc_wait(pid);
		CHECK_STR(how, "exit status 1");
		free(how);
		stream_close(&s);
		err_release(&err);
	}
}

/* When the parent is gone, a worker deep in a draw goes as well. */
static void test_orphan(void)
{
	if (!OK(start(0, 0, NULL)))
		return;
	pid_t pid = child_pid();
	texture(1, TEXEL_R32F, 512, 512);
	if (pid > 0 && slow_program(1)) {
		struct draw d = draw_to(1, 1, 512, 512);
		for (int i = 0; i < 20; i++)
			OK(worker_draw(w, &d, "pass 'a'", &err));
		OK(worker_flush(w, &err));
		/* As the end of this process would. */
		shutdown(worker_fd(w), SHUT_RDWR);
		close(dup(worker_fd(w)));
		long long end = proc_now_ns() + 20000000000ll;
		int status = -1;
		pid_t got;
		while (!(got = waitpid(pid, &status, WNOHANG)) && proc_now_ns() < end)
			(void)poll(NULL, 0, 10);
		CHECK_INT(got, pid);
		CHECK(WIFEXITED(status));
	}
	compile_result_release(&result);
	worker_close(w);
	w = NULL;
}

int main(int argc, char **argv)
{
	proc_init(argv[0]);
	if (argc > 1 && strcmp(argv[1], "--worker") == 0)
		return serve(3);
	if (start(0, 0, NULL) < 0) {
		fprintf(stderr, "skip: no EGL: %s\n", err.message);
		err_release(&err);
		return 77;
	}
	const struct gl_info *info = worker_info(w);
	if (argc > 1 && strcmp(argv[1], "--identity") == 0)
		printf("%s%s\n", info->identity_text, info->device);
	worker_close(w);
	w = NULL;
	all_draws(0);
	all_draws(1);
	test_device();
	test_interrupt();
	test_mistakes();
	test_garbage();
	test_timeout();
	test_killed();
	test_orphan();
	err_release(&err);
	return test_done();
}
