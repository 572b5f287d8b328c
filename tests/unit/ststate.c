#include "format/ststate.h"

#include "util/mem.h"

#include "test.h"

static void add_buffer(struct state *s, const char *name, int width, int height,
    int has_size, enum format format)
{
	s->buffer[s->nbuffer++] = (struct state_buffer){
		.name = xstrdup(name),
		.width = width,
		.height = height,
		.has_size = has_size,
		.format = format,
	};
}

static void make(struct state *s)
{
	*s = (struct state){
		.project = xstrdup("waves \"2\""),
		.width = 3,
		.height = 2,
		.fps = 29.97,
		.time = 1.0 / 3,
		.frame = 10,
		.buffer = xcalloc(3, sizeof *s->buffer),
		.storage = xcalloc(2, sizeof *s->storage),
	};
	add_buffer(s, "zoom", 3, 2, 0, FORMAT_RGBA32F);
	add_buffer(s, "Add", 5, 1, 1, FORMAT_RG32F);
	add_buffer(s, "mid", 1, 1, 1, FORMAT_RGBA16F);
	s->storage[s->nstorage++] = (struct state_storage){
		.name = xstrdup("p"),
		.bytes = 7,
	};
	s->storage[s->nstorage++] = (struct state_storage){
		.name = xstrdup("a"),
		.bytes = 12,
	};
}

/* A whole file: payload bytes count up. */
static void fill(struct state *s, struct buf *file)
{
	struct err err = ERR_INIT;
	CHECK(!state_begin(s, file, &err));
	size_t n = 0;
	for (size_t i = 0; i < s->nbuffer; i++)
		n += s->buffer[i].bytes;
	for (size_t i = 0; i < s->nstorage; i++)
		n += (size_t)s->storage[i].bytes;
	for (size_t i = 0; i < n; i++)
		buf_addch(file, (char)i);
}

static void test_round_trip(void)
{
	struct err err = ERR_INIT;
	struct state s, r;
	struct buf file = BUF_INIT;
	make(&s);
	fill(&s, &file);
	static const char header[] =
	    "{\"format\":4,\"project\":"
	    "\"waves \\\"2\\\"\",\"width\":3,\"height\":2,\"fps\":29.97,"
	    "\"time\":0.3333333333333333,\"frame\":10,"
	    "\"buffers\":[\"Add\",\"mid\",\"zoom\"],"
	    "\"buffer_dimensions\":{\"Add\":{\"width\":5,\"height\":1},"
	    "\"mid\":{\"width\":1,\"height\":1}},"
	    "\"buffer_formats\":{\"Add\":\"rg32f\",\"mid\":\"rgba16f\","
	    "\"zoom\":\"rgba32f\"},\"storage_buffers\":{\"a\":12,\"p\":7}}";
	CHECK_STR(s.header, header);
	CHECK(memcmp(file.data, "STSTATE1", 8) == 0);
	CHECK_INT(get_u32le(file.data + 8), strlen(header));
	CHECK(memcmp(file.data + 12, header, strlen(header)) == 0);

	CHECK(!state_read("x", file.data, file.len, &r, &err));
	CHECK_INT(r.version, 4);
	CHECK_STR(r.project, s.project);
	CHECK_STR(r.header, header);
	CHECK(r.fps == s.fps && r.time == s.time);
	CHECK_INT(r.frame, 10);
	CHECK_INT(r.nbuffer, 3);
	CHECK_INT(r.nstorage, 2);
	size_t at = 12 + strlen(header);
	for (size_t i = 0; i < r.nbuffer && i < s.nbuffer; i++) {
		CHECK_STR(r.buffer[i].name, s.buffer[i].name);
		CHECK_INT(r.buffer[i].width, s.buffer[i].width);
		CHECK_INT(r.buffer[i].height, s.buffer[i].height);
		CHECK_INT(r.buffer[i].has_size, s.buffer[i].has_size);
		CHECK_INT(r.buffer[i].format, s.buffer[i].format);
		CHECK_INT(r.buffer[i].bytes, s.buffer[i].width * s.buffer[i].height * 16);
		CHECK_INT(r.buffer[i].at, at);
		at += r.buffer[i].bytes;
	}
	CHECK_STR(r.storage[0].name, "a");
	CHECK_INT(r.storage[0].at, at);
	CHECK_INT(r.storage[1].at, at + 12);
	CHECK_INT(file.len, at + 19);
	state_release(&r);
	state_release(&s);
	state_release(&s);
	buf_release(&file);
}

static void test_empty(void)
{
	struct err err = ERR_INIT;
	struct state s = { .project = xstrdup("p"), .width = 1, .height = 1, .fps = 60 },
		     r;
	struct buf file = BUF_INIT;
	fill(&s, &file);
	CHECK_STR(s.header,
	    "{\"format\":4,\"project\":\"p\",\"width\":1,"
	    "\"height\":1,\"fps\":60,\"time\":0,\"frame\":0,\"buffers\":[]}");
	CHECK(!state_read("x", file.data, file.len, &r, &err));
	CHECK_INT(r.nbuffer, 0);
	state_release(&r);
	state_release(&s);
	buf_release(&file);
}

static void test_too_many(void)
{
	struct err err = ERR_INIT;
	struct buf file = BUF_INIT;
	struct state s = { .project = xstrdup("p"),
		.width = 1,
		.height = 1,
		.fps = 60,
		.buffer = xcalloc(65, sizeof *s.buffer) };
	for (int i = 0; i < 65; i++) {
		char name[16];
		snprintf(name, sizeof name, "b%d", i);
		add_buffer(&s, name, 1, 1, 0, FORMAT_RGBA32F);
	}
	CHECK_INT(state_begin(&s, &file, &err), -1);
	CHECK(strstr(err.message, "64") != NULL);
	err_release(&err);
	state_release(&s);
	buf_release(&file);
}

/* A file with this header and npayload bytes behind it. */
static int read_header(const char *header, size_t npayload, char **message)
{
	struct err err = ERR_INIT;
	struct state s;
	struct buf file = BUF_INIT;
	buf_add(&file, "STSTATE1", 8);
	buf_u32le(&file, (uint32_t)strlen(header));
	buf_addstr(&file, header);
	for (size_t i = 0; i < npayload; i++)
		buf_addch(&file, 0);
	int rc = state_read("s.ststate", file.data, file.len, &s, &err);
	if (rc < 0)
		CHECK(err.message && err.status == STATUS_INPUT);
	*message = err_text(&err);
	err_release(&err);
	state_release(&s);
	buf_release(&file);
	return rc;
}

#define HEAD(v) \
	"{\"format\":" #v ",\"project\":\"p\",\"width\":2," \
	"\"height\":1,\"fps\":60,\"time\":0,\"frame\":0,"
#define AB "\"buffers\":[\"a\",\"b\"]"

static void test_versions(void)
{
	static const struct {
		const char *header;
		size_t npayload;
		const char *says; /* null: it is read */
	} row[] = {
		{ HEAD(1) AB "}", 64, NULL },
		{ HEAD(1) AB ",\"extra\":null}", 64, NULL },
		{ HEAD(1) AB "}", 63, "calls for" },
		{ HEAD(1) AB "}", 65, "calls for" },
		{ HEAD(1) AB ",\"buffer_dimensions\":{}}", 64, "format 2" },
		{ HEAD(2) AB ",\"buffer_dimensions\":"
			     "{\"b\":{\"width\":1,\"height\":3}}}",
		    32 + 48, NULL },
		{ HEAD(2) AB ",\"buffer_dimensions\":"
			     "{\"c\":{\"width\":1,\"height\":3}}}",
		    80, "not in" },
		{ HEAD(2) AB ",\"buffer_dimensions\":{\"b\":{\"width\":1}}}", 80,
		    "height" },
		{ HEAD(2) AB ",\"buffer_dimensions\":"
			     "{\"b\":{\"width\":0,\"height\":3}}}",
		    80, "width" },
		{ HEAD(2) AB ",\"buffer_dimensions\":{\"b\":3}}", 80, "object" },
		{ HEAD(2) AB ",\"buffer_formats\":{}}", 64, "format 3" },
		{ HEAD(3) AB "}", 64, "expected a format" },
		{ HEAD(3) AB ",\"buffer_formats\":{\"a\":\"r32f\"}}", 64,
		    "expected a format" },
		{ HEAD(3) AB ",\"buffer_formats\":{\"a\":\"r32f\","
			     "\"b\":\"rgba16f\"}}",
		    64, NULL },
		{ HEAD(3) AB ",\"buffer_formats\":{\"a\":\"rgba8\","
			     "\"b\":\"rgba16f\"}}",
		    64, "must be one of: rgba32f" },
		{ HEAD(3) AB ",\"buffer_formats\":{\"a\":1,\"b\":2}}", 64,
		    "must be one of: rgba32f" },
		{ HEAD(3) "\"buffers\":[],\"storage_buffers\":{\"s\":4}}", 4,
		    "format 4" },
		{ HEAD(4) "\"buffers\":[],\"storage_buffers\":{\"s\":4}}", 4, NULL },
		{ HEAD(4) "\"buffers\":[],\"storage_buffers\":{\"s\":0}}", 0, "'s'" },
		{ HEAD(4) "\"buffers\":[],\"storage_buffers\":"
			  "{\"s\":9223372036854775807,\"t\":9223372036854775807,"
			  "\"u\":9223372036854775807}}",
		    0, "fit" },
		{ HEAD(4) "\"buffers\":[],\"storage_buffers\":{\" \":1}}", 1, "name" },
		{ HEAD(5) AB "}", 64, "format" },
		{ HEAD(0) AB "}", 64, "format" },
		{ HEAD(1) "\"buffers\":[\"a\",\"a\"]}", 64, "twice" },
		{ HEAD(1) "\"buffers\":[\"\"]}", 32, "name" },
		{ HEAD(1) "\"buffers\":[1]}", 32, "name" },
		{ HEAD(1) "\"buffers\":{}}", 32, "array" },
		{ HEAD(1) AB "," AB "}", 64, "twice" },
		{ "[]", 0, "object" },
		{ "{}", 0, "format" },
		{ "{", 0, "" },
	};
	static const struct {
		const char *from, *to, *says;
	} bad[] = {
		{ "\"p\"", "\" \"", "blank" },
		{ "\"p\"", "null", "string" },
		{ "\"width\":2", "\"width\":16385", "16384" },
		{ "\"width\":2", "\"width\":2.0", "integer" },
		{ "\"fps\":60", "\"fps\":0", "fps" },
		{ "\"fps\":60", "\"fps\":1001", "fps" },
		{ "\"time\":0", "\"time\":-1", "time" },
		{ "\"frame\":0", "\"frame\":-1", "frame" },
		{ "\"frame\":0", "\"frame\":4294967296", "frame" },
	};
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		char *message;
		int rc = read_header(row[i].header, row[i].npayload, &message);
		if (!CHECK(
			row[i].says ? rc < 0 && strstr(message, row[i].says) : rc == 0))
			fprintf(stderr, "\t%s\n\t%s\n", row[i].header, message);
		free(message);
	}
	static const char good[] = HEAD(1) AB "}";
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char *message;
		const char *p = strstr(good, bad[i].from);
		char *text = xasprintf("%.*s%s%s", (int)(p - good), good, bad[i].to,
		    p + strlen(bad[i].from));
		CHECK_INT(read_header(text, 64, &message), -1);
		if (!CHECK(strstr(message, bad[i].says) != NULL))
			fprintf(stderr, "\t%s\n\t%s\n", text, message);
		free(message);
		free(text);
	}
}

/* Cut anywhere it is refused; with bits flipped it never crashes. */
static void test_hostile(void)
{
	struct err err = ERR_INIT;
	struct state s, r;
	struct buf file = BUF_INIT;
	make(&s);
	fill(&s, &file);
	int nread = 0;
	for (size_t n = 0; n < file.len; n++) {
		void *cut = xmemdup(file.data, n);
		nread += !state_read("x", cut, n, &r, &err);
		err_release(&err);
		free(cut);
	}
	CHECK_INT(nread, 0);
	uint32_t seed = 3;
	for (int i = 0; i < 20000; i++) {
		unsigned char *copy = xmemdup(file.data, file.len);
		for (int k = 0; k <= i % 3; k++) {
			seed = seed * 1664525 + 1013904223;
			copy[(seed >> 8) % (i % 2 ? file.len : 400)] ^=
			    (unsigned char)(1 << (seed >> 5 & 7));
		}
		if (!state_read("x", copy, file.len, &r, &err)) {
			for (size_t b = 0; b < r.nbuffer; b++)
				CHECK(r.buffer[b].at + r.buffer[b].bytes <= file.len);
			state_release(&r);
		}
		err_release(&err);
		free(copy);
	}
	state_release(&s);
	buf_release(&file);
}

int main(void)
{
	test_round_trip();
	test_empty();
	test_too_many();
	test_versions();
	test_hostile();
	return test_done();
}
