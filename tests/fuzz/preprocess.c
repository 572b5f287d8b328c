/*
 * Any text through the preprocessor, the rewriting and the parts: what comes
 * out has its place in the text, and is read as the same tokens.
 */

#include <stdint.h>
#include <string.h>

#include "glsl/part.h"
#include "glsl/preprocess.h"
#include "glsl/shader_rewrite.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Neighbours must not have grown together. */
static void check_tokens(const struct glsl *code)
{
	struct glsl again;
	glsl_lex(&again, code->text, code->ntext);
	size_t n = 0;
	for (size_t i = 0; i < code->ntoken; i++) {
		const struct glsl_token *t = &code->token[i];
		if (t->is_directive || (t->len && code->text[t->at] == '#') ||
		    memchr(code->text + t->at, '\\', t->len)) {
			n = again.ntoken; /* that is read as something else */
			break;
		}
		if (n == again.ntoken || again.token[n].at != t->at ||
		    again.token[n].len != t->len || again.token[n].line != t->line)
			BUG("token %zu is another one in: %s", i, code->text);
		n++;
	}
	if (n != again.ntoken)
		BUG("%zu tokens too many in: %s", again.ntoken - n, code->text);
	glsl_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);
	char *file[] = { (char *)"generated text", (char *)"i" };
	struct source source = { text, strlen(text), file, 2 };
	for (int is_essl = 0; is_essl < 2; is_essl++) {
		struct preprocess_options options = { is_essl, is_essl ? 300 : 430,
			"#define OURS 1\n" };
		struct rewrite_options rewriting = { is_essl, 0 };
		struct preprocess p;
		struct rewrite r;
		struct part *part;
		size_t npart;
		struct err err = ERR_INIT;
		if (preprocess(&options, text, strlen(text), &p, &err) < 0) {
			if (p.fault > p.raw.ntoken || !err.message)
				BUG("a fault without a place");
			err_release(&err);
		}
		check_tokens(&p.code);
		for (size_t i = 0; i < p.code.ntoken; i++)
			if (p.origin[i] >= p.raw.ntoken || !p.is_active[p.origin[i]])
				BUG("a token from nowhere");
		shader_rewrite(&p, &rewriting, &r);
		for (size_t i = 0; i < r.nplace; i++)
			if (!r.place[i].text_line || !r.place[i].text_column ||
			    (i && r.place[i].line < r.place[i - 1].line))
				BUG("a place out of order");
		glsl_drop_unused(&p.code, "mainImage");
		parts_find(&p, &source, &part, &npart);
		parts_free(part, npart);
		rewrite_release(&r);
		preprocess_release(&p);
	}
	free(text);
	return 0;
}
